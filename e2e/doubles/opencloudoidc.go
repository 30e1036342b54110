package doubles

import (
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	openCloudLife = 5 * time.Minute
	openCloudKey  = "private-key"
)

//go:embed testdata/opencloud-discovery.json
var openCloudDiscovery string

// recordedOrigin is that of the recorded server.
const recordedOrigin = "https://127.0.0.1:9200"

func (o *OpenCloud) discovery(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		o.unknown(w, r)
		return
	}
	writeRecorded(w, []byte(strings.ReplaceAll(openCloudDiscovery, recordedOrigin, o.Origin())))
}

func (o *OpenCloud) keys(w http.ResponseWriter, _ *http.Request) {
	writeConnect(w, http.StatusOK, "application/jwk-set+json", jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: o.key.Public(), KeyID: openCloudKey, Use: "sig"},
	}})
}

// authorize begins a sign-in: the page follows, with what was asked for.
func (o *OpenCloud) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case query.Get("client_id") != o.config.ClientID, !slices.Contains(o.config.RedirectURIs, query.Get("redirect_uri")):
		o.surprise(r, "what is asked for is not what is registered: "+query.Encode())
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	case query.Get("response_type") != "code", !slices.Contains(strings.Fields(query.Get("scope")), "openid"):
		o.surprise(r, "no code, or no OpenID Connect, is asked for: "+query.Encode())
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	query.Set("flow", "oidc")
	redirect(w, http.StatusFound, o.Origin()+"/signin/v1/identifier?"+query.Encode())
}

func (o *OpenCloud) identifier(w http.ResponseWriter, r *http.Request) {
	o.signIn(w, r, func(user string, asked url.Values) {
		if !slices.Contains(o.config.RedirectURIs, asked.Get("redirect_uri")) {
			o.surprise(r, "the redirect URI is another than before")
			http.Error(w, "invalid_request", http.StatusBadRequest)
			return
		}
		code := token(32)
		scopes := strings.Fields(asked.Get("scope"))
		o.grants.newCode(code, begun{
			user: user, redirectURI: asked.Get("redirect_uri"), challenge: asked.Get("code_challenge"), nonce: asked.Get("nonce"), scopes: scopes,
		})
		back := "code=" + code + "&scope=" + url.PathEscape(strings.Join(scopes, " ")) + "&session_state=" + token(32) +
			"&state=" + url.QueryEscape(asked.Get("state"))
		redirect(w, http.StatusFound, asked.Get("redirect_uri")+"?"+back)
	})
}

// token is the token endpoint.
func (o *OpenCloud) token(w http.ResponseWriter, r *http.Request) {
	kind, ok := o.tokenRequest(w, r)
	if !ok {
		return
	}
	issued, from, problem := o.exchange(r, kind)
	if problem != nil {
		writeConnect(w, http.StatusBadRequest, connectJSON, problem)
		return
	}
	answer := map[string]any{
		"access_token": issued.access, "token_type": "Bearer", "expires_in": int(issued.life.Seconds()),
		"id_token": o.idToken(from, issued),
	}
	if issued.refresh != "" {
		answer["refresh_token"] = issued.refresh
	}
	writeConnect(w, http.StatusOK, connectJSON, answer)
}

// exchange gives tokens for a code or a refresh token. What the request holds is checked before the client is.
func (o *OpenCloud) exchange(r *http.Request, kind string) (issued tokens, from begun, problem *tokenProblem) {
	refresh := r.PostFormValue("refresh_token")
	switch kind {
	case "authorization_code":
	case "refresh_token":
		if _, good := o.grants.refreshable(refresh); !good {
			return tokens{}, begun{}, badRefreshToken(refresh)
		}
	default:
		o.surprise(r, "grant_type is "+kind)
		return tokens{}, begun{}, &tokenProblem{"unsupported_grant_type", "unsupported grant_type value"}
	}
	if problem := o.client(r); problem != nil {
		return tokens{}, begun{}, problem
	}
	if kind == "refresh_token" {
		return o.refreshed(refresh)
	}
	return o.redeemed(r)
}

// badRefreshToken words the failure of the library that reads a JWT. No grant is ended but by time, or by a new key of the server.
func badRefreshToken(refresh string) *tokenProblem {
	if strings.Count(refresh, ".") != 2 {
		return &tokenProblem{"invalid_request", "token contains an invalid number of segments"}
	}
	return &tokenProblem{"invalid_request", "Token is expired"}
}

