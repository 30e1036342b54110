package tokens

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const pluginIssuer = "https://chat.example.com/plugins/filehost-attach/api"

// trustingServer is a sign-in server that trusts the plugin as an issuer, strictly: it fetches the plugin's keys over
// HTTP for each token, grants no clock skew, takes each jti once, and knows its users by their subject only.
type trustingServer struct {
	*httptest.Server

	mu       sync.Mutex
	clock    func() time.Time
	keysAt   string            // where the plugin publishes its keys
	audience string            // what it is called
	accounts map[string]string // by subject
	actors   map[string]bool   // tokens of who may act for others
	targets  []string          // audiences and resources that may be asked for
	scopes   []string          // that the client may have
	life     int               // of an access token, seconds
	answer   map[string]any    // further members of an answer; nil removes one
	fault    http.HandlerFunc
	seen     map[string]bool // jti

	requests []url.Values
	refusals []string          // why, each in words that never leave the server
	tokens   map[string]string // access token to account
	revoked  []string          // token_type_hint and token
	sent     []string          // each assertion, token and secret that has passed
}

func newTrustingServer(w *world, node func() *Store) *trustingServer {
	s := &trustingServer{
		clock: w.clock.Now, accounts: map[string]string{ann: "anna"}, seen: map[string]bool{}, tokens: map[string]string{},
		actors: map[string]bool{"canary-actor": true}, targets: []string{"files", "https://files.example.com"}, scopes: []string{"openid", "files"}, life: 3600,
	}
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		published, err := node().JWKS(r.Context())
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(published)
	}))
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	s.keysAt, s.audience = keys.URL, s.URL+"/token"
	w.t.Cleanup(keys.Close)
	w.t.Cleanup(s.Close)
	return s
}

func (s *trustingServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Date", s.clock().UTC().Format(http.TimeFormat))
	_ = r.ParseForm()
	if fault := s.fault; fault != nil && r.URL.Path == "/token" && r.Method == http.MethodPost {
		s.requests = append(s.requests, r.PostForm)
		fault(w, r)
		return
	}
	switch {
	case r.URL.Path == "/token" && r.Method == http.MethodPost:
		s.requests = append(s.requests, r.PostForm)
		s.serveToken(w, r)
	case r.URL.Path == "/revoke":
		s.revoked = append(s.revoked, r.PostForm.Get("token_type_hint")+" "+r.PostForm.Get("token"))
		delete(s.tokens, r.PostForm.Get("token"))
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *trustingServer) refuse(w http.ResponseWriter, status int, code, why string) {
	s.refusals = append(s.refusals, why)
	writeJSON(w, status, map[string]any{"error": code, "error_description": "canary-description " + why})
}

func (s *trustingServer) serveToken(w http.ResponseWriter, r *http.Request) {
	if id, secret, ok := r.BasicAuth(); !ok || id != "mattermost" || secret != "canary-client-secret" || r.PostForm.Has("client_secret") {
		s.refuse(w, http.StatusUnauthorized, "invalid_client", "who are you")
		return
	}
	for _, scope := range strings.Fields(r.PostForm.Get("scope")) {
		if !slices.Contains(s.scopes, scope) {
			s.refuse(w, http.StatusBadRequest, "invalid_scope", scope)
			return
		}
	}
	switch r.PostForm.Get("grant_type") {
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		account, why := s.verify(r.PostForm.Get("assertion"))
		if why != "" {
			s.refuse(w, http.StatusBadRequest, "invalid_grant", why)
			return
		}
		s.give(w, account, map[string]any{})
	case "urn:ietf:params:oauth:grant-type:token-exchange":
		s.exchange(w, r.PostForm)
	default:
		s.refuse(w, http.StatusBadRequest, "unsupported_grant_type", r.PostForm.Get("grant_type"))
	}
}

// exchange serves a token exchange (RFC 8693 2.1).
func (s *trustingServer) exchange(w http.ResponseWriter, form url.Values) {
	for _, target := range append(slices.Clone(form["audience"]), form["resource"]...) {
		if !slices.Contains(s.targets, target) {
			s.refuse(w, http.StatusBadRequest, "invalid_target", target)
			return
		}
	}
	if actor := form.Get("actor_token"); actor != "" && (!s.actors[actor] || form.Get("actor_token_type") != typeAccessToken) {
		s.refuse(w, http.StatusBadRequest, "invalid_request", "actor_token invalid")
		return
	}
	var account, why string
	switch form.Get("subject_token_type") {
	case typeJWT, typeIDToken:
		account, why = s.verify(form.Get("subject_token"))
	case typeZitadelUser:
		if account = s.accounts[form.Get("subject_token")]; account == "" || form.Get("actor_token") == "" {
			why = "no such user, or nobody who may act for him"
		}
	default:
		why = "subject_token_type"
	}
	if why != "" || form.Get("requested_token_type") != typeAccessToken {
		s.refuse(w, http.StatusBadRequest, "invalid_request", "subject_token invalid: "+why)
		return
	}
	s.give(w, account, map[string]any{"issued_token_type": typeAccessToken})
}

func (s *trustingServer) give(w http.ResponseWriter, account string, answer map[string]any) {
	access := "canary-access-" + rand.Text()
	s.tokens[access] = account
	s.sent = append(s.sent, access)
	answer["access_token"], answer["token_type"], answer["expires_in"] = access, "Bearer", s.life
	maps.Copy(answer, s.answer)
	maps.DeleteFunc(answer, func(_ string, value any) bool { return value == nil })
	writeJSON(w, http.StatusOK, answer)
}

// verify tells whose account an assertion names, or why it is refused (RFC 7523 3).
func (s *trustingServer) verify(text string) (account, why string) {
	s.sent = append(s.sent, text)
	parsed, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || len(parsed.Headers) != 1 {
		return "", "no JWT"
	}
	keys := s.fetchKeys().Key(parsed.Headers[0].KeyID)
	if len(keys) != 1 || keys[0].Use != "sig" || keys[0].Algorithm != "RS256" || !keys[0].IsPublic() {
		return "", "no key"
	}
	var claims assertionClaims
	if err := parsed.Claims(keys[0], &claims); err != nil {
		return "", "signature"
	}
	now := s.clock()
	switch {
	case parsed.Headers[0].ExtraHeaders["typ"] != "JWT":
		return "", "typ"
	case claims.Issuer != pluginIssuer:
		return "", "iss"
	case len(claims.Audience) != 1 || claims.Audience[0] != s.audience:
		return "", "aud"
	case claims.Expiry == nil || !now.Before(claims.Expiry.Time()):
		return "", "exp"
	case claims.IssuedAt == nil || claims.IssuedAt.Time().After(now):
		return "", "iat"
	case claims.NotBefore == nil || claims.NotBefore.Time().After(now):
		return "", "nbf"
	case claims.Expiry.Time().Sub(claims.IssuedAt.Time()) > 5*time.Minute:
		return "", "life"
	case len(claims.ID) < 20 || s.seen[claims.ID]: // 20 of 32 characters: 100 bits
		return "", "jti"
	case s.accounts[claims.Subject] == "":
		return "", "sub"
	}
	s.seen[claims.ID] = true
	return s.accounts[claims.Subject], ""
}

func (s *trustingServer) fetchKeys() *jose.JSONWebKeySet {
	var set jose.JSONWebKeySet
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.keysAt, nil)
	if err != nil {
		return &set
	}
	if response, err := s.Client().Do(request); err == nil {
		_ = json.NewDecoder(response.Body).Decode(&set)
		_ = response.Body.Close()
	}
	return &set
}

