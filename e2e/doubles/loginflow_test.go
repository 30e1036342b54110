package doubles

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

const userAgent = "a client of the test"

// post sends a form as a client of the host does.
func post(t *testing.T, address string, form url.Values) (*http.Response, string) {
	t.Helper()
	request := newRequest(t, http.MethodPost, address, form.Encode())
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("User-Agent", userAgent)
	return send(t, request)
}

var (
	recordedToken  = regexp.MustCompile(`[A-Za-z0-9]{60,}`)
	recordedServer = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// wantAsRecorded compares all but the values of tokens, whose lengths count, and the port.
func wantAsRecorded(t *testing.T, what, got, recorded string) {
	t.Helper()
	alike := func(text string) string {
		text = recordedToken.ReplaceAllStringFunc(text, func(token string) string { return fmt.Sprintf("<%d>", len(token)) })
		return recordedServer.ReplaceAllString(text, "SERVER")
	}
	if alike(got) != alike(recorded) {
		t.Errorf("%s:\n%s\n\nrecorded is\n%s", what, got, recorded)
	}
}

// startedFlow is what a client knows once it has begun.
type startedFlow struct {
	Poll  struct{ Token, Endpoint string }
	Login string
}

func (f startedFlow) poll(t *testing.T) (int, string) {
	t.Helper()
	response, body := post(t, f.Poll.Endpoint, url.Values{"token": {f.Poll.Token}})
	return response.StatusCode, body
}

func (f startedFlow) wantPoll(t *testing.T, what string, status int, recorded string) string {
	t.Helper()
	got, body := f.poll(t)
	if got != status {
		t.Fatalf("%s: %d %s, want %d", what, got, body, status)
	}
	wantAsRecorded(t, what, body, recorded)
	return body
}

func startFlow(t *testing.T, host *Nextcloud, path string) startedFlow {
	t.Helper()
	response, body := post(t, host.Origin()+path, nil)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", path, response.Status, body)
	}
	wantAsRecorded(t, "start", body, `{"poll":{"token":"qgdOAjCXgBNydaNeVvMgcpDiZPjOjH667wv7f2LhMZ1NZI2aC9lW9NAnDuOjBmJrmOBn7uAkofoL8kPjnMbqHXkH1ZmesQKkq5ISafhWBtkaLEhm8xgKetXeb20mJwgb",`+
		`"endpoint":"http:\/\/127.0.0.1:8090\/login\/v2\/poll"},`+
		`"login":"http:\/\/127.0.0.1:8090\/login\/v2\/flow\/75ESKgi2RaDqTkCO50ZKGYzVF2E5G4j1J3TgjAtEY64rqt8qIeAzwc8gHMFkLRRkbz541IYrob8AZafzkUxpWt5FHa8NM2N1HElPH992udYyhlsSFLGVZGhs6q4ydKlN"}`)
	var flow startedFlow
	must(t, json.Unmarshal([]byte(body), &flow))
	return flow
}

// person is somebody at his browser, who follows redirects.
type person struct {
	*http.Client
	t *testing.T
	// at is where the last page lies, and page what it says.
	at, page string
	status   int
}

func newPerson(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	return &person{Client: &http.Client{Jar: jar}, t: t}
}