// client checks the plugin's id and secret, which come by Basic or in the body.
func (o *OpenCloud) client(r *http.Request) *tokenProblem {
	id, secret, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	switch {
	case id != o.config.ClientID:
		return &tokenProblem{"access_denied", "unknown client_id: " + id}
	case !sameSecret(secret, o.config.ClientSecret):
		return &tokenProblem{"access_denied", "invalid client_secret: <nil>"}
	}
	return nil
}

// redeemed gives tokens for a code, which is spent by whatever is wrong with the request for it. A challenge must be met once
// it was sent.
func (o *OpenCloud) redeemed(r *http.Request) (tokens, begun, *tokenProblem) {
	code := r.PostFormValue("code")
	from, found := o.grants.code(code)
	switch {
	case !found, !o.grants.spend(code):
		return tokens{}, begun{}, invalidGrant("code not found")
	case r.PostFormValue("redirect_uri") != from.redirectURI:
		return tokens{}, begun{}, invalidGrant("redirect_uri mismatch")
	case from.challenge != "" && s256(r.PostFormValue("code_verifier")) != from.challenge:
		return tokens{}, begun{}, invalidGrant("invalid code challenge")
	}
	fresh := tokens{access: o.accessToken(from), life: openCloudLife}
	if slices.Contains(from.scopes, "offline_access") {
		fresh.refresh = o.refreshToken(from.user)
	}
	return o.grants.open(from.user, fresh), from, nil
}

// refreshed gives tokens for a refresh token, which stays good. A user who is disabled is as unknown as one of whom the
// directory can't be asked.
func (o *OpenCloud) refreshed(refresh string) (tokens, begun, *tokenProblem) {
	user, _ := o.grants.refreshable(refresh)
	if o.isDisabled(user) {
		return tokens{}, begun{}, invalidGrant("user not found")
	}
	from := begun{user: user, scopes: []string{"openid", "profile", "email", "offline_access"}}
	fresh := tokens{access: o.accessToken(from), refresh: o.refreshToken(user), life: openCloudLife}
	_, issued, found := o.grants.renew(refresh, fresh, false)
	if !found {
		return tokens{}, begun{}, badRefreshToken(refresh)
	}
	return issued, from, nil
}

// sign makes a token as the recorded server does: a JWT, by PS256.
func (o *OpenCloud) sign(claims map[string]any, life time.Duration) string {
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.PS256, Key: jose.JSONWebKey{Key: o.key, KeyID: openCloudKey}},
		(&jose.SignerOptions{}).WithType("JWT"),
	)
	if err != nil {
		panic(err) // the key is ours
	}
	now := o.clock.Now()
	claims["iss"], claims["aud"] = o.Issuer(), o.config.ClientID
	claims["iat"], claims["exp"] = now.Unix(), now.Add(life).Unix()
	signed, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		panic(err) // see above
	}
	return signed
}

func (o *OpenCloud) accessToken(from begun) string {
	return o.sign(map[string]any{
		"jti": rand.Text(), "sub": subject(from.user), "scp": strings.Join(from.scopes, " "), "lg.p": "identifier-ldap", "lg.t": "1",
		"lg.i": map[string]any{"dn": from.user, "id": "openCloudUUID=" + userID(from.user), "un": from.user},
	}, openCloudLife)
}

func (o *OpenCloud) refreshToken(user string) string {
	return o.sign(map[string]any{"jti": rand.Text(), "sub": subject(user), "lg.t": "2"}, 30*24*hour)
}

func (o *OpenCloud) idToken(from begun, issued tokens) string {
	hash := sha256.Sum256([]byte(issued.access))
	claims := map[string]any{"sub": subject(from.user), "at_hash": base64.RawURLEncoding.EncodeToString(hash[:16])}
	if from.nonce != "" { // that of a refresh tells of no session either
		claims["nonce"], claims["sid"] = from.nonce, rand.Text()
	}
	return o.sign(claims, issued.life)
}

func subject(user string) string { return uuid("subject "+user) + "@" + openCloudStorage }

func (o *OpenCloud) userInfo(w http.ResponseWriter, r *http.Request) {
	user, ok := o.come(w, r)
	if !ok {
		return
	}
	writeConnect(w, http.StatusOK, connectJSON, map[string]any{
		"email": o.mail(user), "email_verified": false, "family_name": user, "given_name": user, "name": o.users[user].DisplayName,
		"preferred_username": user, "sub": subject(user),
	})
}

// connectJSON is what LibreGraph Connect calls JSON.
const connectJSON = "application/json; encoding=utf-8"

// writeConnect writes an answer as LibreGraph Connect does.
func writeConnect(w http.ResponseWriter, status int, contentType string, body any) {
	encoded, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		panic(err) // nothing but texts and keys is written
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(encoded, '\n'))
}
