package suite

import (
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

var otherNode struct {
	once sync.Once
	node *stack.Node
	err  error
}

// secondNode is one more server of the site, which all tests share. It starts with the first that asks for it.
func secondNode(t *testing.T) *stack.Node {
	t.Helper()
	otherNode.once.Do(func() { otherNode.node, otherNode.err = site.AddNode(t.Context(), stack.NodeConfig{}) })
	must(t, otherNode.err)
	return otherNode.node
}

// TestNodesShareAConnection connects on one node, works on another, and disconnects there.
func TestNodesShareAConnection(t *testing.T) {
	node := secondNode(t)
	account := newConnected(t, "alice")
	connection, err := node.Plugin(account).Connection(t.Context())
	must(t, err)
	if connection.State != "connected" {
		t.Errorf("the second node says %+v", connection)
	}
	attached, err := node.Plugin(account).Attach(t.Context(), copies("/Welcome.txt"))
	must(t, err)
	if stored := readPost(t, attached.PostID); stored.UserID != account.ID || len(stored.FileIDs) != 1 {
		t.Errorf("the first node has the post as %+v", stored)
	}
	if content := download(t, attached.Items[0].FileID); len(content) == 0 {
		t.Error("the first node gives nothing of the file that the second stored")
	}
	must(t, node.Plugin(account).Disconnect(t.Context()))
	_, err = site.Plugin(account).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
}

// TestRefreshOnceAcrossNodes lets a token expire again and again, with many callers on both nodes at once each time: one of
// them renews it, all use it.
func TestRefreshOnceAcrossNodes(t *testing.T) {
	const rounds, callers = 50, 100 // callers on each node
	nodes := []api.Client{}
	account := newConnected(t, "carol")
	for _, client := range []api.Client{site.Plugin(account), secondNode(t).Plugin(account)} {
		_, err := client.List(t.Context(), in("/", "limit", "1"))
		must(t, err)
		nodes = append(nodes, client)
	}
	for round := range rounds {
		site.Host.ExpireAccessTokens("carol")
		before := site.Host.Counts().Refreshes
		var group errgroup.Group
		for _, client := range nodes {
			for range callers {
				group.Go(func() error {
					_, err := client.List(t.Context(), in("/", "limit", "1"))
					return err
				})
			}
		}
		must(t, group.Wait())
		if refreshes := site.Host.Counts().Refreshes - before; refreshes != 1 {
			t.Fatalf("round %d: %d token requests, want 1", round, refreshes)
		}
	}
}
