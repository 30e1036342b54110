package suite

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// signInUpTo signs alice in at the host and gives the callback's address, which no browser has
// opened yet.
func signInUpTo(t *testing.T, account *stack.Account) (callback string) {
	t.Helper()
	authorizeURL, err := site.Plugin(account).Authorize(t.Context())
	must(t, err)
	return signInFrom(t, authorizeURL)
}

// signInFrom does the same from an authorize URL on.
func signInFrom(t *testing.T, authorizeURL string) (callback string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	browser := &http.Client{Jar: jar, CheckRedirect: func(request *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(request.URL.String(), site.BaseURL()) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	form, err := stack.OpenSignIn(t.Context(), browser, authorizeURL)
	must(t, err)
	response, err := stack.SubmitSignIn(t.Context(), browser, form, "alice")
	must(t, err)
	must(t, response.Body.Close())
	return response.Header.Get("Location")
}

// open opens an address and follows redirects.
func open(t *testing.T, browser *http.Client, address string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	must(t, err)
	request.Header.Set("Accept", "text/html")
	response, err := browser.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return response, string(body)
}

// wantFailedPage opens a callback that must fail: the browser ends at a page that says so with that
// status, and at an address that holds neither the code nor the state.
func wantFailedPage(t *testing.T, browser *http.Client, callback string, status int) {
	t.Helper()
	response, page := open(t, browser, callback)
	if response.StatusCode != status || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the callback ends with %d, want %d: %s", response.StatusCode, status, page)
	}
	at := response.Request.URL
	if !strings.HasSuffix(at.Path, "/api/connection/failed") {
		t.Errorf("the callback ends at %s", at)
	}
	parsed, err := url.Parse(callback)
	must(t, err)
	for _, name := range []string{"code", "state"} {
		if secret := parsed.Query().Get(name); secret == "" || strings.Contains(at.String(), secret) || at.Query().Has(name) {
			t.Errorf("the callback %s ends at %s, which still has its %s", callback, at, name)
		}
	}
}

func state(t *testing.T, account *stack.Account) string {
	t.Helper()
	connection, err := site.Plugin(account).Connection(t.Context())
	must(t, err)
	return connection.State
}

// stranger is a browser without a Mattermost session.
func stranger(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	return &http.Client{Jar: jar, Transport: site.Transport}
}

func TestSignIn(t *testing.T) {
	account := newAccount(t)
	if got := state(t, account); got != "not_connected" {
		t.Errorf("before: %s", got)
	}
	authorizeURL, err := site.Plugin(account).Authorize(t.Context())
	must(t, err)
	parsed, err := url.Parse(authorizeURL)
	must(t, err)
	query := parsed.Query()
	if query.Get("code_challenge_method") != "S256" || len(query.Get("state")) < 22 || query.Get("response_type") != "code" ||
		query.Get("redirect_uri") != site.BaseURL()+"/connection/callback/default" {
		t.Errorf("the authorize URL is %s", authorizeURL)
	}
	response, page := open(t, account.Browser, signInUpTo(t, account))
	if response.StatusCode != http.StatusOK || response.Request.URL.RawQuery != "" {
		t.Errorf("the sign-in ends at %s with %d: %s", response.Request.URL, response.StatusCode, page)
	}
	for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	connection, err := site.Plugin(account).Connection(t.Context())
	must(t, err)
	if connection.State != "connected" || connection.Account != "alice" || connection.Method != "oauth" || connection.Host.Kind != site.Host.Traits().Kind {
		t.Errorf("the connection is %+v", connection)
	}
}

// TestNoHeaderSaysWhereCodesGo begins a sign-in with the headers that proxies set.
func TestNoHeaderSaysWhereCodesGo(t *testing.T) {
	client := site.Plugin(newAccount(t))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, client.URL+"/connection", strings.NewReader("{}"))
	must(t, err)
	request.Host = "evil.example"
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "ftp", "X-Forwarded-Prefix": "/evil",
		"X-Original-Url": "/evil", "Forwarded": "host=evil.example", "Origin": "https://evil.example", "Referer": "https://evil.example/",
	} {
		request.Header.Set(name, value)
	}
	response, err := client.Send(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	var begun struct {
		AuthorizeURL string `json:"authorize_url"`
	}
	must(t, json.NewDecoder(response.Body).Decode(&begun))
	parsed, err := url.Parse(begun.AuthorizeURL)
	must(t, err)
	if parsed.Query().Get("redirect_uri") != site.BaseURL()+"/connection/callback/default" || strings.Contains(begun.AuthorizeURL, "evil") {
		t.Errorf("the authorize URL is %s", begun.AuthorizeURL)
	}
}

