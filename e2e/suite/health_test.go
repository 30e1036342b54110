package suite

import (
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

func TestHealthDepths(t *testing.T) {
	configure(t, nil) // what tests before have met is forgotten
	eventually(t, "all checks pass", func() bool { return adminHealth(t).Status == "pass" })
	nobody, err := site.Plugin(nil).Health(t.Context())
	must(t, err)
	if nobody.Status != "pass" || nobody.Connection != nil || nobody.Checks != nil || nobody.Version+nobody.Mattermost != "" {
		t.Errorf("nobody sees %+v", nobody)
	}
	user, err := site.Plugin(site.User).Health(t.Context())
	must(t, err)
	if user.Status != "pass" || user.Connection == nil || user.Connection.State != "connected" || user.Checks != nil || user.Version+user.Mattermost != "" {
		t.Errorf("a user sees %+v", user)
	}
	admin, err := site.Plugin(site.Admin).Health(t.Context())
	must(t, err)
	for _, name := range []string{"configuration", "key", "kv_store", "host", "token_endpoint", "transfers", "bot"} {
		if check := admin.Checks[name]; len(check) == 0 || check[0].Status != "pass" || check[0].Latency == nil || check[0].Time.IsZero() {
			t.Errorf("an admin sees the check %s as %+v", name, check)
		}
	}
	var server struct{ Version string }
	must(t, site.Admin.Get(t.Context(), "/api/v4/config/client?format=old", &server))
	if admin.Version == "" || server.Version == "" || admin.Mattermost != server.Version {
		t.Errorf("an admin sees the versions %q and %q, the server's is %q", admin.Version, admin.Mattermost, server.Version)
	}
}

// TestHealthCallsNobody shows that asking for health starts nothing at the host.
func TestHealthCallsNobody(t *testing.T) {
	// The checks in the background ask the host every ten seconds, which may fall into one round.
	const rounds = 3
	client := site.Plugin(nil)
	var before, after hosts.Counts
	for range rounds {
		before = site.Host.Counts()
		for range 50 {
			_, err := client.Health(t.Context())
			must(t, err)
		}
		if after = site.Host.Counts(); after == before {
			return
		}
	}
	t.Errorf("the host was asked each time, at last from %+v to %+v", before, after)
}
