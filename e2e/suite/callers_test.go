package suite

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// everyCall calls each route that acts as a user.
func everyCall(ctx context.Context, client api.Client) map[string]error {
	outcome := map[string]error{}
	_, outcome["files"] = client.List(ctx, in("/"))
	_, outcome["attach"] = client.Attach(ctx, copies("/Welcome.txt"))
	_, outcome["connection"] = client.Connection(ctx)
	_, outcome["connect"] = client.Authorize(ctx)
	_, outcome["connect by password"] = client.ConnectWithPassword(ctx, "alice", stack.HostPassword("alice"))
	_, outcome["confirm"] = client.Confirm(ctx, "ABCD-EFGH")
	outcome["disconnect"] = client.Disconnect(ctx)
	return outcome
}

// wantRefused wants a caller to be let into no route, and to see of the public ones what anybody sees.
func wantRefused(t *testing.T, client api.Client, code string, status int) {
	t.Helper()
	before := site.Host.Counts().WithCredential
	for route, err := range everyCall(t.Context(), client) {
		t.Run(route, func(t *testing.T) { wantProblem(t, err, code, status) })
	}
	if after := site.Host.Counts().WithCredential; after != before {
		t.Error("the host was asked all the same")
	}
	health, err := client.Health(t.Context())
	must(t, err)
	if health.Connection != nil || health.Checks != nil {
		t.Errorf("health shows %+v", health)
	}
}

func TestNothingWithoutASession(t *testing.T) {
	wantRefused(t, site.Plugin(nil), "not_authenticated", 401)
}

// withToken is an account's client by another token than that of its login.
func withToken(token string) api.Client {
	return site.Plugin(&stack.Account{Client: rest.New(site.Mattermost.URL, token)})
}

// newToken makes an access token for a user or a bot.
func newToken(t *testing.T, userID string) (token, id string) {
	t.Helper()
	var made struct{ Token, ID string }
	must(t, site.Admin.Post(t.Context(), "/api/v4/users/"+userID+"/tokens", map[string]string{"description": "test"}, &made))
	return made.Token, made.ID
}

// TestPersonalAccessTokens acts by a token that outlives sessions, until it is revoked.
func TestPersonalAccessTokens(t *testing.T) {
	account := newConnected(t, "alice")
	token, id := newToken(t, account.ID)
	attached, err := withToken(token).Attach(t.Context(), copies("/Welcome.txt"))
	must(t, err)
	if stored := readPost(t, attached.PostID); stored.UserID != account.ID {
		t.Errorf("the post is %+v", stored)
	}
	must(t, site.Admin.Post(t.Context(), "/api/v4/users/tokens/revoke", map[string]string{"token_id": id}, nil))
	wantRefused(t, withToken(token), "not_authenticated", 401)
}

// TestBots connects a bot, which has no browser, by an app password, and attaches as it.
func TestBots(t *testing.T) {
	var bot struct {
		ID string `json:"user_id"`
	}
	must(t, site.Admin.Post(t.Context(), "/api/v4/bots", map[string]string{"username": "b" + strings.ToLower(rand.Text()[:12])}, &bot))
	token, _ := newToken(t, bot.ID)
	account := &stack.Account{Client: rest.New(site.Mattermost.URL, token), ID: bot.ID}
	client := site.Plugin(account)
	_, err := client.Authorize(t.Context())
	wantProblem(t, err, "unsupported", 422)
	_, err = client.ConnectWithPassword(t.Context(), "bob", "wrong")
	wantProblem(t, err, "invalid_request", 400)
	connection, err := client.ConnectWithPassword(t.Context(), "alice", stack.HostPassword("alice"))
	must(t, err)
	if connection.State != "connected" || connection.Grant != "password" {
		t.Errorf("the bot's connection is %+v", connection)
	}
	_, err = client.Attach(t.Context(), copies("/Welcome.txt"))
	wantProblem(t, err, "forbidden", 403) // it is in no channel yet
	must(t, site.Admin.JoinTeam(t.Context(), site.TeamID, account))
	must(t, site.Admin.JoinChannel(t.Context(), site.ChannelID, account))
	attached, err := client.Attach(t.Context(), copies("/Welcome.txt"))
	must(t, err)
	if stored := readPost(t, attached.PostID); stored.UserID != bot.ID || len(stored.FileIDs) != 1 {
		t.Errorf("the post is %+v", stored)
	}
}

