package stack_test

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/signin"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// issuer is an issuer of signed statements about users, such as the plugin is.
type issuer struct {
	url string
	key signin.Key
}

// newIssuer serves the public key of a new issuer, with the discovery document that Dex reads.
func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := signin.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": server.URL, "jwks_uri": server.URL + "/jwks.json", "authorization_endpoint": server.URL + "/none",
			"token_endpoint": server.URL + "/none", "response_types_supported": []string{"code"},
			"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /jwks.json", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
			{Key: key.Private.Public(), KeyID: key.ID, Algorithm: "RS256", Use: "sig"},
		}})
	})
	return issuer{server.URL, key}
}

// claims are a good statement about the subject, for the audience.
func (i issuer) claims(subject, audience string) map[string]any {
	now := time.Now()
	return map[string]any{
		"iss": i.url, "sub": subject, "aud": audience, "jti": rand.Text(), "iat": now.Add(-30 * time.Second).Unix(),
		"exp": now.Add(5 * time.Minute).Unix(), "name": subject, "preferred_username": subject,
	}
}

func (i issuer) sign(t *testing.T, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: i.key.Private, KeyID: i.key.ID}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// with gives claims with one changed; nil removes it.
func with(claims map[string]any, name string, value any) map[string]any {
	changed := maps.Clone(claims)
	if changed[name] = value; value == nil {
		delete(changed, name)
	}
	return changed
}

const redirectURI = "http://127.0.0.1:9/callback"

func startSignIn(t *testing.T, name, trusted string) *stack.SignInServer {
	t.Helper()
	server, err := stack.StartSignInServer(t.Context(), name, stack.SignInConfig{
		Users: []string{"alice", "bob"}, RedirectURI: redirectURI, Trusted: trusted,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// metadata reads the server's endpoints.
func metadata(t *testing.T, server *stack.SignInServer) (endpoint oauth2.Endpoint, all map[string]any) {
	t.Helper()
	response, err := http.Get(server.Issuer + "/.well-known/openid-configuration") //nolint:noctx,forbidigo // a test's own
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	authorize, _ := all["authorization_endpoint"].(string)
	token, _ := all["token_endpoint"].(string)
	return oauth2.Endpoint{AuthURL: authorize, TokenURL: token, AuthStyle: oauth2.AuthStyleInHeader}, all
}

// ask sends a token request as the plugin's client, and gives the status and the answer.
func ask(t *testing.T, server *stack.SignInServer, form url.Values) (int, map[string]any) {
	t.Helper()
	endpoint, _ := metadata(t, server)
	return post(t, server, endpoint.TokenURL, form)
}

func post(t *testing.T, server *stack.SignInServer, address string, form url.Values) (int, map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(server.ClientID, server.ClientSecret)
	response, err := new(http.Client).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer := map[string]any{}
	if len(content) > 0 {
		if err := json.Unmarshal(content, &answer); err != nil {
			t.Fatalf("%s: %s", err, content)
		}
	}
	return response.StatusCode, answer
}

// wantError wants an answer to be that status and code of RFC 6749 5.2.
func wantError(t *testing.T, what string, status int, answer map[string]any, wantStatus int, wantCode string) {
	t.Helper()
	if status != wantStatus || answer["error"] != wantCode {
		t.Errorf("%s: %d %v, want %d %s", what, status, answer, wantStatus, wantCode)
	}
}

// wantFields wants an answer to be 200 with exactly these fields.
func wantFields(t *testing.T, what string, status int, answer map[string]any, want ...string) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(answer)); status != http.StatusOK || !slices.Equal(got, want) {
		t.Errorf("%s: %d %v, want %v", what, status, answer, want)
	}
}

// sendBack opens an authorize URL, signs alice in if that is asked for, and gives the parameters of the way back.
func sendBack(t *testing.T, authorizeURL string) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(request *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(request.URL.String(), redirectURI) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, authorizeURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		if response, err = stack.SubmitSignIn(t.Context(), browser, response.Request.URL.String(), "alice"); err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
	}
	location, err := url.Parse(response.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return location.Query()
}

// TestOIDCProvider holds npm's oidc-provider to what was recorded of one.
func TestOIDCProvider(t *testing.T) {
	server := startSignIn(t, "oidc-provider", "")
	endpoint, metadata := metadata(t, server)
	if metadata["authorization_response_iss_parameter_supported"] != true {
		t.Errorf("the metadata are %v", metadata)
	}
	client := oauth2.Config{
		ClientID: server.ClientID, ClientSecret: server.ClientSecret, Endpoint: endpoint, RedirectURL: redirectURI,
		Scopes: []string{"openid", "offline_access"},
	}
	back := sendBack(t, client.AuthCodeURL("s1"))
	if back.Get("error") != "invalid_request" || back.Get("iss") != server.Issuer || back.Get("state") != "s1" {
		t.Errorf("without PKCE the browser comes back with %v", back)
	}
	verifier := oauth2.GenerateVerifier()
	consent := oauth2.SetAuthURLParam("prompt", "consent")
	signIn := func() url.Values {
		back := sendBack(t, client.AuthCodeURL("s2", oauth2.S256ChallengeOption(verifier), consent))
		if back.Get("code") == "" || back.Get("iss") != server.Issuer || back.Get("state") != "s2" {
			t.Fatalf("the browser comes back with %v", back)
		}
		return url.Values{"grant_type": {"authorization_code"}, "code": back["code"], "redirect_uri": {redirectURI}}
	}
	form := signIn()
	form.Set("code_verifier", oauth2.GenerateVerifier())
	status, answer := ask(t, server, form)
	wantError(t, "another verifier", status, answer, 400, "invalid_grant")

	form = signIn()
	form.Set("code_verifier", verifier)
	server.SetTokenLife(time.Minute)
	status, answer = ask(t, server, form)
	fields := []string{"access_token", "expires_in", "id_token", "refresh_token", "scope", "token_type"}
	wantFields(t, "a code", status, answer, fields...)
	if answer["expires_in"] != 60.0 || answer["scope"] != "openid offline_access" {
		t.Errorf("a code gives %v", answer)
	}
	refresh := func(token any) (int, map[string]any) {
		return ask(t, server, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token.(string)}})
	}
	status, renewed := refresh(answer["refresh_token"])
	wantFields(t, "a refresh", status, renewed, fields...)
	if renewed["refresh_token"] == answer["refresh_token"] {
		t.Error("a refresh gives the refresh token that was sent")
	}
	if user, ok := server.User(t.Context(), answer["access_token"].(string)); !ok || user != "alice" {
		t.Errorf("after a refresh, the access token before is %q's", user)
	}
	status, again := refresh(answer["refresh_token"])
	wantError(t, "a refresh token for the second time", status, again, 400, "invalid_grant")
	status, after := refresh(renewed["refresh_token"])
	wantError(t, "the newest refresh token of the same family", status, after, 400, "invalid_grant")
	if user, ok := server.User(t.Context(), renewed["access_token"].(string)); ok {
		t.Errorf("after a replay, the newest access token is still %q's", user)
	}
	for _, grant := range []string{"urn:ietf:params:oauth:grant-type:token-exchange", "urn:ietf:params:oauth:grant-type:jwt-bearer"} {
		status, answer = ask(t, server, url.Values{"grant_type": {grant}})
		wantError(t, grant, status, answer, 400, "unsupported_grant_type")
	}
	if counts := server.Counts(); counts.Codes != 2 || counts.Refreshes != 3 || counts.Replays != 1 || counts.TokenRequests != 7 {
		t.Errorf("the counts are %+v", counts)
	}
}

