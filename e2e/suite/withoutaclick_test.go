package suite

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/embedded"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/signin"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// vouching is a sign-in server that gives users access on the plugin's word, and the file host behind it.
type vouching struct {
	method string
	host   *embedded.Host
	front  *signin.Front
	// link says whose account of the host a user of Mattermost has.
	link func(account *stack.Account, user string) error
	// asked counts the requests for access.
	asked func(signin.Counts) int
}

// vouchings start each of them, by name, and have the plugin work with it for one test.
var vouchings = map[string]func(t *testing.T, settings map[string]any) vouching{
	"JWT bearer at Hydra's library":              useAssertions,
	"token exchange at Dex":                      useDex,
	"token exchange at Zitadel's library":        useExchange,
	"exchange of a user id at Zitadel's library": useZitadelUserID,
}

// automatically are the settings of access without a click for everybody in the team, named by Mattermost's own id.
func automatically(method string, settings ...map[string]any) map[string]any {
	all := map[string]any{"signin": method, "signinfallbacks": "", "automaticfor": "team:team", "subjectclaim": "user_id"}
	for _, more := range settings {
		maps.Copy(all, more)
	}
	return all
}

func useAssertions(t *testing.T, settings map[string]any) vouching {
	t.Helper()
	host, server := useSignInServer(t, "fosite", automatically("jwt_bearer", settings))
	return vouching{
		method: "jwt_bearer", host: host, front: server.Front,
		link:  func(account *stack.Account, user string) error { return server.Link(account.ID, user) },
		asked: func(c signin.Counts) int { return c.Assertions },
	}
}

func exchanges(c signin.Counts) int { return c.Exchanges }

func useDex(t *testing.T, settings map[string]any) vouching {
	t.Helper()
	host, server := useSignInServer(t, "dex", automatically("token_exchange", settings))
	return vouching{
		method: "token_exchange", host: host, front: server.Front, asked: exchanges,
		link: func(account *stack.Account, user string) error { return server.Link(account.ID, user) },
	}
}

const exchangeSecret = "the secret of the client that exchanges tokens"

// startExchange starts a host whose own sign-in server exchanges tokens.
func startExchange(t *testing.T) *embedded.Host {
	t.Helper()
	host := startEmbedded(t, hosts.Config{
		ClientID: "mattermost", ClientSecret: exchangeSecret, RedirectURIs: []string{site.BaseURL() + "/connection/callback/default"},
	})
	host.Trust(site.BaseURL())
	t.Cleanup(func() { wantUnlogged(t, append(host.SignIn().Secrets(), exchangeSecret)) })
	return host
}

func useExchange(t *testing.T, settings map[string]any) vouching {
	t.Helper()
	host := startExchange(t)
	configure(t, automatically("token_exchange", host.Settings(), map[string]any{
		"oauthclientsecret": exchangeSecret, "exchangesubject": "jwt", "exchangeaudience": embedded.Audience, "exchangeresource": host.URL(),
	}, settings))
	return vouching{
		method: "token_exchange", host: host, front: host.SignIn(), asked: exchanges,
		link: func(account *stack.Account, user string) error {
			host.Link(account.ID, user)
			return nil
		},
	}
}

func useZitadelUserID(t *testing.T, settings map[string]any) vouching {
	t.Helper()
	host := startExchange(t)
	actor, err := host.ActorToken(true)
	must(t, err)
	configure(t, automatically("token_exchange", host.Settings(), map[string]any{
		"oauthclientsecret": exchangeSecret, "exchangesubject": "zitadel_user_id", "exchangeactortoken": actor,
		"exchangeaudience": embedded.Audience,
	}, settings))
	return vouching{
		method: "token_exchange", host: host, front: host.SignIn(), asked: exchanges,
		link: func(account *stack.Account, user string) error {
			host.Identify(account.ID, user)
			return nil
		},
	}
}