func TestCallbackIsGoodOnce(t *testing.T) {
	account := newAccount(t)
	callback := signInUpTo(t, account)
	open(t, account.Browser, callback)
	before := site.Host.Counts().TokenRequests
	wantFailedPage(t, account.Browser, callback, http.StatusBadRequest)
	if site.Host.Counts().TokenRequests != before {
		t.Error("a replayed callback reached the token endpoint")
	}
	if got := state(t, account); got != "connected" {
		t.Errorf("a replay changed the connection to %s", got)
	}
}

// TestOfCallbacksReplayedAtOnceOnTwoNodesOneWins opens one callback many times at the same moment, on both nodes: one of them
// is connected, the others get 400, and the code is sent once.
func TestOfCallbacksReplayedAtOnceOnTwoNodesOneWins(t *testing.T) {
	node := secondNode(t)
	for range 5 {
		account := newAccount(t)
		callback := signInUpTo(t, account)
		elsewhere := node.URL + strings.TrimPrefix(callback, site.Mattermost.URL)
		before := site.Host.Counts().TokenRequests
		const browsers = 20
		ends, start := make(chan string), make(chan struct{})
		for i := range browsers {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, []string{callback, elsewhere}[i%2], nil)
			must(t, err)
			request.Header.Set("Accept", "text/html")
			go func() {
				<-start
				response, err := account.Browser.Do(request)
				if err != nil {
					ends <- err.Error()
					return
				}
				_ = response.Body.Close()
				ends <- strconv.Itoa(response.StatusCode) + " " + path.Base(response.Request.URL.Path)
			}()
		}
		close(start)
		seen := map[string]int{}
		for range browsers {
			seen[<-ends]++
		}
		if seen["200 done"] != 1 || seen["400 failed"] != browsers-1 {
			t.Errorf("the callbacks end as %v", seen)
		}
		if got := site.Host.Counts().TokenRequests - before; got != 1 {
			t.Errorf("%d token requests, want 1", got)
		}
		if got := state(t, account); got != "connected" {
			t.Errorf("the sign-in ends as %s", got)
		}
	}
}

// TestTheEndOfASignInReachesItsUsersClients shows that the picker hears of it by Mattermost, not by the window that it has
// opened, and nobody else does.
func TestTheEndOfASignInReachesItsUsersClients(t *testing.T) {
	account, other := newAccount(t), newAccount(t)
	events, err := site.Mattermost.Listen(t.Context(), account)
	must(t, err)
	defer func() { _ = events.Close() }()
	others, err := site.Mattermost.Listen(t.Context(), other)
	must(t, err)
	defer func() { _ = others.Close() }()
	open(t, account.Browser, signInUpTo(t, account))
	const changed = "custom_filehost-attach_connection"
	must(t, events.Next(changed, nil))
	newChannel(t, other) // of which he hears after what he must not hear of
	first, err := others.First(changed, "user_added")
	must(t, err)
	if first == changed {
		t.Error("another user hears of it")
	}
}

