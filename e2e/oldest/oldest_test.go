// Package oldest tries the plugin on the oldest Mattermost that it supports.
package oldest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/embedded"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// readSeconds is how long this server gives a request, which is less than its default of 300.
const readSeconds = 12

// TestOldest shares one server among all that is tried on it.
func TestOldest(t *testing.T) {
	bundle := os.Getenv("FILEHOST_ATTACH_BUNDLE")
	if bundle == "" {
		t.Fatal("FILEHOST_ATTACH_BUNDLE must name the plugin's bundle; `make e2e` builds it and sets this")
	}
	site, err := stack.Up(t.Context(), stack.Config{
		Version: "9.9", Dir: t.TempDir(), Bundle: bundle, Scanner: true, Tree: sample.WriteSmall, ReadSeconds: readSeconds,
		Say: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	must(t, err)
	t.Cleanup(func() { must(t, site.Down()) })
	must(t, site.Connect(t.Context(), site.User, "alice"))
	t.Run("the main job", func(t *testing.T) { testMainJob(t, site) })
	t.Run("a source slower than the server's patience", func(t *testing.T) { testSlowSource(t, site) })
}

// testMainJob lists, attaches, and asks for the health.
func testMainJob(t *testing.T, site *stack.Stack) {
	client := site.Plugin(site.User)
	page, err := client.List(t.Context(), url.Values{"path": {sample.HostileFolder}})
	must(t, err)
	if len(page.Entries) != len(sample.HostileNames) {
		t.Errorf("listed %d entries", len(page.Entries))
	}
	attached, err := client.Attach(t.Context(), api.Attachment{ChannelID: site.ChannelID, Items: []api.Item{
		{Path: sample.KindsFolder + "/" + sample.PartFile},
		{Path: sample.KindsFolder + "/" + sample.SVGFile},
		{ID: page.Entries[0].ID},
	}})
	must(t, err)
	for _, item := range attached.Items {
		if item.Error != nil {
			t.Errorf("%s: %v", item.Path, item.Error)
		}
	}
	if got := download(t, site, attached.Items[0].FileID); !bytes.Equal(got, sample.Pattern(sample.PartSize)) {
		t.Errorf("%d bytes came back, not those that were sent", len(got))
	}
	seen, err := site.Scanned(t.Context())
	must(t, err)
	if len(seen) != len(attached.Items) || seen[0].Size != sample.PartSize {
		t.Errorf("the scanner saw %+v", seen)
	}
	health, err := client.Health(t.Context())
	must(t, err)
	if health.Status != "pass" {
		t.Errorf("health is %+v", health)
	}
}

// testSlowSource copies a file whose bytes come too slowly, though never not at all: the plugin gives
// up before the server would cut the request without a word.
func testSlowSource(t *testing.T, site *stack.Stack) {
	const slow = sample.KindsFolder + "/" + sample.PartFile
	defer site.Host.Fault(embedded.Fault{User: "alice", Path: slow, End: embedded.Trickle})()
	before := posts(t, site)
	_, err := site.Plugin(site.User).Attach(t.Context(), api.Attachment{
		ChannelID: site.ChannelID, Items: []api.Item{{Path: slow}},
	})
	var problem *api.Problem
	if !errors.As(err, &problem) || problem.Code != "timeout" || problem.StatusCode != http.StatusGatewayTimeout {
		t.Errorf("got %v, want 504 timeout", err)
	}
	if after := posts(t, site); after != before {
		t.Error("something was posted")
	}
}

// posts counts the posts that users have made in the channel.
func posts(t *testing.T, site *stack.Stack) int {
	t.Helper()
	var channel struct {
		Posts int `json:"total_msg_count"`
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/channels/"+site.ChannelID, &channel))
	return channel.Posts
}

func download(t *testing.T, site *stack.Stack, id string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site.Mattermost.URL+"/api/v4/files/"+id, nil)
	must(t, err)
	response, err := site.User.Send(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	must(t, err)
	return content
}