// TestGuests attaches as a guest: where he is, and nowhere else.
func TestGuests(t *testing.T) {
	guest, err := stack.CreateAccount(t.Context(), rest.New(site.Mattermost.URL, ""), "g"+strings.ToLower(rand.Text()[:12]))
	must(t, err)
	// Without a licence nobody can be made a guest by the route for it; whoever joins with this role is one all the same.
	must(t, site.Admin.Put(t.Context(), "/api/v4/users/"+guest.ID+"/roles", map[string]string{"roles": "system_guest"}, nil))
	must(t, site.Admin.JoinTeam(t.Context(), site.TeamID, guest))
	must(t, site.Admin.JoinChannel(t.Context(), site.ChannelID, guest))
	var member struct {
		Guest bool `json:"scheme_guest"`
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/channels/"+site.ChannelID+"/members/"+guest.ID, &member))
	if !member.Guest {
		t.Fatal("the account is no guest")
	}
	guest.Browser.Transport = site.Transport
	must(t, site.Connect(t.Context(), guest, "alice"))
	attached, err := site.Plugin(guest).Attach(t.Context(), copies("/Welcome.txt"))
	must(t, err)
	if stored := readPost(t, attached.PostID); stored.UserID != guest.ID || len(stored.FileIDs) != 1 {
		t.Errorf("the post is %+v", stored)
	}
	elsewhere := copies("/Welcome.txt")
	elsewhere.ChannelID = newChannel(t)
	_, err = site.Plugin(guest).Attach(t.Context(), elsewhere)
	wantProblem(t, err, "forbidden", 403)
}

// TestDeactivatedUsers shows that a user who is out stays out, even by a session that another plugin opens for him.
func TestDeactivatedUsers(t *testing.T) {
	account := newConnected(t, "alice")
	token, _ := newToken(t, account.ID)
	active := func(active bool) {
		must(t, site.Admin.Put(t.Context(), "/api/v4/users/"+account.ID+"/active", map[string]bool{"active": active}, nil))
	}
	left := site.Host.Grants("alice")
	if site.Host.Traits().Revokes {
		left--
	}
	active(false)
	eventually(t, "his connection ends, at the host too", func() bool {
		page, err := site.Plugin(site.Admin).KeptConnections(t.Context(), url.Values{"limit": {"200"}})
		must(t, err)
		return site.Host.Grants("alice") == left && !slices.ContainsFunc(page.Connections, func(kept api.Kept) bool { return kept.UserID == account.ID })
	})
	wantRefused(t, site.Plugin(account), "not_authenticated", 401)
	wantRefused(t, withToken(token), "not_authenticated", 401)
	var session struct{ Token, Error string }
	must(t, site.Admin.Get(t.Context(), "/plugins/scanner/session?user_id="+account.ID, &session))
	if session.Token == "" {
		t.Fatal(session.Error)
	}
	wantRefused(t, withToken(session.Token), "forbidden", 403)
	active(true)
	_, err := withToken(session.Token).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
}

// TestDeactivatedWhileThePluginIsOff shows that a user who was deactivated unnoticed is refused all the same.
func TestDeactivatedWhileThePluginIsOff(t *testing.T) {
	account := newConnected(t, "alice")
	switchPlugin(t, "disable")
	must(t, site.Admin.Put(t.Context(), "/api/v4/users/"+account.ID+"/active", map[string]bool{"active": false}, nil))
	switchPlugin(t, "enable")
	eventually(t, "the plugin runs again", func() bool {
		_, err := site.Plugin(site.User).Connection(t.Context())
		return err == nil
	})
	var session struct{ Token, Error string }
	must(t, site.Admin.Get(t.Context(), "/plugins/scanner/session?user_id="+account.ID, &session))
	wantRefused(t, withToken(session.Token), "forbidden", 403)
	must(t, site.Plugin(site.Admin).RevokeConnection(t.Context(), account.ID))
}

// TestOAuthApplications shows that an application that a user has let into Mattermost is not let into his files.
func TestOAuthApplications(t *testing.T) {
	account := newConnected(t, "alice")
	token := authorizeApplication(t, account)
	var me struct{ ID string }
	must(t, rest.New(site.Mattermost.URL, token).Get(t.Context(), "/api/v4/users/me", &me))
	if me.ID != account.ID {
		t.Fatalf("the application acts as %q", me.ID)
	}
	wantRefused(t, withToken(token), "forbidden", 403)
	_, err := site.Plugin(account).List(t.Context(), in("/"))
	must(t, err)
}

// authorizeApplication registers an application with Mattermost, lets it in as the account would in a browser, and gives
// its access token (RFC 6749 4.1).
func authorizeApplication(t *testing.T, account *stack.Account) string {
	t.Helper()
	must(t, site.Admin.Put(t.Context(), "/api/v4/config/patch",
		map[string]any{"ServiceSettings": map[string]any{"EnableOAuthServiceProvider": true}}, nil))
	const callback = "https://application.example.com/callback"
	var registered struct {
		ID     string
		Secret string `json:"client_secret"`
	}
	must(t, site.Admin.Post(t.Context(), "/api/v4/oauth/apps", map[string]any{
		"name": "application", "description": "d", "homepage": "https://application.example.com", "callback_urls": []string{callback},
	}, &registered))
	allow, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site.Mattermost.URL+"/oauth/authorize", strings.NewReader(
		`{"response_type":"code","client_id":"`+registered.ID+`","redirect_uri":"`+callback+`","scope":"user","state":"s"}`))
	must(t, err)
	allow.Header.Set("X-CSRF-Token", account.CSRF())
	var allowed struct{ Redirect string }
	sendJSON(t, account.Browser, allow, &allowed)
	redirect, err := url.Parse(allowed.Redirect)
	must(t, err)
	exchange, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site.Mattermost.URL+"/oauth/access_token", strings.NewReader(url.Values{
		"grant_type": {"authorization_code"}, "code": {redirect.Query().Get("code")}, "redirect_uri": {callback},
		"client_id": {registered.ID}, "client_secret": {registered.Secret},
	}.Encode()))
	must(t, err)
	exchange.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var granted struct {
		Token string `json:"access_token"`
	}
	sendJSON(t, new(http.Client), exchange, &granted)
	return granted.Token
}

