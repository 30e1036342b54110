package suite

import (
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// TestApache does the main job against a WebDAV server of quite another make, with a password.
func TestApache(t *testing.T) {
	const user, password = "dora", "pass:word ü"
	apache, err := stack.StartApache(t.Context(), user, password, sample.WriteSmall)
	if apache != nil {
		t.Cleanup(func() {
			if err := apache.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	must(t, err)
	configure(t, map[string]any{"hosturl": apache.URL, "signin": "password", "oauthissuer": ""})
	account := newAccount(t)
	client := as(t, account)

	_, err = client.Authorize(t.Context())
	wantProblem(t, err, "unsupported", 422)
	_, err = client.ConnectWithPassword(t.Context(), user, "wrong")
	if err == nil {
		t.Error("a wrong password was good")
	}
	connection, err := client.ConnectWithPassword(t.Context(), user, password)
	must(t, err)
	if connection.State != "connected" || connection.Method != "password" || connection.Account != user {
		t.Errorf("the connection is %+v", connection)
	}

	// Who is connected to the embedded host must not send its credential here.
	_, err = as(t, site.User).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)

	page, err := client.List(t.Context(), in(sample.HostileFolder))
	must(t, err)
	if len(page.Entries) != len(sample.HostileNames) {
		t.Errorf("listed %q", names(page.Entries))
	}
	for _, entry := range page.Entries {
		attached, err := client.Attach(t.Context(), copies(entry.Path))
		if err != nil {
			t.Errorf("%q: %v", entry.Name, err)
			continue
		}
		if content := string(download(t, attached.Items[0].FileID)); sample.HostileFolder+"/"+content != entry.Path {
			t.Errorf("%q has the content %q", entry.Path, content)
		}
	}
	must(t, client.Disconnect(t.Context()))
	_, err = client.List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
}