// TestOIDCProviderKeepsTheRefreshTokenBack shows the trap that OpenID Connect Core 11 sets: no consent, no refresh token.
func TestOIDCProviderKeepsTheRefreshTokenBack(t *testing.T) {
	server := startSignIn(t, "oidc-provider", "")
	endpoint, _ := metadata(t, server)
	client := oauth2.Config{
		ClientID: server.ClientID, ClientSecret: server.ClientSecret, Endpoint: endpoint, RedirectURL: redirectURI,
		Scopes: []string{"openid", "offline_access"},
	}
	verifier := oauth2.GenerateVerifier()
	back := sendBack(t, client.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier)))
	token, err := client.Exchange(t.Context(), back.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if token.RefreshToken != "" || token.Extra("scope") != "openid" {
		t.Errorf("without prompt=consent there is the refresh token %q and the scope %v", token.RefreshToken, token.Extra("scope"))
	}
}

// TestOIDCProviderRevokes shows that whichever token is revoked, the whole grant ends.
func TestOIDCProviderRevokes(t *testing.T) {
	server := startSignIn(t, "oidc-provider", "")
	endpoint, all := metadata(t, server)
	client := oauth2.Config{
		ClientID: server.ClientID, ClientSecret: server.ClientSecret, Endpoint: endpoint, RedirectURL: redirectURI,
		Scopes: []string{"openid", "offline_access"},
	}
	revocation, _ := all["revocation_endpoint"].(string)
	verifier := oauth2.GenerateVerifier()
	for _, revoked := range []string{"access_token", "refresh_token"} {
		back := sendBack(t, client.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("prompt", "consent")))
		token, err := client.Exchange(t.Context(), back.Get("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			t.Fatal(err)
		}
		secret, _ := token.Extra(revoked).(string)
		if status, answer := post(t, server, revocation, url.Values{"token": {secret}}); status != http.StatusOK {
			t.Errorf("revoking the %s got %d %v", revoked, status, answer)
		}
		if _, ok := server.User(t.Context(), token.AccessToken); ok {
			t.Errorf("after the %s was revoked, the access token is good", revoked)
		}
		status, answer := ask(t, server, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token.RefreshToken}})
		wantError(t, "a refresh after the "+revoked+" was revoked", status, answer, 400, "invalid_grant")
	}
	if counts := server.Counts(); counts.Revocations != 2 {
		t.Errorf("the counts are %+v", counts)
	}
}