// TestWithoutAClick lists and attaches as somebody who has never connected. Callers on two nodes who come at once make one
// request; however long the server would let the token live it is stored for minutes, and a refresh token is never used.
func TestWithoutAClick(t *testing.T) {
	for name, use := range vouchings {
		t.Run(name, func(t *testing.T) {
			server := use(t, nil)
			account := newAccount(t)
			must(t, server.link(account, "alice"))
			client := site.Plugin(account)
			wantConnection(t, client, "not_connected", "")
			stored := storedConnections(t)
			defer server.front.Break(signin.Fault{Answer: func(answer map[string]any) { answer["refresh_token"] = "nobody-asked-for-this" }})()

			listAtOnce(t, onBothNodes(t, account), 20)
			if got := server.asked(server.front.Counts()); got != 1 {
				t.Errorf("the callers made %d requests for access", got)
			}
			attached, err := client.Attach(t.Context(), copies("/Welcome.txt"))
			must(t, err)
			if attached.Items[0].Error != nil {
				t.Errorf("attached %+v", attached.Items[0])
			}
			wantConnection(t, client, "connected", server.method)

			server.host.ExpireAccessTokens("alice")
			_, err = client.List(t.Context(), in("/"))
			must(t, err)
			counts := server.front.Counts()
			if server.asked(counts) != 2 || counts.Refreshes != 0 || counts.Replays != 0 {
				t.Errorf("the server was asked %+v", counts)
			}
			wantShortLived(t, stored)
		})
	}
}

// wantConnection wants a user's connection to be in that state, by that grant.
func wantConnection(t *testing.T, client api.Client, state, grant string) {
	t.Helper()
	connection, err := client.Connection(t.Context())
	must(t, err)
	if connection.State != state || connection.Grant != grant || !connection.Automatic {
		t.Errorf("the connection is %+v, want it %s by %q", connection, state, grant)
	}
}

// storedConnections gives, by key, when each connection in the plugin's store vanishes by itself: milliseconds, 0 = never.
func storedConnections(t *testing.T) map[string]int64 {
	t.Helper()
	database, err := site.Database(t.Context())
	must(t, err)
	defer func() { _ = database.Close(t.Context()) }()
	rows, err := database.Query(t.Context(),
		`SELECT pkey, expireat FROM pluginkeyvaluestore WHERE pluginid = 'filehost-attach' AND pkey LIKE 'conn\_%'`)
	must(t, err)
	stored := map[string]int64{}
	var key string
	var expires int64
	_, err = pgx.ForEachRow(rows, []any{&key, &expires}, func() error {
		stored[key] = expires
		return nil
	})
	must(t, err)
	return stored
}

// wantShortLived wants one connection more than before in the store, which vanishes by itself within minutes.
func wantShortLived(t *testing.T, before map[string]int64) {
	t.Helper()
	fresh := storedConnections(t)
	maps.DeleteFunc(fresh, func(key string, _ int64) bool { _, old := before[key]; return old })
	if len(fresh) != 1 {
		t.Errorf("%d connections more are stored", len(fresh))
	}
	for _, expires := range fresh {
		if limit := time.Now().Add(10 * time.Minute).UnixMilli(); expires == 0 || expires > limit {
			t.Errorf("a connection stays until %d, want %d at most", expires, limit)
		}
	}
}

