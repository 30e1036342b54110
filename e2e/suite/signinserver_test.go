package suite

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/embedded"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/signin"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// useSignInServer has the plugin work, for one test, with a host of the test's own that takes the tokens of the sign-in
// server of that name, and with these settings. Whatever secret passes the server must not be in the log afterwards.
func useSignInServer(t *testing.T, name string, settings map[string]any) (*embedded.Host, *stack.SignInServer) {
	t.Helper()
	server, err := stack.StartSignInServer(t.Context(), name, stack.SignInConfig{
		Users: []string{"alice", "bob"}, RedirectURI: site.BaseURL() + "/connection/callback/default", Trusted: site.BaseURL(),
	})
	must(t, err)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	host := startEmbedded(t, hosts.Config{Verify: server.User})
	all := host.Settings()
	maps.Copy(all, server.Settings())
	maps.Copy(all, settings)
	configure(t, all)
	t.Cleanup(func() { wantUnlogged(t, append(server.Secrets(), server.ClientSecret)) })
	return host, server
}

// startEmbedded starts a host of alice and bob, the former with a few files.
func startEmbedded(t *testing.T, cfg hosts.Config) *embedded.Host {
	t.Helper()
	cfg.Root = t.TempDir()
	for _, name := range []string{"alice", "bob"} {
		cfg.Users = append(cfg.Users, hosts.User{Name: name, Password: stack.HostPassword(name)})
	}
	host, err := embedded.Start(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	must(t, sample.WriteSmall(host.Dir("alice")))
	return host
}

// wantUnlogged wants none of the secrets in the server's log.
func wantUnlogged(t *testing.T, secrets []string) {
	t.Helper()
	log, err := os.ReadFile(site.Mattermost.LogFile())
	must(t, err)
	for _, secret := range secrets {
		if secret != "" && strings.Contains(string(log), secret) {
			t.Errorf("the server's log holds a secret: %s", secret)
		}
	}
}

// connectAt signs a new user in at the sign-in server as alice.
func connectAt(t *testing.T) *stack.Account {
	t.Helper()
	account := newAccount(t)
	must(t, site.Connect(t.Context(), account, "alice"))
	return account
}

// TestOIDCProvider signs in at a server that wants PKCE and sends iss, and refreshes there: each refresh token is good
// once, and none is sent twice.
func TestOIDCProvider(t *testing.T) {
	host, server := useSignInServer(t, "oidc-provider", nil)
	check := ""
	eventually(t, "the token endpoint is checked", func() bool {
		check = checkStatus(adminHealth(t), "token_endpoint")
		return check != ""
	})
	if check != "pass" {
		t.Errorf("before anybody signed in, the token endpoint's check is %q", check)
	}
	account := connectAt(t)
	client := site.Plugin(account)
	const refreshes = 5
	for range refreshes {
		host.ExpireAccessTokens("alice")
		_, err := client.List(t.Context(), in("/"))
		must(t, err)
	}
	attached, err := client.Attach(t.Context(), copies("/Welcome.txt"))
	must(t, err)
	if attached.Items[0].Error != nil {
		t.Errorf("attached %+v", attached.Items[0])
	}
	counts := server.Counts()
	if counts.Codes != 1 || counts.Refreshes != refreshes || counts.Replays != 0 {
		t.Errorf("the server was asked %+v", counts)
	}
	must(t, client.Disconnect(t.Context()))
	tokens := server.AccessTokens()
	if user, ok := server.User(t.Context(), tokens[len(tokens)-1]); ok {
		t.Errorf("after disconnecting, the last access token is still %s's", user)
	}
}

// onBothNodes is the plugin's API as the account on each of two nodes, once both run with the same settings.
func onBothNodes(t *testing.T, account *stack.Account) []api.Client {
	t.Helper()
	first, second := site.Plugin(account), secondNode(t).Plugin(account)
	want, err := first.Connection(t.Context())
	must(t, err)
	eventually(t, "the second node has the settings of the first", func() bool {
		got, err := second.Connection(t.Context())
		return err == nil && got.Host.Name == want.Host.Name
	})
	return []api.Client{first, second}
}

// listAtOnce lists as so many callers on each node at the same time.
func listAtOnce(t *testing.T, nodes []api.Client, callers int) {
	t.Helper()
	var all sync.WaitGroup
	for _, client := range nodes {
		for range callers {
			all.Go(func() {
				if _, err := client.List(t.Context(), in("/")); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
}

// TestRotationUnderManyCallers shows that callers on two nodes who come at once with a dead access token spend one refresh
// token, once: a second use would end the whole family.
func TestRotationUnderManyCallers(t *testing.T) {
	host, server := useSignInServer(t, "oidc-provider", nil)
	nodes := onBothNodes(t, connectAt(t))
	listAtOnce(t, nodes, 1)
	const rounds, callers = 10, 20
	for range rounds {
		host.ExpireAccessTokens("alice")
		listAtOnce(t, nodes, callers)
	}
	if counts := server.Counts(); counts.Refreshes != rounds || counts.Replays != 0 {
		t.Errorf("the server was asked %+v", counts)
	}
}

// TestRevokedFamily shows that a family of refresh tokens that a thief's replay has ended is asked about once, and then
// its user is asked to connect again.
func TestRevokedFamily(t *testing.T) {
	host, server := useSignInServer(t, "oidc-provider", nil)
	client := site.Plugin(connectAt(t))
	host.ExpireAccessTokens("alice")
	_, err := client.List(t.Context(), in("/"))
	must(t, err)
	var spent string
	for _, request := range server.TokenRequests() {
		if token := request.Get("refresh_token"); token != "" {
			spent = token
		}
	}
	replay(t, server, spent)
	before := server.Counts()
	for range 5 {
		_, err = client.List(t.Context(), in("/"))
		wantProblem(t, err, "not_connected", 424)
	}
	after := server.Counts()
	if after.Refreshes != before.Refreshes+1 || after.Replays != before.Replays {
		t.Errorf("after the theft the server was asked %+v, before %+v", after, before)
	}
	connection, err := client.Connection(t.Context())
	must(t, err)
	if connection.State != "reconnect" {
		t.Errorf("the connection is %+v", connection)
	}
}

// replay sends a refresh token as a thief does who has the client's secret as well.
func replay(t *testing.T, server *stack.SignInServer, token string) {
	t.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.Issuer+"/token", strings.NewReader(form.Encode()))
	must(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(server.ClientID, server.ClientSecret)
	response, err := new(http.Client).Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusBadRequest {
		t.Fatalf("the replay got %s", response.Status)
	}
}

// TestForgedCallbacks shows that a sign-in ends, and its code is not spent, when the browser comes back from a server
// that says to be another or nothing at all (RFC 9207 2.4).
func TestForgedCallbacks(t *testing.T) {
	_, server := useSignInServer(t, "oidc-provider", nil)
	for name, change := range map[string]func(url.Values){
		"another iss":    func(query url.Values) { query.Set("iss", "https://attacker.example") },
		"no iss":         func(query url.Values) { query.Del("iss") },
		"iss and a path": func(query url.Values) { query.Set("iss", server.Issuer+"/") },
	} {
		t.Run(name, func(t *testing.T) {
			defer server.Break(signin.Fault{Callback: change})()
			account := newAccount(t)
			before := server.Counts().TokenRequests
			wantFailedPage(t, account.Browser, signInUpTo(t, account), http.StatusBadRequest)
			if got := server.Counts().TokenRequests; got != before {
				t.Error("the code reached the token endpoint")
			}
			if got := state(t, account); got != "not_connected" {
				t.Errorf("the user is %s", got)
			}
		})
	}
}

// forgeries are ID tokens that must not be believed, made of a good one (OpenID Connect Core 3.1.3.7, RFC 8725).
func forgeries(t *testing.T, server *stack.SignInServer) map[string]func(string) (string, error) {
	t.Helper()
	other, err := signin.NewKey()
	must(t, err)
	other.ID = server.Key.ID
	public, err := server.Key.PublicPEM()
	must(t, err)
	claim := func(name string, value any) func(string) (string, error) {
		return func(token string) (string, error) {
			return server.Key.Resign(token, func(claims map[string]any) {
				if claims[name] = value; value == nil {
					delete(claims, name)
				}
			})
		}
	}
	unchanged := func(map[string]any) {}
	return map[string]func(string) (string, error){
		"another nonce":            claim("nonce", "AAAAAAAAAAAAAAAAAAAAAA"),
		"no nonce":                 claim("nonce", nil),
		"another issuer":           claim("iss", "https://attacker.example"),
		"another audience":         claim("aud", "another client"),
		"an azp of another client": claim("azp", "another client"),
		"audiences, and no azp":    claim("aud", []string{server.ClientID, "another client"}),
		"expired":                  claim("exp", time.Now().Add(-10*time.Minute).Unix()),
		"issued in the far future": claim("iat", time.Now().Add(time.Hour).Unix()),
		"no subject":               claim("sub", nil),
		"another access token":     claim("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"),
		"signed with another key":  func(token string) (string, error) { return other.Resign(token, unchanged) },
		"signed by nobody":         signin.Unsign,
		"signed with the secret": func(token string) (string, error) {
			return server.Key.ResignWithSecret(token, []byte(server.ClientSecret))
		},
		"signed with the public key": func(token string) (string, error) { return server.Key.ResignWithSecret(token, public) },
		"missing":                    func(string) (string, error) { return "", nil },
	}
}

// wantNothingOfASignIn signs in, and wants the page to say that it has failed, the user not to be connected, and the tokens that
// came to be revoked.
func wantNothingOfASignIn(t *testing.T, server *stack.SignInServer, account *stack.Account) {
	t.Helper()
	response, page := open(t, account.Browser, signInUpTo(t, account))
	if !strings.HasSuffix(response.Request.URL.Path, "/api/connection/failed") {
		t.Errorf("the sign-in ends at %s: %s", response.Request.URL, page)
	}
	if got := state(t, account); got != "not_connected" {
		t.Errorf("the user is %s", got)
	}
	tokens := server.AccessTokens()
	eventually(t, "the tokens are revoked", func() bool {
		_, good := server.User(context.WithoutCancel(t.Context()), tokens[len(tokens)-1])
		return !good
	})
}

// TestForgedIDTokens shows that none of them connects anybody, and that the tokens that came with one are revoked.
func TestForgedIDTokens(t *testing.T) {
	_, server := useSignInServer(t, "oidc-provider", nil)
	for name, forge := range forgeries(t, server) {
		t.Run(name, func(t *testing.T) {
			defer server.Break(signin.Fault{Answer: func(answer map[string]any) {
				genuine, _ := answer["id_token"].(string)
				forged, err := forge(genuine)
				if err != nil {
					t.Error(err)
				}
				if answer["id_token"] = forged; forged == "" {
					delete(answer, "id_token")
				}
			}})()
			wantNothingOfASignIn(t, server, newAccount(t))
		})
	}
	// The same change of nothing is believed: it is not the forging that is refused.
	t.Run("genuine", func(t *testing.T) {
		defer server.Break(signin.Fault{Answer: func(answer map[string]any) {
			genuine, _ := answer["id_token"].(string)
			resigned, err := server.Key.Resign(genuine, func(map[string]any) {})
			if err != nil {
				t.Error(err)
			}
			answer["id_token"] = resigned
		}})()
		connectAt(t)
	})
}

// TestLostAnswer loses the answer to a refresh, which the server has given. The token that was sent may be tried once
// more, which ends its family; then the user is asked to connect again, and nothing is sent any more.
func TestLostAnswer(t *testing.T) {
	host, server := useSignInServer(t, "oidc-provider", nil)
	client := site.Plugin(connectAt(t))
	host.ExpireAccessTokens("alice")
	mend := server.Break(signin.Fault{Lose: true})
	_, err := client.List(t.Context(), in("/"))
	if err == nil {
		t.Fatal("the list works without the answer")
	}
	mend()
	eventually(t, "the user is asked to connect again", func() bool {
		_, _ = client.List(t.Context(), in("/"))
		connection, err := client.Connection(t.Context())
		return err == nil && connection.State == "reconnect"
	})
	before := server.Counts()
	if before.Replays > 1 {
		t.Errorf("the refresh token was sent %d times", 1+before.Replays)
	}
	for range 3 {
		_, err = client.List(t.Context(), in("/"))
		wantProblem(t, err, "not_connected", 424)
	}
	if after := server.Counts(); after != before {
		t.Errorf("then the server was asked %+v, before %+v", after, before)
	}
}
