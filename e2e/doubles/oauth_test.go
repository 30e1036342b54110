package doubles

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

// signInAt signs a user in at the page to which authorize leads, and gives what comes back.
func signInAt(t *testing.T, authorize, user string) url.Values {
	t.Helper()
	response, page := send(t, newRequest(t, http.MethodGet, authorize, ""))
	form := authorize
	if response.StatusCode/100 == 3 {
		form = response.Header.Get("Location")
		response, page = send(t, newRequest(t, http.MethodGet, form, ""))
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(page, `type="password"`) {
		t.Fatalf("no sign-in page: %s %s", response.Status, page)
	}
	at, err := url.Parse(form)
	must(t, err)
	fields := at.Query()
	fields.Set("user", user)
	fields.Set("password", user+"-password")
	request := newRequest(t, http.MethodPost, form, fields.Encode())
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, page = send(t, request)
	back, err := url.Parse(response.Header.Get("Location"))
	must(t, err)
	if !strings.HasPrefix(back.String(), callback+"?") {
		t.Fatalf("not sent back: %s %q %s", response.Status, back, page)
	}
	return back.Query()
}

// tokenAnswer is what a token endpoint says.
type tokenAnswer struct {
	status       int
	contentType  string
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	IDToken      string `json:"id_token"`
	RefreshToken string `json:"refresh_token"`
	ExpiresIn    int    `json:"expires_in"`
	UserID       string `json:"user_id"`
	MessageURL   string `json:"message_url"`
	Error        string `json:"error"`
	Description  string `json:"error_description"`
}

// askTokens posts a form; a secret that isn't empty goes by Basic.
func askTokens(t *testing.T, endpoint, secret string, form url.Values) tokenAnswer {
	t.Helper()
	request := newRequest(t, http.MethodPost, endpoint, form.Encode())
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if secret != "" {
		request.SetBasicAuth(clientID, secret)
	}
	response, body := send(t, request)
	answer := tokenAnswer{status: response.StatusCode, contentType: response.Header.Get("Content-Type")}
	if strings.HasPrefix(answer.contentType, "application/json") {
		must(t, json.Unmarshal([]byte(body), &answer))
	}
	return answer
}

func wantRefused(t *testing.T, what string, got tokenAnswer, code, description string) {
	t.Helper()
	if got.status != http.StatusBadRequest || got.Error != code || got.Description != description {
		t.Errorf("%s: %d %s %q, want 400 %s %q", what, got.status, got.Error, got.Description, code, description)
	}
}

func wantTokens(t *testing.T, what string, got tokenAnswer, life int) tokenAnswer {
	t.Helper()
	if got.status != http.StatusOK || got.AccessToken == "" || got.RefreshToken == "" || got.TokenType != "Bearer" || got.ExpiresIn != life {
		t.Errorf("%s: %+v", what, got)
	}
	return got
}

// davStatus is the status of a request for alice's top folder with a bearer token.
func davStatus(t *testing.T, host hosts.Host, token string) int {
	t.Helper()
	request := newRequest(t, "PROPFIND", host.Origin()+"/remote.php/dav/files/alice/", "")
	request.Header.Set("Depth", "0")
	request.Header.Set("Authorization", "Bearer "+token)
	response, _ := send(t, request)
	return response.StatusCode
}

func wantDAV(t *testing.T, what string, host hosts.Host, token string, want int) {
	t.Helper()
	if got := davStatus(t, host, token); got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// with adds fields to a form.
func with(form url.Values, more ...string) url.Values {
	all := url.Values{}
	for name, values := range form {
		all[name] = values
	}
	for pair := range slices.Chunk(more, 2) {
		all.Set(pair[0], pair[1])
	}
	return all
}

// TestNextcloudOAuthAsRecorded goes through the recorded flow.
func TestNextcloudOAuthAsRecorded(t *testing.T) {
	host := startNextcloud(t, config(t))
	endpoint := host.Origin() + "/index.php/apps/oauth2/api/v1/token"
	authorize := host.Origin() + "/index.php/apps/oauth2/authorize?" + url.Values{
		"client_id": {clientID}, "response_type": {"code"}, "state": {"st-1"},
		"code_challenge": {s256("verifier")}, "code_challenge_method": {"S256"},
	}.Encode()
	back := signInAt(t, authorize, "alice")
	if back.Get("state") != "st-1" || len(back.Get("code")) != 128 {
		t.Fatalf("sent back with %v", back)
	}
	body := url.Values{"client_id": {clientID}, "client_secret": {clientSecret}}
	byCode := with(body, "grant_type", "authorization_code", "code", back.Get("code"))

	wantRefused(t, "wrong secret", askTokens(t, endpoint, "", with(byCode, "client_secret", "wrong")), "invalid_client", "")
	first := wantTokens(t, "no verifier, though a challenge was sent", askTokens(t, endpoint, "", byCode), 3600)
	if first.UserID != "alice" {
		t.Errorf("the user is %q", first.UserID)
	}
	wantRefused(t, "the code again", askTokens(t, endpoint, "", byCode), "invalid_request", "")
	wantDAV(t, "the token", host, first.AccessToken, 207)

	refresh := func(answer tokenAnswer) url.Values {
		return with(body, "grant_type", "refresh_token", "refresh_token", answer.RefreshToken)
	}
	second := wantTokens(t, "refresh, secret in the body", askTokens(t, endpoint, "", refresh(first)), 3600)
	wantDAV(t, "the old token after it", host, first.AccessToken, 401)
	wantRefused(t, "the old refresh token", askTokens(t, endpoint, "", refresh(first)), "invalid_request", "")
	wantDAV(t, "the new token", host, second.AccessToken, 207)
	third := wantTokens(t, "refresh after the replay, secret by Basic",
		askTokens(t, endpoint, clientSecret, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {second.RefreshToken}}), 3600)
	for _, kind := range []string{"client_credentials", "urn:ietf:params:oauth:grant-type:token-exchange"} {
		wantRefused(t, kind, askTokens(t, endpoint, "", with(body, "grant_type", kind)), "invalid_grant", "")
	}
	if got := askTokens(t, endpoint, "", body); got.status != http.StatusInternalServerError || !strings.HasPrefix(got.contentType, "text/html") {
		t.Errorf("no grant_type: %+v", got)
	}
	if host.Grants("alice") != 1 || host.Counts().Refreshes != 3 {
		t.Errorf("%d grants, %d refreshes", host.Grants("alice"), host.Counts().Refreshes)
	}

	end := newRequest(t, http.MethodDelete, host.Origin()+"/ocs/v2.php/core/apppassword?format=json", "")
	end.Header.Set("Authorization", "Bearer "+third.AccessToken)
	if response, body := send(t, end); response.StatusCode != http.StatusOK {
		t.Errorf("ending the grant: %s %s", response.Status, body)
	}
	wantDAV(t, "a token of an ended grant", host, third.AccessToken, 401)
	wantRefused(t, "its refresh token", askTokens(t, endpoint, "", refresh(third)), "invalid_request", "")
}

// TestOwnCloudOAuthAsRecorded goes through the recorded flow.
func TestOwnCloudOAuthAsRecorded(t *testing.T) {
	host := startOwnCloud(t, config(t))
	endpoint := host.Origin() + "/index.php/apps/oauth2/api/v1/token"
	code := func() url.Values {
		back := signInAt(t, host.Origin()+"/index.php/apps/oauth2/authorize?"+url.Values{
			"client_id": {clientID}, "response_type": {"code"}, "state": {"s1"}, "redirect_uri": {callback},
			"code_challenge": {s256("verifier")}, "code_challenge_method": {"S256"},
		}.Encode(), "alice")
		if back.Get("state") != "s1" || len(back.Get("code")) != 64 {
			t.Fatalf("sent back with %v", back)
		}
		return url.Values{"grant_type": {"authorization_code"}, "code": {back.Get("code")}, "redirect_uri": {callback}, "code_verifier": {"verifier"}}
	}
	byCode := code()
	noVerifier := with(byCode, "client_id", clientID, "client_secret", clientSecret)
	noVerifier.Del("code_verifier")
	wantRefused(t, "secret in the body", askTokens(t, endpoint, "", noVerifier), "invalid_request", "")
	wantRefused(t, "wrong verifier", askTokens(t, endpoint, clientSecret, with(byCode, "code_verifier", "wrong")), "invalid_grant", "code verifier invalid")
	wantRefused(t, "wrong redirect", askTokens(t, endpoint, clientSecret, with(byCode, "redirect_uri", "http://127.0.0.1/other")), "invalid_grant", "auth grant redirect uri invalid")
	first := wantTokens(t, "token", askTokens(t, endpoint, clientSecret, byCode), 3600)
	if first.UserID != "alice" || first.MessageURL != host.Origin()+"/apps/oauth2/authorization-successful" {
		t.Errorf("the answer is %+v", first)
	}
	wantDAV(t, "the token", host, first.AccessToken, 207)
	refresh := func(answer tokenAnswer) url.Values {
		return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {answer.RefreshToken}}
	}
	second := wantTokens(t, "refresh", askTokens(t, endpoint, clientSecret, refresh(first)), 3600)
	wantDAV(t, "the old token after it", host, first.AccessToken, 401)
	wantDAV(t, "the new token", host, second.AccessToken, 207)
	wantRefused(t, "the old refresh token", askTokens(t, endpoint, clientSecret, refresh(first)), "invalid_grant", "refresh token does not exist")
	wantTokens(t, "refresh after the replay", askTokens(t, endpoint, clientSecret, refresh(second)), 3600)
	wantRefused(t, "token exchange", askTokens(t, endpoint, clientSecret,
		url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}}), "invalid_grant", "unhandled grant type")
	wantTokens(t, "no secret, but a verifier", askTokens(t, endpoint, "", with(code(), "client_id", clientID)), 3600)
}