// TestRefusedThenTheNextMethod shows that who isn't provisioned is told which method refused him and what comes next,
// that the server is asked about him once, and that the next method takes him in.
func TestRefusedThenTheNextMethod(t *testing.T) {
	for name, use := range vouchings {
		t.Run(name, func(t *testing.T) {
			server := use(t, map[string]any{"signinfallbacks": "password"})
			account := newAccount(t)
			client := site.Plugin(account)
			for range 5 {
				_, err := client.List(t.Context(), in("/"))
				wantProblem(t, err, "not_connected", http.StatusFailedDependency)
			}
			if got := server.asked(server.front.Counts()); got != 1 {
				t.Errorf("the server was asked %d times about somebody whom it refuses", got)
			}
			connection, err := client.Connection(t.Context())
			must(t, err)
			if connection.Refused == nil || connection.Refused.Method != server.method || connection.Refused.Reason == "" ||
				connection.Automatic || connection.Method != "password" || !slices.Contains(connection.Methods, server.method) {
				t.Errorf("the connection is %+v, refused %+v", connection, connection.Refused)
			}
			_, err = client.ConnectWithPassword(t.Context(), "bob", stack.HostPassword("bob"))
			must(t, err)
			_, err = client.List(t.Context(), in("/"))
			must(t, err)

			// Somebody else is let in as before, and the refused one once he is provisioned and asks for it.
			other := newAccount(t)
			must(t, server.link(other, "alice"))
			_, err = site.Plugin(other).List(t.Context(), in("/"))
			must(t, err)
			must(t, client.Disconnect(t.Context()))
			must(t, server.link(account, "alice"))
			connected, err := client.ConnectAutomatically(t.Context())
			if problem := api.AsProblem(err); problem != nil {
				t.Fatal(problem)
			}
			if connected.State != "connected" || connected.Grant != server.method {
				t.Errorf("after he was provisioned, the connection is %+v", connected)
			}
		})
	}
}

// TestRefusedThenSignIn has the user whom the exchange refuses sign in at the same server.
func TestRefusedThenSignIn(t *testing.T) {
	server := useExchange(t, map[string]any{"signinfallbacks": "oauth"})
	account := newAccount(t)
	client := site.Plugin(account)
	_, err := client.List(t.Context(), in("/"))
	if problem := wantProblem(t, err, "not_connected", http.StatusFailedDependency); problem.Message == "" {
		t.Error("nothing is said of why")
	}
	must(t, site.Connect(t.Context(), account, "bob"))
	connection, err := client.Connection(t.Context())
	must(t, err)
	if connection.Grant != "authorization_code" || connection.Account != "bob" {
		t.Errorf("the connection is %+v", connection)
	}
	if counts := server.front.Counts(); counts.Exchanges != 1 || counts.Codes != 1 {
		t.Errorf("the server was asked %+v", counts)
	}
}

// TestOnlyThoseWhomTheAdminLets shows that nobody is named to the sign-in server whose password account proves nothing of
// the name that he would be known by.
func TestOnlyThoseWhomTheAdminLets(t *testing.T) {
	for name, settings := range map[string]map[string]any{
		"an email that nobody proved":       {"subjectclaim": "email", "subjectservice": "saml"},
		"a user name of a password account": {"subjectclaim": "username", "subjectservice": "ldap"},
		"no id at the single sign-on":       {"subjectclaim": "auth_data", "subjectservice": "openid"},
	} {
		t.Run(name, func(t *testing.T) {
			server := useExchange(t, settings)
			account := newAccount(t)
			server.host.Link(account.ID, "alice")
			server.host.Link(account.Username, "alice")
			server.host.Link(account.Username+"@example.com", "alice")
			_, err := site.Plugin(account).List(t.Context(), in("/"))
			wantProblem(t, err, "not_connected", http.StatusFailedDependency)
			if counts := server.front.Counts(); counts.Exchanges != 0 {
				t.Errorf("the server was asked %+v", counts)
			}
		})
	}
}