func (p *person) went(response *http.Response, err error) {
	p.t.Helper()
	must(p.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(p.t, err)
	p.at, p.page, p.status = response.Request.URL.RequestURI(), string(body), response.StatusCode
}

func (p *person) open(address string) {
	p.t.Helper()
	p.went(p.Do(newRequest(p.t, http.MethodGet, address, "")))
}

// follow opens the page's only link.
func (p *person) follow() {
	p.t.Helper()
	link := regexp.MustCompile(`<a href="([^"]+)"`).FindStringSubmatch(p.page)
	if link == nil {
		p.t.Fatalf("no link at %s: %s", p.at, p.page)
	}
	p.open(link[1])
}

// submit sends the page's form with some fields filled.
func (p *person) submit(filled ...string) {
	p.t.Helper()
	action := regexp.MustCompile(`action="([^"]+)"`).FindStringSubmatch(p.page)
	if action == nil {
		p.t.Fatalf("no form at %s: %s", p.at, p.page)
	}
	form := url.Values{}
	for _, field := range regexp.MustCompile(`name="([^"]+)" value="([^"]*)"`).FindAllStringSubmatch(p.page, -1) {
		form.Set(field[1], strings.ReplaceAll(field[2], "&amp;", "&"))
	}
	request := newRequest(p.t, http.MethodPost, action[1], with(form, filled...).Encode())
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	p.went(p.Do(request))
}

func (p *person) wantPage(what string, status int, says string) {
	p.t.Helper()
	if p.status != status || !strings.Contains(p.page, says) {
		p.t.Fatalf("%s: at %s, %d %s, want %d %q", what, p.at, p.status, p.page, status, says)
	}
}

// grant goes from the login address to the end.
func (p *person) grant(flow startedFlow, name, password string) {
	p.t.Helper()
	p.open(flow.Login)
	p.wantPage("the first page", http.StatusOK, "Please log in before granting <strong>"+userAgent+"</strong> access")
	p.follow()
	p.submit("user", name, "password", password)
	p.wantPage("the grant page", http.StatusOK, "You are about to grant <strong>"+userAgent+"</strong> access")
	p.submit()
	p.wantPage("the last page", http.StatusOK, "Your client should now be connected!")
}

const recordedCredentials = `{"server":"http:\/\/127.0.0.1:8090","loginName":"alice","appPassword":"f97t2WFqa88XuhERXBHpRBQLU5oWVIyvEGo4UbfyWYUxmS5nVAm4NckNnjClc4z60Vbl86fu"}`

type collected struct{ Server, LoginName, AppPassword string }

func collect(t *testing.T, flow startedFlow) collected {
	t.Helper()
	status, body := flow.poll(t)
	var got collected
	if must(t, json.Unmarshal([]byte(body), &got)); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	return got
}

// TestLoginFlowAsRecorded goes through the recorded sign-in: the person is logged in already.
func TestLoginFlowAsRecorded(t *testing.T) {
	host := startNextcloud(t, config(t))
	alice := newPerson(t)
	flow := startFlow(t, host, "/login/v2")
	flow.wantPoll(t, "poll before", http.StatusNotFound, `[]`)
	alice.open(host.Origin() + "/login")
	alice.submit("user", "alice", "password", "alice-password")
	if alice.at != "/apps/dashboard/" {
		t.Errorf("a login without a target ends at %s", alice.at)
	}
	alice.open(flow.Login)
	if alice.at != "/login/v2/flow?user=&direct=0" {
		t.Errorf("the first page is %s", alice.at)
	}
	alice.follow()
	alice.wantPage("the grant page", http.StatusOK, "Currently logged in as alice (alice).")
	flow.wantPoll(t, "poll before the grant", http.StatusNotFound, `[]`)
	alice.submit()
	alice.wantPage("the last page", http.StatusOK, "Account connected")
	var got collected
	must(t, json.Unmarshal([]byte(flow.wantPoll(t, "poll after", http.StatusOK, recordedCredentials)), &got))
	flow.wantPoll(t, "poll again", http.StatusNotFound, `[]`)
	if got := host.Counts().Polls; got != 4 {
		t.Errorf("%d polls were counted", got)
	}
	if names := host.AppPasswordNames("alice"); !slices.Equal(names, []string{userAgent}) {
		t.Errorf("the app passwords are called %q", names)
	}
	if response, _ := asAlice(t, host, "/", got.AppPassword, nil); response.StatusCode != http.StatusMultiStatus {
		t.Errorf("propfind with app password: %s", response.Status)
	}
	wantDAV(t, "same as Bearer", host, got.AppPassword, 207)
	end := newRequest(t, http.MethodDelete, host.Origin()+"/ocs/v2.php/core/apppassword?format=json", "")
	end.SetBasicAuth("alice", got.AppPassword)
	end.Header.Set("OCS-APIRequest", "true")
	response, body := send(t, end)
	if recorded := `{"ocs":{"meta":{"status":"ok","statuscode":200,"message":"OK"},"data":[]}}`; response.StatusCode != http.StatusOK || shape(t, body) != shape(t, recorded) {
		t.Errorf("delete app password: %s %s", response.Status, body)
	}
	if response, _ := asAlice(t, host, "/", got.AppPassword, nil); response.StatusCode != http.StatusUnauthorized {
		t.Errorf("propfind after delete: %s", response.Status)
	}
	for _, secret := range []string{flow.Poll.Token, flow.Login[strings.LastIndex(flow.Login, "/")+1:], got.AppPassword} {
		if !slices.Contains(host.Secrets(), secret) {
			t.Errorf("%s is not among the secrets to look for in logs", secret)
		}
	}
}

// TestLoginFlowLogsIn has somebody log in on the way, and shows under which name the app password is good.
func TestLoginFlowLogsIn(t *testing.T) {
	cfg := config(t)
	cfg.Users = []hosts.User{
		{Name: "3fa8-uid", LoginName: "alice", Password: "alice-password", Email: "alice@example.com", DisplayName: "Alice \u00c4mne"},
		{Name: "bob", Password: "bob-password", Email: "bob@example.com"},
	}
	tests := map[string]struct{ name, password, loginName, user, displayName string }{
		"by a name of the directory": {"alice", "alice-password", "alice", "3fa8-uid", "Alice \u00c4mne"},
		"by id":                      {"bob", "bob-password", "bob", "bob", "bob"},
		"by address":                 {"bob@example.com", "bob-password", "bob@example.com", "bob", "bob"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			host := startNextcloud(t, cfg)
			flow := startFlow(t, host, "/index.php/login/v2")
			newPerson(t).grant(flow, test.name, test.password)
			got := collect(t, flow)
			if got.LoginName != test.loginName || got.Server != host.Origin() {
				t.Fatalf("collected %+v", got)
			}
			account := newRequest(t, http.MethodGet, host.Origin()+"/ocs/v2.php/cloud/user?format=json", "")
			account.SetBasicAuth(got.LoginName, got.AppPassword)
			account.Header.Set("OCS-APIRequest", "true")
			_, body := send(t, account)
			var answer struct {
				OCS struct {
					Data struct{ ID, Email, DisplayName string }
				}
			}
			must(t, json.Unmarshal([]byte(body), &answer))
			if data := answer.OCS.Data; data.ID != test.user || data.DisplayName != test.displayName || !strings.HasSuffix(data.Email, "@example.com") {
				t.Errorf("the account is %+v", data)
			}
			before := host.FailedLogins()
			account.SetBasicAuth("3fa8-uid", got.AppPassword)
			if response, _ := send(t, account); response.StatusCode != http.StatusUnauthorized || host.FailedLogins() != before+1 {
				t.Errorf("under another name: %s, %d failed logins", response.Status, host.FailedLogins()-before)
			}
		})
	}
}

