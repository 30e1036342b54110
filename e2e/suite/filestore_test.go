package suite

import (
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// TestSlowSourceAndTheFileStore copies from a source that takes longer than S3 gives a file: an error that names that
// limit, and no trace of the file; where files lie on a disk, the copy is made. An admin is warned before.
func TestSlowSourceAndTheFileStore(t *testing.T) {
	const setting = "FileSettings.AmazonS3RequestTimeoutMilliseconds"
	node, err := site.AddNode(t.Context(), stack.NodeConfig{Settings: stack.Settings{
		"FileSettings": {strings.TrimPrefix(setting, "FileSettings."): 10_000},
		// The plugin starts before its node listens, and would take the way through the first one until it looks again.
		"ServiceSettings": {"SiteURL": ""},
	}})
	must(t, err)
	t.Cleanup(func() { must(t, site.StopNode(node)) })
	// More than one part of S3. The last bytes come one by one, five a second.
	const size, slow = 8 << 20, 75
	path := addFile(t, sample.Pattern(size))
	defer site.Host.Fault(hosts.Fault{User: "alice", Path: path, After: size - slow, End: hosts.Trickle})()
	before := posted(t, site.ChannelID)
	health, err := node.Plugin(site.Admin).Health(t.Context())
	must(t, err)
	attached, err := node.Plugin(site.User).Attach(t.Context(), copies(path))
	if site.FileStore == "local" {
		must(t, err)
		if got := len(download(t, attached.Items[0].FileID)); got != size {
			t.Errorf("%d bytes came back, not %d", got, size)
		}
		if status := checkStatus(health, "transfers"); status != "pass" {
			t.Errorf("transfers are %q", status)
		}
		return
	}
	problem := wantProblem(t, err, "timeout", 504)
	if !strings.Contains(problem.Message, setting) || problem.Details["limit"] != float64(10) || problem.Details["limit_owner"] != "mattermost" {
		t.Errorf("the limit isn't named: %+v", problem)
	}
	if after := posted(t, site.ChannelID); after != before {
		t.Error("something was posted")
	}
	if check := health.Checks["transfers"]; len(check) == 0 || check[0].Status != "warn" || !strings.Contains(check[0].Output, setting) {
		t.Errorf("no warning: %+v", check)
	}
}