// TestBrowserSessionsNeedTheToken shows that a page elsewhere can't act in a user's browser.
func TestBrowserSessionsNeedTheToken(t *testing.T) {
	account := newConnected(t, "alice")
	tests := []struct {
		name, method, path, csrf string
		header                   http.Header
		status                   int
	}{
		{"reading without the token", http.MethodGet, "/connection", "", nil, 200},
		{"reading a folder without the token", http.MethodGet, "/files", "", nil, 200},
		{"looking without the token", http.MethodHead, "/files", "", nil, 401},
		{"attaching without the token", http.MethodPost, "/attach", "", nil, 401},
		{"connecting without the token", http.MethodPost, "/connection", "", nil, 401},
		{"connecting with another token", http.MethodPost, "/connection", "guess", nil, 401},
		{"disconnecting without the token", http.MethodDelete, "/connection", "", nil, 401},
		{"pressing a button without the token", http.MethodPost, "/actions/connect", "", nil, 401},
		{"confirming without the token", http.MethodPost, "/actions/confirm", "", nil, 401},
		{"connecting by reading", http.MethodGet, "/actions/connect", account.CSRF(), nil, 405},
		{"attaching by reading", http.MethodGet, "/attach", account.CSRF(), nil, 405},
		{"revoking without the token", http.MethodDelete, "/admin/connections/" + account.ID, "", nil, 401},
		{"replacing keys without the token", http.MethodDelete, "/admin/signing-keys", "", nil, 401},
		{"replacing keys as no admin", http.MethodDelete, "/admin/signing-keys", account.CSRF(), nil, 403},
		{"revoking as no admin", http.MethodDelete, "/admin/connections/" + account.ID, account.CSRF(), nil, 403},
		{"disconnecting by reading", http.MethodGet, "/connection", account.CSRF(), http.Header{"X-Http-Method-Override": {"DELETE"}}, 200},
		{"disconnecting by another method", http.MethodPost, "/connection", "", http.Header{"X-Http-Method-Override": {"DELETE"}}, 401},
		{"a form of another site", http.MethodPost, "/connection", "", http.Header{"Content-Type": {"text/plain"}, "Origin": {"https://evil.example.com"}}, 401},
		{"a form with the token", http.MethodPost, "/connection", account.CSRF(), http.Header{"Content-Type": {"text/plain"}}, 400},
		{"looking with the token", http.MethodHead, "/files", account.CSRF(), nil, 200},
		{"connecting with the token", http.MethodPost, "/connection", account.CSRF(), nil, 200},
		{"disconnecting with the token", http.MethodDelete, "/connection", account.CSRF(), nil, 204},
	}
	for _, test := range tests { // in this order: the last ends the connection
		t.Run(test.name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, site.BaseURL()+test.path, strings.NewReader("{}"))
			must(t, err)
			request.Header.Set("Content-Type", "application/json")
			maps.Copy(request.Header, test.header)
			if test.csrf != "" {
				request.Header.Set("X-CSRF-Token", test.csrf)
			}
			response, err := account.Browser.Do(request)
			must(t, err)
			defer func() { _ = response.Body.Close() }()
			body, err := io.ReadAll(response.Body)
			must(t, err)
			if response.StatusCode != test.status {
				t.Errorf("got %d %s, want %d", response.StatusCode, body, test.status)
			}
		})
	}
}