// TestThePagesOfASignInAreClosedToOthers looks at each answer that a browser gets after a sign-in: it says nothing to the
// next page, is kept by nobody, runs nothing, and leads nowhere but on within the plugin.
func TestThePagesOfASignInAreClosedToOthers(t *testing.T) {
	account := newAccount(t)
	connected, failed, unknown := signInUpTo(t, account), site.BaseURL()+"/connection/callback/default?code=c&state=guessed", signInUpTo(t, newAccount(t))
	for name, visit := range map[string]struct {
		browser *http.Client
		address string
		end     string
	}{
		"connected":         {account.Browser, connected, "/connection/done"},
		"failed":            {account.Browser, failed, "/connection/failed"},
		"without a session": {stranger(t), unknown, "/connection/confirm/"},
	} {
		t.Run(name, func(t *testing.T) {
			var hops []*http.Response
			browser := *visit.browser
			browser.CheckRedirect = func(request *http.Request, _ []*http.Request) error {
				hops = append(hops, request.Response)
				return nil
			}
			last, _ := open(t, &browser, visit.address)
			if len(hops) != 1 || hops[0].StatusCode != http.StatusSeeOther {
				t.Fatalf("%d redirects", len(hops))
			}
			end := last.Request.URL
			if !strings.HasPrefix(end.String(), site.BaseURL()+visit.end) || end.Query().Has("code") || end.Query().Has("state") {
				t.Errorf("it ends at %s", end)
			}
			for _, answer := range append(hops, last) {
				for header, want := range map[string]string{
					"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
				} {
					if got := answer.Header.Values(header); len(got) != 1 || got[0] != want {
						t.Errorf("%s: %s is %q", answer.Request.URL.Path, header, got)
					}
				}
				policy := strings.Join(answer.Header.Values("Content-Security-Policy"), ", ")
				if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
					t.Errorf("%s: the policy is %q", answer.Request.URL.Path, policy)
				}
			}
		})
	}
}

// TestCallbackLeavesHeadAlone shows that those who look a link up before its reader does, such as
// scanners of mail, spend nothing.
func TestCallbackLeavesHeadAlone(t *testing.T) {
	account := newAccount(t)
	callback := signInUpTo(t, account)
	before := site.Host.Counts()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, callback, nil)
	must(t, err)
	response, err := account.Browser.Do(request)
	must(t, err)
	must(t, response.Body.Close())
	if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != http.MethodGet {
		t.Errorf("HEAD got %d, Allow: %s", response.StatusCode, response.Header.Get("Allow"))
	}
	if got := site.Host.Counts().TokenRequests; got != before.TokenRequests {
		t.Error("HEAD reached the token endpoint")
	}
	open(t, account.Browser, callback)
	if got := state(t, account); got != "connected" {
		t.Errorf("after a HEAD, the sign-in ends as %s", got)
	}
}

func TestCallbackOfAnotherUser(t *testing.T) {
	victim, attacker := newAccount(t), newAccount(t)
	callback := signInUpTo(t, attacker)
	wantCallbackOfAnother(t, callback, attacker, victim)
}

// wantCallbackOfAnother opens the callback of a sign-in in another's browser, and wants its code not to be spent and neither of
// the two to be connected.
func wantCallbackOfAnother(t *testing.T, callback string, begun, opens *stack.Account) {
	t.Helper()
	before := site.Host.Counts().TokenRequests
	wantFailedPage(t, opens.Browser, callback, http.StatusForbidden)
	if site.Host.Counts().TokenRequests != before {
		t.Error("another user's sign-in reached the token endpoint")
	}
	for _, account := range []*stack.Account{begun, opens} {
		if got := state(t, account); got != "not_connected" {
			t.Errorf("%s is %s", account.Username, got)
		}
	}
}

func TestCallbackWithForgedState(t *testing.T) {
	account := newAccount(t)
	callback, err := url.Parse(signInUpTo(t, account))
	must(t, err)
	query := callback.Query()
	query.Set("state", strings.Repeat("A", 43))
	callback.RawQuery = query.Encode()
	before := site.Host.Counts().TokenRequests
	wantFailedPage(t, account.Browser, callback.String(), http.StatusBadRequest)
	if site.Host.Counts().TokenRequests != before {
		t.Error("a forged state reached the token endpoint")
	}
}

var confirmCode = regexp.MustCompile(`<code>([^<]+)</code>`)