// TestOnlyTheTeam shows that nobody is named to the sign-in server who is not in the team, and that who leaves it is out
// at his next request, though his token is still good.
func TestOnlyTheTeam(t *testing.T) {
	teamID, err := site.Admin.CreateTeam(t.Context(), "vouched-for")
	must(t, err)
	server := useExchange(t, map[string]any{"automaticfor": "team:vouched-for"})
	account := newAccount(t)
	must(t, server.link(account, "alice"))
	client := site.Plugin(account)
	_, err = client.List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", http.StatusFailedDependency)
	if counts := server.front.Counts(); counts.Exchanges != 0 {
		t.Errorf("the server was asked %+v", counts)
	}
	must(t, site.Admin.JoinTeam(t.Context(), teamID, account))
	_, err = client.ConnectAutomatically(t.Context())
	must(t, err)
	_, err = client.List(t.Context(), in("/"))
	must(t, err)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete,
		site.Mattermost.URL+"/api/v4/teams/"+teamID+"/members/"+account.ID, nil)
	must(t, err)
	response, err := site.Admin.Send(request)
	must(t, err)
	must(t, response.Body.Close())
	eventually(t, "who left the team is out", func() bool {
		_, err := client.List(t.Context(), in("/"))
		return err != nil
	})
	_, err = client.List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", http.StatusFailedDependency)
	if counts := server.front.Counts(); counts.Exchanges != 1 {
		t.Errorf("the server was asked %+v", counts)
	}
}

// TestTheSingleSignOnVouches names users by what the company's single sign-on has said of them: all of it counts for its
// own accounts, none of it for those of another service.
func TestTheSingleSignOnVouches(t *testing.T) {
	subjects := map[string]func(account *stack.Account, authData string) string{
		"auth_data": func(_ *stack.Account, authData string) string { return authData },
		"email":     func(account *stack.Account, _ string) string { return account.Username + "@example.com" },
		"username":  func(account *stack.Account, _ string) string { return account.Username },
	}
	for claim, subject := range subjects {
		t.Run(claim, func(t *testing.T) {
			server := useExchange(t, map[string]any{"subjectclaim": claim, "subjectservice": "saml"})
			ours, others := newAccount(t), newAccount(t)
			for account, service := range map[*stack.Account]string{ours: "saml", others: "ldap"} {
				authData := "id of " + account.Username
				must(t, site.Admin.Post(t.Context(), "/api/v4/users/"+account.ID+"/email/verify/member", nil, nil))
				must(t, site.Admin.Put(t.Context(), "/api/v4/users/"+account.ID+"/auth",
					map[string]string{"auth_service": service, "auth_data": authData}, nil))
				server.host.Link(subject(account, authData), "alice")
			}
			_, err := site.Plugin(ours).List(t.Context(), in("/"))
			must(t, err)
			_, err = site.Plugin(others).List(t.Context(), in("/"))
			wantProblem(t, err, "not_connected", http.StatusFailedDependency)
			if got := server.front.Counts().Exchanges; got != 1 {
				t.Errorf("%d requests for access, want 1", got)
			}
		})
	}
	t.Run("a user id at Zitadel", func(t *testing.T) {
		server := useZitadelUserID(t, map[string]any{"subjectclaim": "auth_data", "subjectservice": "openid"})
		account := newAccount(t)
		must(t, site.Admin.Put(t.Context(), "/api/v4/users/"+account.ID+"/auth",
			map[string]string{"auth_service": "openid", "auth_data": "321654987"}, nil))
		server.host.Identify("321654987", "alice")
		_, err := site.Plugin(account).List(t.Context(), in("/"))
		must(t, err)
	})
}

// TestDisconnectedStaysSo shows that who disconnects is not connected again without his asking for it.
func TestDisconnectedStaysSo(t *testing.T) {
	server := useExchange(t, nil)
	account := newAccount(t)
	must(t, server.link(account, "alice"))
	client := site.Plugin(account)
	_, err := client.List(t.Context(), in("/"))
	must(t, err)
	must(t, client.Disconnect(t.Context()))
	before := server.front.Counts().Exchanges
	for range 3 {
		_, err = client.List(t.Context(), in("/"))
		wantProblem(t, err, "not_connected", http.StatusFailedDependency)
	}
	if got := server.front.Counts().Exchanges; got != before {
		t.Errorf("after disconnecting, %d requests for access", got-before)
	}
	_, err = client.ConnectAutomatically(t.Context())
	must(t, err)
	_, err = client.List(t.Context(), in("/"))
	must(t, err)
}

