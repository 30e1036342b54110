package doubles

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// asAlice asks for alice's folder at path.
func asAlice(t *testing.T, host *Nextcloud, path, password string, header map[string]string) (*http.Response, string) {
	t.Helper()
	request := newRequest(t, "PROPFIND", host.Origin()+"/remote.php/dav/files/alice"+path, "")
	request.SetBasicAuth("alice", password)
	request.Header.Set("Depth", "1")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	return send(t, request)
}

// TestNextcloudThrottles shows that what fails makes the next tries wait longer and longer, and that
// after more than ten in half an hour there is no next try.
func TestNextcloudThrottles(t *testing.T) {
	clock := clockwork.NewFakeClock()
	cfg := config(t)
	cfg.Clock = clock
	host := startNextcloud(t, cfg)
	delays := map[int]time.Duration{0: 0, 1: 200 * time.Millisecond, 6: 6400 * time.Millisecond, 9: 25 * time.Second}
	for failures := range throttleMost + 1 {
		if want, ok := delays[failures]; ok {
			if login, _ := host.Delay(); login != want {
				t.Errorf("after %d failures the delay is %s, want %s", failures, login, want)
			}
		}
		if response, body := asAlice(t, host, "/", "wrong", nil); response.StatusCode != http.StatusUnauthorized {
			t.Fatalf("failure %d: %s %s", failures, response.Status, body)
		}
	}
	response, body := asAlice(t, host, "/", "alice-password", nil)
	if response.StatusCode != http.StatusTooManyRequests || !strings.Contains(body, "TooManyRequests") {
		t.Errorf("the right password after too many: %s %s", response.Status, body)
	}
	if _, exchange := host.Delay(); exchange != 0 {
		t.Errorf("failed passwords count at the token endpoint: %s", exchange)
	}
	clock.Advance(throttleWindow)
	if response, body := asAlice(t, host, "/", "alice-password", nil); response.StatusCode != http.StatusMultiStatus {
		t.Errorf("half an hour later: %s %s", response.Status, body)
	}
	endpoint := host.Origin() + "/apps/oauth2/api/v1/token"
	dead := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"dead"}, "client_id": {clientID}, "client_secret": {clientSecret}}
	for range throttleMost + 1 {
		wantRefused(t, "a dead refresh token", askTokens(t, endpoint, "", dead), "invalid_request", "")
	}
	if got := askTokens(t, endpoint, "", dead); got.status != http.StatusTooManyRequests {
		t.Errorf("one more: %+v", got)
	}
}

// TestNextcloudAppPasswords goes through the recorded life of one.
func TestNextcloudAppPasswords(t *testing.T) {
	host := startNextcloud(t, config(t))
	ask := func(method, path, password string) (*http.Response, string) {
		request := newRequest(t, method, host.Origin()+"/ocs/v2.php/core/"+path+"?format=json", "")
		request.SetBasicAuth("alice", password)
		request.Header.Set("OCS-APIRequest", "true")
		return send(t, request)
	}
	_, body := ask(http.MethodGet, "getapppassword", "alice-password")
	var answer struct {
		OCS struct{ Data struct{ AppPassword string } }
	}
	must(t, json.Unmarshal([]byte(body), &answer))
	password := answer.OCS.Data.AppPassword
	if response, _ := asAlice(t, host, "/", password, nil); response.StatusCode != http.StatusMultiStatus {
		t.Errorf("as Basic: %s", response.Status)
	}
	wantDAV(t, "as Bearer", host, password, 207)
	if response, body := ask(http.MethodGet, "getapppassword", password); response.StatusCode != http.StatusForbidden {
		t.Errorf("one for another: %s %s", response.Status, body)
	}
	if response, body := ask(http.MethodDelete, "apppassword", "alice-password"); response.StatusCode != http.StatusForbidden {
		t.Errorf("ending the real password: %s %s", response.Status, body)
	}
	if response, body := ask(http.MethodDelete, "apppassword", password); response.StatusCode != http.StatusOK || !strings.Contains(body, `"data":[]`) {
		t.Errorf("ending it: %s %s", response.Status, body)
	}
	if response, _ := asAlice(t, host, "/", password, nil); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("after its end: %s", response.Status)
	}
}

