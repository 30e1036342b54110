package suite

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// loginFlowHost is a Nextcloud on which people connect by login flow.
type loginFlowHost struct {
	*doubles.Nextcloud
	account *stack.Account // of Mattermost, whose address is verified
}

// useLoginFlow has the plugin work with a Nextcloud of the test's own, and gives a user of Mattermost. There, nora has his
// address, and eve one of her own. Nora logs in by another name than her account's.
func useLoginFlow(t *testing.T) loginFlowHost {
	t.Helper()
	account := newAccount(t)
	must(t, site.Admin.VerifyEmail(t.Context(), account))
	host, err := doubles.StartNextcloud(t.Context(), hosts.Config{
		Root: t.TempDir(), ClientID: "mattermost", ClientSecret: "nobody's", RedirectURIs: []string{site.BaseURL() + "/connection/callback/default"},
		Users: []hosts.User{
			{Name: "nora", LoginName: "nora.e", DisplayName: "Nora Example", Password: stack.HostPassword("nora"), Email: account.Email()},
			{Name: "eve", Password: stack.HostPassword("eve"), Email: "eve@elsewhere.example"},
		},
	})
	must(t, err)
	t.Cleanup(func() {
		if surprises := host.Surprises(); len(surprises) > 0 {
			t.Errorf("Nextcloud is surprised by %q", surprises)
		}
		must(t, host.Close())
	})
	must(t, sample.WriteSmall(host.Dir("nora")))
	settings := host.Settings()
	settings["signin"] = "login_flow"
	configure(t, settings)
	return loginFlowHost{host, account}
}

// grant is a person of the host who opens the sign-in link.
func (h loginFlowHost) grant(t *testing.T, loginURL, user string) {
	t.Helper()
	person, err := stack.NewPerson(user)
	must(t, err)
	must(t, person.GrantLoginFlow(t.Context(), loginURL))
}

// show has the user sign in as nora, up to where he is shown whose account that is.
func (h loginFlowHost) show(t *testing.T, client api.Client) {
	t.Helper()
	login, err := client.BeginLoginFlow(t.Context())
	must(t, err)
	h.grant(t, login, "nora")
	wantPending(t, client, 20*time.Second)
}

// wantPending waits until the account is shown, and wants it to give access to nothing yet.
func wantPending(t *testing.T, client api.Client, most time.Duration) {
	t.Helper()
	var connection api.Connection
	eventuallyWithin(t, most, "the account is shown", func() bool {
		var err error
		connection, err = client.Connection(t.Context())
		must(t, err)
		return connection.Pending != nil
	})
	if connection.State != "not_connected" || connection.Pending.Account != "nora" || connection.Pending.DisplayName != "Nora Example" {
		t.Errorf("before the user has said anything: %+v, %+v", connection, connection.Pending)
	}
	_, err := client.List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", http.StatusFailedDependency)
}

// TestLoginFlow connects by Nextcloud's Login Flow v2: begun on one node, seen and accepted on the other. One app password
// comes of it, which ends with the connection.
func TestLoginFlow(t *testing.T) {
	node := secondNode(t)
	host := useLoginFlow(t)
	client := site.Plugin(host.account)
	events, err := site.Mattermost.Listen(t.Context(), host.account)
	must(t, err)
	defer func() { _ = events.Close() }()
	login, err := client.BeginLoginFlow(t.Context())
	must(t, err)
	host.grant(t, login, "nora")
	must(t, events.Next("custom_filehost-attach_connection", nil))
	wantPending(t, node.Plugin(host.account), 20*time.Second)

	connection, err := node.Plugin(host.account).Accept(t.Context(), true)
	must(t, err)
	if connection.State != "connected" || connection.Account != "nora" || connection.Grant != "login_flow" {
		t.Errorf("after it: %+v", connection)
	}
	page, err := client.List(t.Context(), in("/"))
	must(t, err)
	if len(page.Entries) == 0 {
		t.Error("the folder is empty")
	}
	if got := host.AppPasswords("nora"); got != 1 {
		t.Errorf("%d app passwords, want 1", got)
	}
	if got := host.FailedLogins(); got != 0 {
		t.Errorf("%d failed logins", got)
	}
	must(t, client.Disconnect(t.Context()))
	if left := host.AppPasswords("nora"); left != 0 {
		t.Errorf("%d app passwords are left", left)
	}
}