// TestLoginFlowRefuses shows what the pages refuse.
func TestLoginFlowRefuses(t *testing.T) {
	clock := clockwork.NewFakeClock()
	cfg := config(t)
	cfg.Clock = clock
	host := startNextcloud(t, cfg)
	flow := startFlow(t, host, "/login/v2")
	alice := newPerson(t)
	alice.open(host.Origin() + "/login/v2/flow/" + strings.Repeat("a", loginFlowToken))
	alice.wantPage("an unknown login token", http.StatusForbidden, "Your login token is invalid or has expired")
	alice.open(host.Origin() + "/login/v2/flow")
	alice.wantPage("no login token", http.StatusForbidden, "Your login token is invalid or has expired")
	alice.open(flow.Login)
	alice.follow()
	alice.submit("user", "alice", "password", "wrong")
	alice.wantPage("a wrong password", http.StatusOK, "Wrong login or password.")
	if host.FailedLogins() != 1 {
		t.Errorf("%d failed logins", host.FailedLogins())
	}
	alice.submit("user", "alice", "password", "alice-password", "requesttoken", "forged")
	alice.wantPage("a forged login", http.StatusOK, "Please try again")
	alice.submit("user", "alice", "password", "alice-password")
	alice.wantPage("the grant page", http.StatusOK, "Grant access")
	grantAt := alice.page
	for _, forged := range []struct {
		field, value, says string
		status             int
	}{
		{"requesttoken", "forged", "CSRF check failed", http.StatusPreconditionFailed},
		{"stateToken", "forged", "State token does not match", http.StatusForbidden},
		{"stateToken", "", "State token missing", http.StatusForbidden},
	} {
		alice.page = grantAt
		alice.submit(forged.field, forged.value)
		alice.wantPage(forged.field+" "+forged.value, forged.status, forged.says)
	}
	clock.Advance(loginFlowLife + time.Second)
	alice.page = grantAt
	alice.submit()
	alice.wantPage("after 20 minutes", http.StatusForbidden, "Your login token is invalid or has expired")
	flow.wantPoll(t, "after 20 minutes", http.StatusNotFound, `[]`)
	if got := host.AppPasswords("alice"); got != 0 {
		t.Errorf("there are %d app passwords", got)
	}
}

