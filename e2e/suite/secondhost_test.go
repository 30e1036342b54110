package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

const apacheUser, apachePassword = "dora", "pass:word ü"

// useApache has the plugin work with a WebDAV server of quite another make for one test, and gives
// a user who is not connected there.
func useApache(t *testing.T) (*stack.WebServer, api.Client) {
	t.Helper()
	apache, err := stack.StartApache(t.Context(), apacheUser, apachePassword, sample.WriteSmall)
	if apache != nil {
		t.Cleanup(func() {
			if err := apache.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	must(t, err)
	configure(t, map[string]any{"hostkind": "webdav", "hosturl": apache.URL, "signin": "password", "oauthissuer": ""})
	return apache, site.Plugin(newAccount(t))
}

// TestApache does the main job there, with a password.
func TestApache(t *testing.T) {
	_, client := useApache(t)
	_, err := client.Authorize(t.Context())
	wantProblem(t, err, "unsupported", 422)
	_, err = client.ConnectWithPassword(t.Context(), apacheUser, "wrong")
	if err == nil {
		t.Error("a wrong password was good")
	}
	connection, err := client.ConnectWithPassword(t.Context(), apacheUser, apachePassword)
	must(t, err)
	if connection.State != "connected" || connection.Method != "password" || connection.Account != apacheUser {
		t.Errorf("the connection is %+v", connection)
	}

	// Who is connected to the other host must not send its credential here.
	_, err = site.Plugin(site.User).List(t.Context(), in("/"))
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

// TestApacheFreshFile attaches a file that was written a moment ago: Apache calls its ETag weak, and
// a second later strong, though nothing has changed.
func TestApacheFreshFile(t *testing.T) {
	apache, client := useApache(t)
	_, err := client.ConnectWithPassword(t.Context(), apacheUser, apachePassword)
	must(t, err)
	const name, content = "fresh.txt", "written a moment ago"
	file := filepath.Join(apache.Dir(), name)
	listed := func() api.Item {
		page, err := client.List(t.Context(), in("/", "type", "file"))
		must(t, err)
		for _, entry := range page.Entries {
			if entry.Name == name {
				return api.Item{Path: entry.Path, ETag: entry.ETag}
			}
		}
		t.Fatal("the file isn't listed")
		return api.Item{}
	}
	wantAttached := func(item api.Item) {
		t.Helper()
		attached, err := client.Attach(t.Context(), api.Attachment{ChannelID: site.ChannelID, Items: []api.Item{item}})
		must(t, err)
		if got := string(download(t, attached.Items[0].FileID)); got != content {
			t.Errorf("it arrived as %q", got)
		}
	}
	weak := func(item api.Item) bool { return strings.HasPrefix(item.ETag, "W/") }
	var fresh api.Item
	eventually(t, "the file is listed while it is fresh", func() bool {
		must(t, os.WriteFile(file, []byte(content), 0o644))
		fresh = listed()
		return weak(fresh)
	})
	wantAttached(fresh)
	eventually(t, "the ETag is strong", func() bool { return !weak(listed()) })
	wantAttached(fresh)
	wantAttached(listed())
}