func TestNextcloudKeepsOut(t *testing.T) {
	host := startNextcloud(t, config(t))
	host.SetMaintenance(true)
	response, body := asAlice(t, host, "/", "alice-password", nil)
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("X-Nextcloud-Maintenance-Mode") != "" ||
		response.Header.Get("Retry-After") != "" || !strings.Contains(body, `<s:exception>OCA\DAV\Exception\ServerMaintenanceMode</s:exception>`) {
		t.Errorf("in maintenance: %s %v %s", response.Status, response.Header, body)
	}
	for path, retryAfter := range map[string]string{"/ocs/v2.php/cloud/user?format=json": "", "/index.php/apps/oauth2/api/v1/token": "120"} {
		response, body := send(t, newRequest(t, http.MethodGet, host.Origin()+path, ""))
		if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("X-Nextcloud-Maintenance-Mode") != "1" || response.Header.Get("Retry-After") != retryAfter {
			t.Errorf("%s in maintenance: %s %v %s", path, response.Status, response.Header, body)
		}
	}
	if response, body := send(t, newRequest(t, http.MethodGet, host.Origin()+"/status.php", "")); response.StatusCode != http.StatusOK ||
		!strings.Contains(body, `"maintenance":true`) {
		t.Errorf("its state: %s %s", response.Status, body)
	}
	host.SetMaintenance(false)
	host.Disable("alice", true)
	response, body = asAlice(t, host, "/", "alice-password", nil)
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("X-Nextcloud-Maintenance-Mode") != "" ||
		!strings.Contains(body, `OC\User\DisabledUserException`) {
		t.Errorf("disabled, by password: %s %s", response.Status, body)
	}
	wantDAV(t, "disabled, by token", host, host.NewAppPassword("alice"), http.StatusInternalServerError)
	user := newRequest(t, http.MethodGet, host.Origin()+"/ocs/v2.php/cloud/user?format=json", "")
	user.SetBasicAuth("alice", "alice-password")
	if response, body := send(t, user); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("disabled, at OCS: %s %s", response.Status, body)
	}
	host.Disable("alice", false)
	if response, _ := asAlice(t, host, "/", "alice-password", nil); response.StatusCode != http.StatusMultiStatus {
		t.Errorf("enabled again: %s", response.Status)
	}
}

// TestNextcloudPages reads a folder page by page while it changes, and once more when the pages are
// forgotten.
func TestNextcloudPages(t *testing.T) {
	clock := clockwork.NewFakeClock()
	cfg := config(t)
	cfg.Clock = clock
	host := startNextcloud(t, cfg)
	write := func(i int) {
		must(t, os.WriteFile(fmt.Sprintf("%s/%d.txt", host.Dir("alice"), i), nil, 0o600))
	}
	for i := range 5 {
		write(i)
	}
	page := func(header map[string]string) (http.Header, int) {
		response, body := asAlice(t, host, "/", "alice-password", header)
		if response.StatusCode != http.StatusMultiStatus {
			t.Fatalf("%s %s", response.Status, body)
		}
		return response.Header, strings.Count(body, "<d:href>")
	}
	first, rows := page(map[string]string{paginate: "true", paginateCount: "4"})
	token := first.Get(paginateToken)
	if rows != 4 || first.Get(paginate) != "true" || first.Get(paginateTotal) != "6" || len(token) != 32 || first.Get("DAV") == "" {
		t.Errorf("the first page has %d rows, %v", rows, first)
	}
	write(5)
	next := map[string]string{paginate: "true", paginateToken: token, paginateOffset: "4", paginateCount: "4"}
	second, rows := page(next)
	if rows != 2 || second.Get(paginate) != "true" || second.Get(paginateToken) != "" || second.Get(paginateTotal) != "" || second.Get("DAV") != "" {
		t.Errorf("the second page has %d rows, %v", rows, second)
	}
	clock.Advance(paginateLife)
	again, rows := page(next)
	if fresh := again.Get(paginateToken); rows != 3 || fresh == "" || fresh == token || again.Get(paginateTotal) != "7" {
		t.Errorf("with a forgotten token: %d rows, %v", rows, again)
	}
	whole, rows := page(map[string]string{paginate: "true", paginateCount: "100"})
	if rows != 7 || whole.Get(paginateToken) == "" || whole.Get(paginateTotal) != "7" {
		t.Errorf("all on one page: %d rows, %v", rows, whole)
	}
	if plain, rows := page(nil); rows != 7 || plain.Get(paginate) != "" {
		t.Errorf("not asked for pages: %d rows, %v", rows, plain)
	}
	host.DropMemoryCache()
	first, _ = page(map[string]string{paginate: "true", paginateCount: "4"})
	next[paginateToken] = first.Get(paginateToken)
	if again, rows := page(next); rows != 3 || again.Get(paginateToken) == "" || again.Get(paginateToken) == next[paginateToken] {
		t.Errorf("without a memory cache: %d rows, %v", rows, again)
	}
}