// TestLoginFlowThrottlesLogins shows that the login page is closed like any other way to guess a password.
func TestLoginFlowThrottlesLogins(t *testing.T) {
	host := startNextcloud(t, config(t))
	for range throttleMost + 1 {
		asAlice(t, host, "/", "wrong", nil)
	}
	alice := newPerson(t)
	alice.open(host.Origin() + "/login")
	alice.submit("user", "alice", "password", "alice-password")
	alice.wantPage("after too many failures", http.StatusTooManyRequests, "Too many requests")
}

// TestLoginFlowGoneWrong shows the ways in which tests can have a sign-in go wrong.
func TestLoginFlowGoneWrong(t *testing.T) {
	host := startNextcloud(t, config(t))
	t.Run("another origin", func(t *testing.T) {
		host.SetLoginFlowOrigins("http://poll.example", "http://files.example")
		defer host.SetLoginFlowOrigins("", "")
		flow := startFlowOf(t, host)
		if flow.Poll.Endpoint != "http://poll.example/login/v2/poll" || !strings.HasPrefix(flow.Login, host.Origin()) {
			t.Errorf("begun as %+v", flow)
		}
		newPerson(t).grant(flow, "alice", "alice-password")
		flow.Poll.Endpoint = host.Origin() + "/login/v2/poll"
		if got := collect(t, flow); got.Server != "http://files.example" {
			t.Errorf("collected %+v", got)
		}
	})
	t.Run("an answer that gets lost", func(t *testing.T) {
		flow := startFlow(t, host, "/login/v2")
		newPerson(t).grant(flow, "alice", "alice-password")
		lift := host.Fault(hosts.Fault{Method: http.MethodPost, Path: "/login/v2/poll", End: hosts.Cut})
		request := newRequest(t, http.MethodPost, flow.Poll.Endpoint, url.Values{"token": {flow.Poll.Token}}.Encode())
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if response, err := new(http.Client).Do(request); err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err == nil {
				t.Error("the answer came")
			}
		}
		lift()
		flow.wantPoll(t, "the next poll", http.StatusNotFound, `[]`)
	})
	t.Run("an account that can't be read", func(t *testing.T) {
		defer host.Fault(hosts.Fault{Path: "/ocs/v2.php/cloud/user", Status: http.StatusBadGateway})()
		if response, _ := send(t, newRequest(t, http.MethodGet, host.Origin()+"/ocs/v2.php/cloud/user?format=json", "")); response.StatusCode != http.StatusBadGateway {
			t.Errorf("got %s", response.Status)
		}
	})
	if got := host.Surprises(); len(got) != 0 {
		t.Errorf("surprised by %q", got)
	}
}

// startFlowOf begins where the answer isn't as recorded on purpose.
func startFlowOf(t *testing.T, host *Nextcloud) startedFlow {
	t.Helper()
	_, body := post(t, host.Origin()+"/login/v2", nil)
	var flow startedFlow
	must(t, json.Unmarshal([]byte(body), &flow))
	return flow
}