// TestDex holds Dex, which is the real one, to what was recorded, and to what the plugin needs of it.
func TestDex(t *testing.T) {
	trusted := newIssuer(t)
	server := startSignIn(t, "dex", trusted.url)
	const exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	const idToken = "urn:ietf:params:oauth:token-type:id_token"
	form := func(token, kind, connector string) url.Values {
		return url.Values{
			"grant_type": {exchange}, "subject_token": {token}, "subject_token_type": {kind}, "connector_id": {connector},
			"scope": {"openid profile"}, "requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
		}
	}
	good := trusted.claims("alice", server.Issuer)
	status, answer := ask(t, server, form(trusted.sign(t, good), idToken, "mattermost"))
	wantFields(t, "an ID token", status, answer, "access_token", "expires_in", "issued_token_type", "token_type")
	if answer["issued_token_type"] != "urn:ietf:params:oauth:token-type:access_token" || answer["token_type"] != "bearer" {
		t.Errorf("an ID token gives %v", answer)
	}
	token, _ := answer["access_token"].(string)
	if user, ok := server.User(t.Context(), token); !ok || user != "alice" {
		t.Errorf("the token is %q's", user)
	}
	for what, claims := range map[string]map[string]any{
		"an expired ID token":      with(good, "exp", time.Now().Add(-time.Hour).Unix()),
		"another issuer":           with(good, "iss", trusted.url+"/other"),
		"an ID token with no name": with(good, "name", nil),
	} {
		status, answer = ask(t, server, form(trusted.sign(t, claims), idToken, "mattermost"))
		wantError(t, what, status, answer, 401, "access_denied")
	}
	status, answer = ask(t, server, form(newIssuer(t).sign(t, good), idToken, "mattermost"))
	wantError(t, "an ID token signed by another", status, answer, 401, "access_denied")
	status, answer = ask(t, server, form(trusted.sign(t, good), idToken, ""))
	wantError(t, "no connector_id", status, answer, 400, "invalid_request")
	status, answer = ask(t, server, form(trusted.sign(t, good), "urn:ietf:params:oauth:token-type:jwt", "mattermost"))
	wantError(t, "a subject token of type jwt", status, answer, 400, "request_not_supported")
	status, answer = ask(t, server, url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}})
	wantError(t, "an assertion", status, answer, 400, "unsupported_grant_type")
	if counts := server.Counts(); counts.Exchanges != 7 || counts.Assertions != 1 {
		t.Errorf("the counts are %+v", counts)
	}
}

// TestFosite holds the server over Hydra's library to what was recorded of Hydra.
func TestFosite(t *testing.T) {
	trusted := newIssuer(t)
	server := startSignIn(t, "fosite", trusted.url)
	if err := server.Link("subject-1", "alice"); err != nil {
		t.Fatal(err)
	}
	form := func(assertion string) url.Values {
		return url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}, "scope": {"files"}}
	}
	for _, audience := range []string{server.Issuer, server.Issuer + "/oauth2/token"} {
		assertion := trusted.sign(t, trusted.claims("subject-1", audience))
		status, answer := ask(t, server, form(assertion))
		wantFields(t, "an assertion", status, answer, "access_token", "expires_in", "scope", "token_type")
		token, _ := answer["access_token"].(string)
		if user, ok := server.User(t.Context(), token); !ok || user != "alice" {
			t.Errorf("the token is %q's", user)
		}
		status, answer = ask(t, server, form(assertion))
		wantError(t, "an assertion for the second time", status, answer, 400, "jti_known")
	}
	good := trusted.claims("subject-1", server.Issuer)
	for what, claims := range map[string]map[string]any{
		"a subject that nobody linked": with(good, "sub", "subject-2"),
		"another audience":             with(good, "aud", "https://elsewhere.example"),
		"another issuer":               with(good, "iss", trusted.url+"/other"),
		"an assertion good for long":   with(good, "exp", time.Now().Add(time.Hour).Unix()),
		"an expired assertion":         with(good, "exp", time.Now().Add(-time.Second).Unix()),
		"an assertion from the future": with(good, "nbf", time.Now().Add(time.Minute).Unix()),
		"an assertion with no jti":     with(good, "jti", nil),
		"an assertion with no exp":     with(good, "exp", nil),
		"an assertion with no iat":     with(good, "iat", nil),
	} {
		if claims["jti"] != nil {
			claims = with(claims, "jti", rand.Text())
		}
		status, answer := ask(t, server, form(trusted.sign(t, claims)))
		wantError(t, what, status, answer, 400, "invalid_grant")
	}
	status, answer := ask(t, server, form(newIssuer(t).sign(t, good)))
	wantError(t, "an assertion signed by another", status, answer, 400, "invalid_grant")
	wider := form(trusted.sign(t, with(good, "jti", rand.Text())))
	wider.Set("scope", "files everything")
	status, answer = ask(t, server, wider)
	wantError(t, "a wider scope", status, answer, 400, "invalid_scope")
	status, answer = ask(t, server, url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}})
	wantError(t, "a token exchange", status, answer, 400, "invalid_request")
	if counts := server.Counts(); counts.Replays != 2 {
		t.Errorf("the counts are %+v", counts)
	}
}