// TestTheAdminsMistakesRefuseNobody shows that what is wrong with the settings is the admin's to learn: users are told to
// ask him, and get in as soon as it is right.
func TestTheAdminsMistakesRefuseNobody(t *testing.T) {
	for name, wrong := range map[string]map[string]any{
		"client secret": {"oauthclientsecret": strings.Repeat("wrong", 8)},
		"audience":      {"exchangeaudience": "payroll"},
		"resource":      {"exchangeresource": "https://payroll.example"},
	} {
		t.Run(name, func(t *testing.T) {
			server := useExchange(t, wrong)
			account := newAccount(t)
			must(t, server.link(account, "alice"))
			client := site.Plugin(account)
			_, err := client.List(t.Context(), in("/"))
			if err == nil {
				t.Fatal("it works all the same")
			}
			connection, err := client.Connection(t.Context())
			must(t, err)
			if connection.Refused != nil {
				t.Errorf("the user was refused: %+v", connection.Refused)
			}
			configure(t, map[string]any{
				"oauthclientsecret": exchangeSecret, "exchangeaudience": embedded.Audience, "exchangeresource": server.host.URL(),
			})
			_, err = client.List(t.Context(), in("/"))
			must(t, err)
		})
	}
}

// TestAnOutageRefusesNobody shows that a sign-in server that fails for a moment, or throttles, has refused nobody.
func TestAnOutageRefusesNobody(t *testing.T) {
	for name, fault := range map[string]signin.Fault{
		"it fails":           {Status: http.StatusInternalServerError},
		"its answer is lost": {Lose: true},
		"it has no answer":   {Answer: func(answer map[string]any) { clear(answer) }},
		"another type":       {Answer: func(answer map[string]any) { answer["issued_token_type"] = "urn:ietf:params:oauth:token-type:id_token" }},
		"another scheme":     {Answer: func(answer map[string]any) { answer["token_type"] = "N_A" }},
	} {
		t.Run(name, func(t *testing.T) {
			server := useExchange(t, nil)
			account := newAccount(t)
			must(t, server.link(account, "alice"))
			client := site.Plugin(account)
			mend := server.front.Break(fault)
			_, err := client.List(t.Context(), in("/"))
			wantProblem(t, err, "host_unavailable", http.StatusBadGateway)
			connection, err := client.Connection(t.Context())
			must(t, err)
			if connection.Refused != nil || connection.State != "not_connected" {
				t.Errorf("the connection is %+v, refused %+v", connection, connection.Refused)
			}
			mend()
			_, err = client.List(t.Context(), in("/"))
			must(t, err)
			if counts := server.front.Counts(); counts.Replays != 0 {
				t.Errorf("the server was asked %+v", counts)
			}
		})
	}
}

// TestAnActorWithoutTheRight has Zitadel's own answer to who may not act for others: its library has another.
func TestAnActorWithoutTheRight(t *testing.T) {
	server := useZitadelUserID(t, map[string]any{"signinfallbacks": "password"})
	account := newAccount(t)
	must(t, server.link(account, "alice"))
	client := site.Plugin(account)
	defer server.front.Break(signin.Fault{Status: http.StatusForbidden, Error: "invalid_request"})()
	for range 3 {
		_, err := client.List(t.Context(), in("/"))
		wantProblem(t, err, "not_connected", http.StatusFailedDependency)
	}
	connection, err := client.Connection(t.Context())
	must(t, err)
	if connection.Refused == nil || connection.Method != "password" {
		t.Errorf("the connection is %+v", connection)
	}
	if got := server.front.Counts().Exchanges; got != 1 {
		t.Errorf("%d requests for access, want 1", got)
	}
}