// set changes the server's behaviour.
func (s *trustingServer) set(change func(*trustingServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *trustingServer) forms() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// holder is whose account an access token is for; "" = it is good for none.
func (s *trustingServer) holder(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token]
}

// vouching is a node that vouches for its users to a trusting server.
func (w *world) vouching(method filehost.Method, edits ...func(*Config)) (*Store, *trustingServer) {
	w.t.Helper()
	var node *Store
	server := newTrustingServer(w, func() *Store { return node })
	w.account = func(c filehost.Credential) (string, error) {
		if account := server.holder(c.Secret.Reveal()); account != "" {
			return account, nil
		}
		return "", filehost.E(filehost.CredentialRejected, "no", nil)
	}
	node = w.node(append([]func(*Config){impatient, func(c *Config) {
		c.Methods = []filehost.Method{method, filehost.MethodPassword}
		c.OAuth.TokenURL, c.OAuth.RevocationURL = server.URL+"/token", server.URL+"/revoke"
		c.Issuer, c.Subject = pluginIssuer, Subject{Claim: SubjectUserID}
		c.Exchange.Subject = SubjectTokenJWT
		c.Identify = func(_ context.Context, userID string) (filehost.Identity, error) { return identity(userID), nil }
	}}, edits...)...)
	quickKeys(node)
	return node, server
}

// identity is what Mattermost says of the users of the tests.
func identity(userID string) filehost.Identity {
	return filehost.Identity{UserID: userID, Username: "name-of-" + userID, Email: userID + "@example.com", EmailVerified: true,
		AuthService: "saml", AuthData: "data-of-" + userID, Active: true}
}

// somePairs are RSA keys that many tests use: to make one takes long.
var somePairs = sync.OnceValue(func() []*rsa.PrivateKey {
	pairs := make([]*rsa.PrivateKey, 5)
	for i := range pairs {
		pairs[i], _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	return pairs
})

var pairsUsed atomic.Int32

// quickKeys makes a node take its keys from somePairs, under names that are new each time.
func quickKeys(node *Store) {
	if node.keyring == nil {
		return
	}
	node.keyring.generate = func() (signingKey, error) {
		pairs := somePairs()
		return signingKey{jose.JSONWebKey{Key: pairs[int(pairsUsed.Add(1))%len(pairs)], KeyID: rand.Text(), Algorithm: "RS256", Use: "sig"}}, nil
	}
}

// keyIDs are those of the keys that a node publishes, sorted.
func keyIDs(t *testing.T, node *Store) []string {
	t.Helper()
	published, err := node.JWKS(t.Context())
	require.NoError(t, err)
	var set jose.JSONWebKeySet
	require.NoError(t, json.Unmarshal(published, &set))
	var ids []string
	for _, key := range set.Keys {
		ids = append(ids, key.KeyID)
	}
	slices.Sort(ids)
	return ids
}