// TestLoginFlowSurvivesItsNode kills the plugin that polls. Another node ends the sign-in.
func TestLoginFlowSurvivesItsNode(t *testing.T) {
	host := useLoginFlow(t)
	node, err := site.AddNode(t.Context(), stack.NodeConfig{})
	must(t, err)
	login, err := node.Plugin(host.account).BeginLoginFlow(t.Context())
	must(t, err)
	eventually(t, "it is polled", func() bool { return host.Counts().Polls > 0 })
	processes, err := node.Processes()
	must(t, err)
	must(t, syscall.Kill(processes[stack.PluginID], syscall.SIGKILL))
	must(t, site.StopNode(node)) // so that its server doesn't start the plugin anew

	host.grant(t, login, "nora")
	client := site.Plugin(host.account)
	wantPending(t, client, 90*time.Second)
	_, err = client.Accept(t.Context(), true)
	must(t, err)
	_, err = client.List(t.Context(), in("/"))
	must(t, err)
	if got := host.AppPasswords("nora"); got != 1 {
		t.Errorf("%d app passwords, want 1", got)
	}
}

// TestLoginFlowOfSomebodyElse is a sign-in link that was sent to somebody else, who falls for it: her account is connected
// to nobody, and what the link has made is revoked.
func TestLoginFlowOfSomebodyElse(t *testing.T) {
	host := useLoginFlow(t)
	client := site.Plugin(host.account)
	login, err := client.BeginLoginFlow(t.Context())
	must(t, err)
	host.grant(t, login, "eve")
	eventually(t, "the user is told", func() bool {
		connection, err := client.Connection(t.Context())
		must(t, err)
		return connection.Refused != nil
	})
	connection, err := client.Connection(t.Context())
	must(t, err)
	told, err := json.Marshal(connection)
	must(t, err)
	if connection.Refused.Method != "login_flow" || !strings.Contains(connection.Refused.Reason, host.account.Email()) ||
		!strings.Contains(connection.Refused.Reason, "e…@elsewhere.example") || strings.Contains(string(told), "eve") {
		t.Errorf("the user is told %s", told)
	}
	eventually(t, "the app password is revoked", func() bool { return host.AppPasswords("eve") == 0 })
	_, err = client.Accept(t.Context(), true)
	wantProblem(t, err, "not_found", http.StatusNotFound)
}

// TestLoginFlowDeclined ends by the user's word, and by a later sign-in.
func TestLoginFlowDeclined(t *testing.T) {
	host := useLoginFlow(t)
	client := site.Plugin(host.account)
	host.show(t, client)
	_, err := client.Accept(t.Context(), false)
	must(t, err)
	if left := host.AppPasswords("nora"); left != 0 {
		t.Errorf("%d app passwords are left", left)
	}
	first, err := client.BeginLoginFlow(t.Context())
	must(t, err)
	_, err = client.BeginLoginFlow(t.Context())
	must(t, err)
	host.grant(t, first, "nora")
	eventually(t, "what the replaced sign-in gave is revoked", func() bool { return host.Counts().Revocations == 2 && host.AppPasswords("nora") == 0 })
	connection, err := client.Connection(t.Context())
	must(t, err)
	if connection.Pending != nil || connection.State != "not_connected" {
		t.Errorf("the replaced sign-in gave %+v", connection)
	}
	must(t, client.Disconnect(t.Context()))
}

// TestLoginFlowThatLeadsAway is a host whose answer sends the poll token, or the files, to another origin.
func TestLoginFlowThatLeadsAway(t *testing.T) {
	host := useLoginFlow(t)
	client := site.Plugin(host.account)
	host.SetLoginFlowOrigins("http://127.0.0.1:1", "")
	_, err := client.BeginLoginFlow(t.Context())
	wantProblem(t, err, "not_configured", http.StatusServiceUnavailable)
	host.SetLoginFlowOrigins("", "http://127.0.0.1:1")
	login, err := client.BeginLoginFlow(t.Context())
	must(t, err)
	host.grant(t, login, "nora")
	eventually(t, "what it gave is revoked", func() bool { return host.Counts().Revocations == 1 && host.AppPasswords("nora") == 0 })
}

// TestLoginFlowNeedsAVerifiedAddress refuses who could be anybody before he signs in for nothing.
func TestLoginFlowNeedsAVerifiedAddress(t *testing.T) {
	host := useLoginFlow(t)
	stranger, err := stack.CreateAccount(t.Context(), rest.New(site.Mattermost.URL, ""), "u"+strings.ToLower(rand.Text()[:12]))
	must(t, err)
	_, err = site.Plugin(stranger).BeginLoginFlow(t.Context())
	wantProblem(t, err, "forbidden", http.StatusForbidden)
	if got := host.Counts().Polls; got != 0 {
		t.Errorf("%d polls", got)
	}
}
