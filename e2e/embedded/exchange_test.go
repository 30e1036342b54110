package embedded_test

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/embedded"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/signin"
)

const (
	accessToken = "urn:ietf:params:oauth:token-type:access_token"
	jwtToken    = "urn:ietf:params:oauth:token-type:jwt"
)

// startHost starts a host of alice, and the issuer that it trusts.
func startHost(t *testing.T) (*embedded.Host, string, signin.Key) {
	t.Helper()
	host, err := embedded.Start(t.Context(), hosts.Config{
		Root: t.TempDir(), Users: []hosts.User{{Name: "alice", Password: "secret"}}, ClientID: "mattermost", ClientSecret: "client secret",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	key, err := signin.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/jwks.json" {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Private.Public(), KeyID: key.ID}}})
	}))
	t.Cleanup(issuer.Close)
	host.Trust(issuer.URL)
	host.Link("subject-1", "alice")
	return host, issuer.URL, key
}

func sign(t *testing.T, key signin.Key, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key.Private, KeyID: key.ID}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// exchange sends the token request and gives the status and the answer.
func exchange(t *testing.T, host *embedded.Host, form url.Values) (int, map[string]any) {
	t.Helper()
	form.Set("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, host.Issuer()+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth("mattermost", url.QueryEscape("client secret"))
	response, err := new(http.Client).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(content, &answer); err != nil {
		t.Fatalf("%v: %s", err, content)
	}
	return response.StatusCode, answer
}

// propfind gives the status with which the host answers who comes with that token.
func propfind(t *testing.T, host *embedded.Host, token any) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "PROPFIND", host.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token.(string))
	response, err := new(http.Client).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// TestExchange holds the exchange of a signed statement to RFC 8693 and to what was recorded of zitadel's op.
func TestExchange(t *testing.T) {
	host, issuer, key := startHost(t)
	now := time.Now()
	good := func() map[string]any {
		return map[string]any{
			"iss": issuer, "sub": "subject-1", "aud": host.Issuer(), "jti": rand.Text(),
			"iat": now.Add(-30 * time.Second).Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		}
	}
	form := func(token string) url.Values {
		return url.Values{"subject_token": {token}, "subject_token_type": {jwtToken}, "audience": {"files"}, "scope": {"openid"}}
	}
	token := sign(t, key, good())
	status, answer := exchange(t, host, form(token))
	fields := []string{"access_token", "expires_in", "issued_token_type", "scope", "token_type"}
	if got := slices.Sorted(maps.Keys(answer)); status != http.StatusOK || !slices.Equal(got, fields) || answer["issued_token_type"] != accessToken {
		t.Fatalf("the exchange got %d %v", status, answer)
	}
	if got := propfind(t, host, answer["access_token"]); got != http.StatusMultiStatus {
		t.Errorf("the host answers the token with %d", got)
	}
	status, answer = exchange(t, host, form(token))
	wantRefused(t, "a subject token for the second time", status, answer, "invalid_request")

	for what, change := range map[string]func(map[string]any){
		"a subject that nobody linked": func(c map[string]any) { c["sub"] = "subject-2" },
		"another issuer":               func(c map[string]any) { c["iss"] = issuer + "/other" },
		"another audience":             func(c map[string]any) { c["aud"] = "https://elsewhere.example" },
		"an expired one":               func(c map[string]any) { c["exp"] = now.Add(-time.Second).Unix() },
		"one good for long":            func(c map[string]any) { c["exp"] = now.Add(time.Hour).Unix() },
		"one without a jti":            func(c map[string]any) { delete(c, "jti") },
		"one without an exp":           func(c map[string]any) { delete(c, "exp") },
	} {
		claims := good()
		change(claims)
		status, answer = exchange(t, host, form(sign(t, key, claims)))
		wantRefused(t, what, status, answer, "invalid_request")
	}
	other, err := signin.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	status, answer = exchange(t, host, form(sign(t, signin.Key{ID: key.ID, Private: other.Private}, good())))
	wantRefused(t, "one signed with another key", status, answer, "invalid_request")

	for what, test := range map[string]struct{ name, value, code string }{
		"an unknown audience": {"audience", "payroll", "invalid_target"},
		"an unknown resource": {"resource", "https://payroll.example", "invalid_target"},
		"a wide scope":        {"scope", "openid offline_access", "invalid_scope"},
		"a refresh token":     {"requested_token_type", "urn:ietf:params:oauth:token-type:refresh_token", "invalid_request"},
	} {
		changed := form(sign(t, key, good()))
		changed.Set(test.name, test.value)
		status, answer = exchange(t, host, changed)
		wantRefused(t, what, status, answer, test.code)
	}
	elsewhere := form(sign(t, key, good()))
	elsewhere.Del("audience")
	_, answer = exchange(t, host, elsewhere)
	if got := propfind(t, host, answer["access_token"]); got != http.StatusUnauthorized {
		t.Errorf("the host answers a token for nothing in particular with %d", got)
	}
}

// TestExchangeOfAUserID holds the exchange of a user's id to what Zitadel does.
func TestExchangeOfAUserID(t *testing.T) {
	host, _, _ := startHost(t)
	host.Identify("321", "alice")
	actor, err := host.ActorToken(true)
	if err != nil {
		t.Fatal(err)
	}
	powerless, err := host.ActorToken(false)
	if err != nil {
		t.Fatal(err)
	}
	form := func(id, actor string) url.Values {
		asked := url.Values{
			"subject_token": {id}, "subject_token_type": {signin.UserIDTokenType}, "audience": {"files"}, "scope": {"openid"},
		}
		if actor != "" {
			asked.Set("actor_token", actor)
			asked.Set("actor_token_type", accessToken)
		}
		return asked
	}
	for range 2 { // an id may come again
		status, answer := exchange(t, host, form("321", actor))
		if status != http.StatusOK {
			t.Fatalf("the exchange got %d %v", status, answer)
		}
		if got := propfind(t, host, answer["access_token"]); got != http.StatusMultiStatus {
			t.Errorf("the host answers the token with %d", got)
		}
	}
	status, answer := exchange(t, host, form("322", actor))
	wantRefused(t, "an unknown user", status, answer, "invalid_request")
	status, answer = exchange(t, host, form("321", ""))
	wantRefused(t, "no actor", status, answer, "invalid_request")
	status, answer = exchange(t, host, form("321", powerless))
	wantRefused(t, "an actor without the right", status, answer, "access_denied")
	if counts := host.SignIn().Counts(); counts.Exchanges != 5 || counts.Replays != 0 {
		t.Errorf("the counts are %+v", counts)
	}
	if secrets := host.SignIn().Secrets(); !slices.Contains(secrets, actor) {
		t.Error("the actor token is not among the secrets")
	}
}

func wantRefused(t *testing.T, what string, status int, answer map[string]any, code string) {
	t.Helper()
	if status != http.StatusBadRequest || answer["error"] != code {
		t.Errorf("%s: %d %v, want %s", what, status, answer, code)
	}
}