// TestCallbackWithoutSession ends a sign-in in a browser that Mattermost doesn't know, as the apps
// do: only the code that it shows, typed by who began, completes it.
func TestCallbackWithoutSession(t *testing.T) {
	account, other := newAccount(t), newAccount(t)
	before := site.Host.Counts().TokenRequests
	response, page := open(t, stranger(t), signInUpTo(t, account))
	found := confirmCode.FindStringSubmatch(page)
	if response.StatusCode != http.StatusOK || found == nil || !strings.Contains(page, "@"+account.Username) {
		t.Fatalf("the page is %d: %s", response.StatusCode, page)
	}
	if site.Host.Counts().TokenRequests != before {
		t.Error("the sign-in reached the token endpoint before it was confirmed")
	}
	if _, err := site.Plugin(other).Confirm(t.Context(), found[1]); err == nil {
		t.Error("another user's code was good")
	}
	connection, err := site.Plugin(account).Confirm(t.Context(), found[1])
	must(t, err)
	if connection.State != "connected" || connection.Account != "alice" {
		t.Errorf("the connection is %+v", connection)
	}
	if _, err := site.Plugin(account).Confirm(t.Context(), found[1]); err == nil {
		t.Error("a code was good twice")
	}
}

func TestRefreshWhenExpired(t *testing.T) {
	site.Host.SetTokenLife(3 * time.Second)
	account := newConnected(t, "bob")
	site.Host.SetTokenLife(time.Hour)
	before, client := site.Host.Counts(), site.Plugin(account)
	eventually(t, "the plugin refreshes", func() bool {
		_, err := client.List(t.Context(), in("/"))
		must(t, err)
		return site.Host.Counts().Refreshes > before.Refreshes
	})
	_, err := client.List(t.Context(), in("/"))
	must(t, err)
	after := site.Host.Counts()
	if got := after.Refreshes - before.Refreshes; got != 1 {
		t.Errorf("%d refreshes, want 1", got)
	}
	if after.Unauthorized != before.Unauthorized {
		t.Error("the plugin refreshed only once the host had refused its token")
	}
}

func TestRefreshWhenRefused(t *testing.T) {
	account := newConnected(t, "bob")
	site.Host.ExpireAccessTokens("bob")
	before := site.Host.Counts().Refreshes
	_, err := site.Plugin(account).List(t.Context(), in("/"))
	must(t, err)
	if got := site.Host.Counts().Refreshes - before; got != 1 {
		t.Errorf("%d refreshes, want 1", got)
	}
}

func TestRefreshOnceForManyCallers(t *testing.T) {
	account := newConnected(t, "bob")
	site.Host.ExpireAccessTokens("bob")
	before := site.Host.Counts().Refreshes
	const callers = 20
	results := make(chan error, callers)
	client := site.Plugin(account)
	for range callers {
		go func() {
			_, err := client.List(t.Context(), in("/"))
			results <- err
		}()
	}
	for range callers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if got := site.Host.Counts().Refreshes - before; got != 1 {
		t.Errorf("%d refreshes, want 1", got)
	}
}

func TestRevokedAtTheHost(t *testing.T) {
	account := newConnected(t, "carol")
	site.Host.RevokeGrants("carol")
	_, err := site.Plugin(account).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	if got := state(t, account); got != "reconnect" {
		t.Errorf("the connection is %s", got)
	}
	must(t, site.Connect(t.Context(), account, "carol"))
	_, err = site.Plugin(account).List(t.Context(), in("/"))
	must(t, err)
}

// TestDisconnectRevokes shows that nothing is left at the host, where that lets a client end what its
// user has allowed it.
func TestDisconnectRevokes(t *testing.T) {
	account := newConnected(t, "carol")
	left := site.Host.Grants("carol")
	if site.Host.Traits().Revokes {
		left--
	}
	must(t, site.Plugin(account).Disconnect(t.Context()))
	if got := site.Host.Grants("carol"); got != left {
		t.Errorf("%d grants at the host, want %d", got, left)
	}
	if got := state(t, account); got != "not_connected" {
		t.Errorf("the connection is %s", got)
	}
	_, err := site.Plugin(account).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	must(t, site.Plugin(account).Disconnect(t.Context()))
}

// TestNoPasswordWhereOAuthIsTheMethod shows that the admin's choice holds.
func TestNoPasswordWhereOAuthIsTheMethod(t *testing.T) {
	_, err := site.Plugin(newAccount(t)).ConnectWithPassword(t.Context(), "alice", stack.HostPassword("alice"))
	wantProblem(t, err, "unsupported", 422)
}
