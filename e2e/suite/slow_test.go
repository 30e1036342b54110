package suite

import (
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// TestSlowSource copies a file whose bytes come too slowly, though never not at all: the plugin gives up before the
// server would cut the request without a word.
func TestSlowSource(t *testing.T) {
	// The default is 300 seconds. Without a Site URL, no copy takes the way through the first node.
	node, err := site.AddNode(t.Context(), stack.NodeConfig{Settings: stack.Settings{"ServiceSettings": {"ReadTimeout": 12, "SiteURL": ""}}})
	must(t, err)
	t.Cleanup(func() { must(t, site.StopNode(node)) })
	path := addFile(t, sample.Pattern(sample.PartSize))
	defer site.Host.Fault(hosts.Fault{User: "alice", Path: path, End: hosts.Trickle})()
	before := posted(t, site.ChannelID)
	_, err = node.Plugin(site.User).Attach(t.Context(), copies(path))
	problem := wantProblem(t, err, "timeout", 504)
	if problem.Details["limit"] == nil || problem.Details["limit_owner"] != "mattermost" || !strings.Contains(problem.Message, "ServiceSettings.ReadTimeout") {
		t.Errorf("it says %q, details are %v", problem.Message, problem.Details)
	}
	if after := posted(t, site.ChannelID); after != before {
		t.Error("something was posted")
	}
}
