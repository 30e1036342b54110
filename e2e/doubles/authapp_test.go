package doubles

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

// askAuthApp calls the service for app tokens as a user, by password or app token.
func askAuthApp(t *testing.T, host *OpenCloud, method, user, password string, query url.Values) (*http.Response, string) {
	t.Helper()
	request := newRequest(t, method, host.Origin()+"/auth-app/tokens?"+query.Encode(), "")
	request.SetBasicAuth(user, password)
	return send(t, request)
}

var recordedHash = regexp.MustCompile(`^\$2a\$11\$[A-Za-z0-9./]{53}$`)

// wantMade makes an app token, held to the recorded answer.
func wantMade(t *testing.T, host *OpenCloud, user, password string, query url.Values, label string) appToken {
	t.Helper()
	response, body := askAuthApp(t, host, http.MethodPost, user, password, query)
	recorded := `{"token":"nV17Ed28T605c3Hj","expiration_date":"2026-11-23T17:52:06.728333915Z","created_date":"2026-11-20T17:52:06Z","label":"Generated via API"}`
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Fatalf("%s %v %s", response.Status, response.Header, body)
	}
	if got, want := shape(t, body), shape(t, recorded); got != want {
		t.Errorf("%s\n\nrecorded is\n%s", got, want)
	}
	var made appToken
	must(t, json.Unmarshal([]byte(body), &made))
	if len(made.Token) != 16 || made.Label != label {
		t.Errorf("made %+v", made)
	}
	return made
}

func listTokens(t *testing.T, host *OpenCloud, user, password string) []appToken {
	t.Helper()
	_, body := askAuthApp(t, host, http.MethodGet, user, password, nil)
	var listed []appToken
	must(t, json.Unmarshal([]byte(body), &listed))
	return listed
}

func wantDAVByPassword(t *testing.T, what string, host *OpenCloud, password string, want int) {
	t.Helper()
	request := newRequest(t, "PROPFIND", host.Origin()+"/remote.php/dav/files/alice/", "")
	request.SetBasicAuth("alice", password)
	if response, _ := send(t, request); response.StatusCode != want {
		t.Errorf("%s: %s, want %d", what, response.Status, want)
	}
}

// TestAppTokensAsRecorded goes through the life of one.
func TestAppTokensAsRecorded(t *testing.T) {
	clock := clockwork.NewFakeClock()
	cfg := config(t)
	cfg.Clock = clock
	host := startOpenCloud(t, cfg)
	made := wantMade(t, host, "alice", "alice-password", url.Values{"expiry": {"72h"}}, "Generated via API")
	if got := made.ExpirationDate.Sub(clock.Now()); got != 72*time.Hour {
		t.Errorf("it lives %s", got)
	}
	wantDAVByPassword(t, "use app token as basic pw", host, made.Token, http.StatusMultiStatus)
	listed := listTokens(t, host, "alice", made.Token)
	if len(listed) != 1 || !recordedHash.MatchString(listed[0].Token) || !listed[0].ExpirationDate.Equal(made.ExpirationDate) {
		t.Fatalf("listed %+v", listed)
	}
	if others := listTokens(t, host, "bob", "bob-password"); len(others) != 0 {
		t.Errorf("bob has %+v", others)
	}
	if !slices.Contains(host.Secrets(), made.Token) {
		t.Error("it is not among the secrets to look for in logs")
	}
	for token, want := range map[string]int{
		"": http.StatusBadRequest, made.Token: http.StatusInternalServerError, listed[0].Token: http.StatusOK,
	} {
		before := host.AppTokens("alice")
		response, body := askAuthApp(t, host, http.MethodDelete, "alice", "alice-password", url.Values{"token": {token}})
		ended := before - host.AppTokens("alice")
		if response.StatusCode != want || (want == http.StatusOK) != (ended == 1) {
			t.Errorf("DELETE %q: %s %s, ended %d", token, response.Status, body, ended)
		}
	}
	wantDAVByPassword(t, "after its end", host, made.Token, http.StatusUnauthorized)
	brief := wantMade(t, host, "alice", "alice-password", url.Values{"expiry": {"1m"}}, "Generated via API")
	clock.Advance(time.Minute)
	wantDAVByPassword(t, "after its time", host, brief.Token, http.StatusUnauthorized)
}

// TestAppTokensForOthers shows when an administrator can make them, as in the host's own acceptance tests.
func TestAppTokensForOthers(t *testing.T) {
	cfg := config(t)
	cfg.Users = append(cfg.Users, hosts.User{Name: "root", Password: "root-password", Admin: true})
	host := startOpenCloud(t, cfg)
	forAlice := url.Values{"expiry": {"5m"}, "userName": {"alice"}}
	refused := func(what, user, password string, query url.Values, status int, says string) {
		t.Helper()
		if response, body := askAuthApp(t, host, http.MethodPost, user, password, query); response.StatusCode != status || !strings.Contains(body, says) {
			t.Errorf("%s: %s %s, want %d %s", what, response.Status, body, status, says)
		}
	}
	refused("as installed", "root", "root-password", forAlice, http.StatusForbidden, "impersonation is not allowed")
	host.SetImpersonation(true)
	refused("by another user", "bob", "bob-password", forAlice, http.StatusForbidden, "")
	refused("by nobody", "root", "wrong", forAlice, http.StatusUnauthorized, "")
	refused("no expiry", "root", "root-password", url.Values{"userName": {"alice"}}, http.StatusBadRequest, "error parsing expiry. Use e.g. 30m or 72h")
	refused("an unknown name", "root", "root-password", with(forAlice, "userName", "zoe"), http.StatusInternalServerError, "")
	for _, query := range []url.Values{forAlice, {"expiry": {"5m"}, "userID": {userID("alice")}, "userName": {"bob"}}} {
		made := wantMade(t, host, "root", "root-password", query, "Generated via Impersonation API")
		wantDAVByPassword(t, "made for alice", host, made.Token, http.StatusMultiStatus)
		listed := listTokens(t, host, "alice", made.Token)
		response, body := askAuthApp(t, host, http.MethodDelete, "root", "root-password", url.Values{"token": {listed[0].Token}})
		if response.StatusCode != http.StatusInternalServerError {
			t.Errorf("an administrator ended another's token: %s %s", response.Status, body)
		}
	}
	if got := host.AppTokens("alice"); got != 2 {
		t.Errorf("alice has %d", got)
	}
}
