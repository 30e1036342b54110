// Package oldest tries the plugin on the oldest Mattermost that it supports.
package oldest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/contract"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestMainJob connects, lists, attaches, and asks for the health.
func TestMainJob(t *testing.T) {
	bundle := os.Getenv("FILEHOST_ATTACH_BUNDLE")
	if bundle == "" {
		t.Fatal("FILEHOST_ATTACH_BUNDLE must name the plugin's bundle; `make e2e` builds it and sets this")
	}
	site, err := stack.Up(t.Context(), stack.Config{
		Version: "9.9", Dir: t.TempDir(), Bundle: bundle, Scanner: true, Tree: sample.WriteSmall,
		Say: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	must(t, err)
	t.Cleanup(func() { must(t, site.Down()) })
	must(t, site.Connect(t.Context(), site.User, "alice"))
	client := api.Client{Client: rest.New(site.BaseURL(), site.User.Token)}
	client.HTTP.Transport, err = contract.New("../../assets/openapi.yaml", site.BaseURL(), new(http.Transport))
	must(t, err)

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