// TestSurprises shows what is remembered, and that what a client may send is not.
func TestSurprises(t *testing.T) {
	host := startNextcloud(t, config(t))
	if response, _ := asAlice(t, host, "/nothing", "alice-password", nil); response.StatusCode != http.StatusNotFound {
		t.Errorf("nothing: %s", response.Status)
	}
	send(t, newRequest(t, http.MethodHead, host.Origin()+"/index.php/apps/oauth2/api/v1/token", ""))
	if got := host.Surprises(); len(got) != 0 {
		t.Errorf("surprised by %q", got)
	}
	for method, path := range map[string]string{http.MethodGet: "/nowhere", http.MethodPatch: "/remote.php/dav/files/alice/a", http.MethodPost: "/ocs/v2.php/cloud/user"} {
		request := newRequest(t, method, host.Origin()+path, "")
		request.SetBasicAuth("alice", "alice-password")
		if response, _ := send(t, request); response.StatusCode != http.StatusNotImplemented {
			t.Errorf("%s %s: %s", method, path, response.Status)
		}
	}
	asAlice(t, host, "/", "alice-password", map[string]string{"Depth": "2"})
	if got := host.Surprises(); len(got) != 4 {
		t.Errorf("surprised by %q", got)
	}
}

// TestHiddenNames shows that a host shows and finds no file whose name it can't have.
func TestHiddenNames(t *testing.T) {
	host := startNextcloud(t, config(t))
	for _, name := range []string{"back\\slash", "two\nlines", "cafe\u0301", "latin\xe9", strings.Repeat("x", 251), ".htaccess", "a.part"} {
		must(t, os.WriteFile(host.Dir("alice")+"/"+name, nil, 0o600))
		if host.Takes(name) {
			t.Errorf("%q is taken", name)
		}
		if response, _ := asAlice(t, host, "/"+url.PathEscape(name), "alice-password", nil); response.StatusCode != http.StatusNotFound {
			t.Errorf("%q: %s", name, response.Status)
		}
	}
	must(t, os.WriteFile(host.Dir("alice")+"/caf\u00e9 composed", nil, 0o600))
	if response, _ := asAlice(t, host, "/cafe%CC%81%20composed", "alice-password", nil); response.StatusCode != http.StatusMultiStatus {
		t.Errorf("a composed name, asked for as decomposed: %s", response.Status)
	}
	must(t, os.Remove(host.Dir("alice")+"/caf\u00e9 composed"))
	if _, body := asAlice(t, host, "/", "alice-password", nil); strings.Count(body, "<d:href>") != 1 {
		t.Errorf("listed: %s", body)
	}
}