// TestOpenCloudOIDCAsRecorded goes through the recorded flow.
func TestOpenCloudOIDCAsRecorded(t *testing.T) {
	clock := clockwork.NewFakeClock()
	cfg := config(t)
	cfg.Clock = clock
	host := startOpenCloud(t, cfg)
	endpoint := host.Origin() + "/konnect/v1/token"
	code := func(scope string) url.Values {
		back := signInAt(t, host.Origin()+"/signin/v1/identifier/_/authorize?"+url.Values{
			"client_id": {clientID}, "response_type": {"code"}, "state": {"st1"}, "redirect_uri": {callback}, "scope": {scope}, "nonce": {"n1"},
			"code_challenge": {s256("verifier")}, "code_challenge_method": {"S256"},
		}.Encode(), "alice")
		if back.Get("state") != "st1" || back.Get("session_state") == "" || back.Get("scope") != scope {
			t.Fatalf("sent back with %v", back)
		}
		return url.Values{"grant_type": {"authorization_code"}, "code": {back.Get("code")}, "redirect_uri": {callback}, "code_verifier": {"verifier"}}
	}
	const all = "openid profile email offline_access"
	byCode := code(all)
	wantRefused(t, "a wrong secret", askTokens(t, endpoint, "wrong", byCode), "access_denied", "invalid client_secret: <nil>")
	wantRefused(t, "another client", askTokens(t, endpoint, "", with(byCode, "client_id", "nope")), "access_denied", "unknown client_id: nope")
	wantRefused(t, "no verifier", askTokens(t, endpoint, clientSecret, with(byCode, "code_verifier", "")), "invalid_grant", "invalid code challenge")
	wantRefused(t, "the code after it", askTokens(t, endpoint, clientSecret, byCode), "invalid_grant", "code not found")
	wantRefused(t, "another redirect URI", askTokens(t, endpoint, clientSecret, with(code(all), "redirect_uri", callback+"x")), "invalid_grant", "redirect_uri mismatch")
	wantTokens(t, "the secret in the body", askTokens(t, endpoint, "", with(with(code(all), "client_id", clientID), "client_secret", clientSecret)), 300)
	byCode = code(all)
	first := wantTokens(t, "token", askTokens(t, endpoint, clientSecret, byCode), 300)
	if strings.Count(first.AccessToken, ".") != 2 || strings.Count(first.IDToken, ".") != 2 {
		t.Errorf("no JWT: %+v", first)
	}
	wantRefused(t, "the code again", askTokens(t, endpoint, clientSecret, byCode), "invalid_grant", "code not found")
	wantDAV(t, "the token", host, first.AccessToken, 207)
	refresh := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {first.RefreshToken}}
	second := wantTokens(t, "refresh", askTokens(t, endpoint, clientSecret, refresh), 300)
	wantTokens(t, "refresh by the first refresh token again", askTokens(t, endpoint, clientSecret, refresh), 300)
	wantDAV(t, "the old token after it", host, first.AccessToken, 207)
	refused := func(what string, refreshToken, code, description string) {
		wantRefused(t, what, askTokens(t, endpoint, clientSecret, with(refresh, "refresh_token", refreshToken)), code, description)
	}
	refused("no JWT", "garbage", "invalid_request", "token contains an invalid number of segments")
	host.Disable("alice", true)
	refused("a user who is out", first.RefreshToken, "invalid_grant", "user not found")
	host.Disable("alice", false)
	wantRefused(t, "a refresh with a wrong secret", askTokens(t, endpoint, "wrong", refresh), "access_denied", "invalid client_secret: <nil>")
	clock.Advance(openCloudLife + time.Second)
	wantDAV(t, "a token after five minutes", host, second.AccessToken, 401)
	for _, kind := range []string{"client_credentials", "password", "urn:ietf:params:oauth:grant-type:jwt-bearer"} {
		wantRefused(t, kind, askTokens(t, endpoint, clientSecret, url.Values{"grant_type": {kind}}), "unsupported_grant_type", "unsupported grant_type value")
	}
	if got := askTokens(t, endpoint, clientSecret, code("openid")); got.status != http.StatusOK || got.RefreshToken != "" {
		t.Errorf("without offline_access: %+v", got)
	}
	host.RevokeGrants("alice")
	refused("a refresh token that has ended", first.RefreshToken, "invalid_request", "Token is expired")
}
