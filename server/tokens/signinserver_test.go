package tokens

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// signInServer is a strict OAuth 2.0 server: codes and refresh tokens work once, S256 is required, a refresh kills the
// old access token, and the client authenticates in the one way that is configured.
type signInServer struct {
	*httptest.Server

	mu     sync.Mutex
	codes  map[string]url.Values // the authorize request that each was given for
	tokens map[string]bool       // refresh and access tokens that work

	clientID     string
	clientSecret string
	secretInBody bool           // else in the header
	usedUp       string         // error code for a code or refresh token that is used up
	noRotation   bool           // a refresh keeps the refresh token and doesn't repeat it
	answer       map[string]any // further members of a token answer; nil removes one
	metadata     map[string]any // published when not nil
	userInfo     map[string]any
	fault        http.HandlerFunc
	beforeToken  func() // runs while a token request is under way
	clock        func() time.Time
	// idToken makes the ID token of an answer; asked is the authorize request, nil at a refresh. nil = the server has none.
	idToken func(asked url.Values, accessToken string) string
	keys    http.HandlerFunc // of ID tokens; nil = there are none

	tokenRequests int
	grants        []string // types of each
	requests      []string // method and path of each
	revoked       []string
	sent          []string // every token, code and secret that has passed
}

const (
	authorizePath = "/index.php/apps/oauth2/authorize"
	tokenPath     = "/index.php/apps/oauth2/api/v1/token"
)

func newSignInServer(t *testing.T) *signInServer {
	t.Helper()
	server := &signInServer{
		codes: map[string]url.Values{}, tokens: map[string]bool{},
		clientID: "mattermost", clientSecret: "canary-client-secret", secretInBody: true, usedUp: "invalid_request",
		answer: map[string]any{"expires_in": 3600, "user_id": "alice"}, clock: time.Now,
		userInfo: map[string]any{"sub": "0815", "preferred_username": "alan"},
	}
	server.Server = httptest.NewServer(http.HandlerFunc(server.serve))
	t.Cleanup(server.Close)
	return server
}

func (s *signInServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	w.Header().Set("Date", s.clock().UTC().Format(http.TimeFormat))
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	isToken := r.URL.Path == tokenPath && r.Method == http.MethodPost
	if isToken {
		s.tokenRequests++
	}
	before := s.beforeToken
	s.mu.Unlock()
	if isToken && before != nil {
		before()
	}
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		fault(w, r)
		return
	}
	s.set(func(s *signInServer) { s.answerTo(w, r) })
}

// answerTo answers as the server does without a fault. The caller holds the lock.
func (s *signInServer) answerTo(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == tokenPath && r.Method == http.MethodPost:
		s.serveToken(w, r)
	case r.URL.Path == tokenPath:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.URL.Path == "/revoke":
		_ = r.ParseForm()
		s.revoked = append(s.revoked, r.PostForm.Get("token_type_hint"))
		delete(s.tokens, r.PostForm.Get("token"))
	case r.URL.Path == "/userinfo" && s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]:
		writeJSON(w, http.StatusOK, s.userInfo)
	case r.URL.Path == "/keys" && s.keys != nil:
		s.keys(w, r)
	case strings.HasPrefix(r.URL.Path, "/.well-known/") && s.metadata != nil && s.metadata["at"] == r.URL.Path:
		writeJSON(w, http.StatusOK, s.metadata)
	default:
		http.NotFound(w, r)
	}
}

func (s *signInServer) serveToken(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.grants = append(s.grants, r.PostForm.Get("grant_type"))
	id, secret, inHeader := r.BasicAuth()
	if s.secretInBody {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if inHeader == s.secretInBody || id != s.clientID || secret != s.clientSecret {
		refuse(w, "invalid_client")
		return
	}
	var kept string
	var asked url.Values
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		begun, ok := s.codes[r.PostForm.Get("code")]
		delete(s.codes, r.PostForm.Get("code"))
		challenge := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if !ok || begun.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(challenge[:]) ||
			begun.Get("redirect_uri") != r.PostForm.Get("redirect_uri") {
			refuse(w, s.usedUp)
			return
		}
		asked = begun
	case "refresh_token":
		token := r.PostForm.Get("refresh_token")
		if !s.tokens[token] {
			refuse(w, s.usedUp)
			return
		}
		kept = token
		clear(s.tokens)
	default:
		refuse(w, "unsupported_grant_type")
		return
	}
	s.issue(w, kept, asked)
}

func (s *signInServer) issue(w http.ResponseWriter, kept string, asked url.Values) {
	access, refresh := "canary-access-"+rand.Text(), "canary-refresh-"+rand.Text()
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": refresh}
	if s.noRotation && kept != "" {
		refresh = kept
		delete(answer, "refresh_token")
	}
	if s.idToken != nil {
		if answer["id_token"] = s.idToken(asked, access); answer["id_token"] == "" {
			delete(answer, "id_token")
		}
	}
	for name, value := range s.answer {
		if answer[name] = value; value == nil {
			delete(answer, name)
		}
	}
	s.tokens[access], s.tokens[refresh] = true, true
	s.sent = append(s.sent, access, refresh)
	writeJSON(w, http.StatusOK, answer)
}

func refuse(w http.ResponseWriter, code string) {
	writeJSON(w, http.StatusBadRequest, map[string]any{"error": code, "error_description": "canary-description"})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// allow is the user who allows what an authorize URL asks for. It returns the parameters of the callback.
func (s *signInServer) allow(t *testing.T, authorizeURL string) (state, code string) {
	t.Helper()
	parsed, err := url.Parse(authorizeURL)
	if err != nil {
		t.Fatal(err)
	}
	query := parsed.Query()
	if query.Get("response_type") != "code" || query.Get("client_id") != s.clientID || query.Get("code_challenge_method") != "S256" {
		t.Fatalf("not a code request with PKCE: %s", authorizeURL)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	code = "canary-code-" + rand.Text()
	s.codes[code] = query
	s.sent = append(s.sent, code)
	return query.Get("state"), code
}

func (s *signInServer) accepts(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token]
}

// set changes the server's behaviour.
func (s *signInServer) set(change func(*signInServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *signInServer) tokenCalls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokenRequests
}
