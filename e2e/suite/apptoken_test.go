package suite

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// useAppTokens has the plugin work with an OpenCloud of the test's own, which makes app tokens. One user of Mattermost has an
// account there, whose name is his id, and another has none.
func useAppTokens(t *testing.T, changed map[string]any) (host *doubles.OpenCloud, known, stranger *stack.Account) {
	t.Helper()
	known, stranger = newAccount(t), newAccount(t)
	host, err := doubles.StartOpenCloud(t.Context(), hosts.Config{
		Root: t.TempDir(), ClientID: "mattermost", ClientSecret: "nobody's", RedirectURIs: []string{site.BaseURL() + "/connection/callback/default"},
		Users: []hosts.User{
			{Name: known.ID, Password: stack.HostPassword(known.ID)},
			{Name: "admin", Password: stack.HostPassword("admin"), Admin: true},
		},
	})
	must(t, err)
	t.Cleanup(func() {
		if surprises := host.Surprises(); len(surprises) > 0 {
			t.Errorf("OpenCloud is surprised by %q", surprises)
		}
		must(t, host.Close())
	})
	host.SetImpersonation(true)
	must(t, sample.WriteSmall(host.Dir(known.ID)))
	settings := host.Settings()
	for name, value := range changed {
		settings[name] = value
	}
	configure(t, settings)
	return host, known, stranger
}

// TestAppTokenWithoutSigningIn gives users access by app tokens that an administrator's account makes: one for both nodes,
// none for who has no account, and nothing is left after a disconnect.
func TestAppTokenWithoutSigningIn(t *testing.T) {
	node := secondNode(t)
	host, known, stranger := useAppTokens(t, map[string]any{
		"signin": "app_token", "automaticfor": "everyone", "subjectclaim": "user_id",
		"serviceaccountuser": "admin", "serviceaccountsecret": stack.HostPassword("admin"),
	})
	page, err := site.Plugin(known).List(t.Context(), in("/"))
	must(t, err)
	if len(page.Entries) == 0 {
		t.Error("the folder is empty")
	}
	_, err = node.Plugin(known).Attach(t.Context(), copies("/"+known.ID+"/Welcome.txt"))
	must(t, err)
	if got := host.AppTokens(known.ID); got != 1 {
		t.Errorf("%d app tokens, want 1", got)
	}
	connection, err := site.Plugin(known).Connection(t.Context())
	must(t, err)
	if connection.State != "connected" || connection.Grant != "app_token" || connection.Account != known.ID {
		t.Errorf("connected as %+v", connection)
	}
	_, err = site.Plugin(stranger).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", http.StatusFailedDependency)

	must(t, node.Plugin(known).Disconnect(t.Context()))
	if left := host.AppTokens(known.ID); left != 0 {
		t.Errorf("%d app tokens are left", left)
	}
	_, err = site.Plugin(known).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", http.StatusFailedDependency)
	if made := host.AppTokens(known.ID); made != 0 {
		t.Error("who has disconnected was connected again")
	}
}

// TestAppTokenWithoutImpersonation is for the admin to mend, and refuses nobody for longer than that takes.
func TestAppTokenWithoutImpersonation(t *testing.T) {
	host, known, _ := useAppTokens(t, map[string]any{
		"signin": "app_token", "automaticfor": "everyone", "subjectclaim": "user_id",
		"serviceaccountuser": "admin", "serviceaccountsecret": stack.HostPassword("admin"),
	})
	host.SetImpersonation(false)
	_, err := site.Plugin(known).List(t.Context(), in("/"))
	wantProblem(t, err, "not_configured", http.StatusServiceUnavailable)
	host.SetImpersonation(true)
	_, err = site.Plugin(known).List(t.Context(), in("/"))
	must(t, err)
}

// TestTypedAppToken connects by an app token that a user has made himself, and ends it with the connection.
func TestTypedAppToken(t *testing.T) {
	host, known, _ := useAppTokens(t, map[string]any{"signin": "password"})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, host.Origin()+"/auth-app/tokens?expiry=72h", nil)
	must(t, err)
	request.SetBasicAuth(known.ID, stack.HostPassword(known.ID))
	person, err := stack.NewPerson(known.ID)
	must(t, err)
	response, err := person.Browser.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	var made struct{ Token string }
	must(t, json.NewDecoder(response.Body).Decode(&made))

	client := site.Plugin(known)
	_, err = client.ConnectWithPassword(t.Context(), known.ID, made.Token)
	must(t, err)
	_, err = client.List(t.Context(), in("/"))
	must(t, err)
	must(t, client.Disconnect(t.Context()))
	if left := host.AppTokens(known.ID); left != 0 {
		t.Errorf("%d app tokens are left", left)
	}
}