// TestOnlyMattermostSaysWhoCalls sends the headers by which Mattermost tells the plugin who calls.
func TestOnlyMattermostSaysWhoCalls(t *testing.T) {
	account := newAccount(t)
	for _, name := range []string{"Mattermost-User-Id", "mattermost-user-id", "Mattermost_User_Id", "X-Mattermost-User-Id"} {
		t.Run(name, func(t *testing.T) {
			forged := http.Header{name: {site.User.ID, site.User.ID}, "X-Forwarded-For": {"127.0.0.1"}, "Connection": {"close, Mattermost-User-Id"}}
			wantProblem(t, api.AsProblem(sendWith(t, site.Plugin(nil), forged, "/connection")), "not_authenticated", 401)
			must(t, sendWith(t, site.Plugin(account), forged, "/connection"))
			connection, err := site.Plugin(account).Connection(t.Context())
			must(t, err)
			if connection.State != "not_connected" {
				t.Errorf("it is the connection of another: %+v", connection)
			}
		})
	}
	// What only another plugin's requests have does not make a user's one of them, nor a long header an error of ours.
	must(t, sendWith(t, site.Plugin(account), http.Header{"Mattermost-Plugin-ID": {"other"}, "X-Long": {strings.Repeat("x", 200_000)}}, "/connection"))
}

// sendWith gets a route of the plugin with headers of the test's own.
func sendWith(t *testing.T, client api.Client, header http.Header, path string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, client.URL+path, nil)
	must(t, err)
	for name, values := range header {
		request.Header[name] = values // as it is spelled
	}
	response, err := client.Send(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// sendJSON sends a request that must succeed and decodes its answer.
func sendJSON(t *testing.T, client *http.Client, request *http.Request, into any) {
	t.Helper()
	response, err := client.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %s", request.Method, request.URL.Path, response.StatusCode, body)
	}
	must(t, json.Unmarshal(body, into))
}
