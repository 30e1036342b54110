package suite

import (
	"sync"
	"testing"

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

// TestNodesShareOneRefresh lets a token run out and asks both nodes at once: one of them renews it, both use it.
func TestNodesShareOneRefresh(t *testing.T) {
	node := secondNode(t)
	account := newConnected(t, "carol")
	site.Host.ExpireAccessTokens("carol")
	before := site.Host.Counts().Refreshes
	errs := make(chan error)
	for i := range 20 {
		client := site.Plugin(account)
		if i%2 == 1 {
			client = node.Plugin(account)
		}
		go func() {
			_, err := client.List(t.Context(), in("/"))
			errs <- err
		}()
	}
	for range 20 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if refreshes := site.Host.Counts().Refreshes - before; refreshes != 1 {
		t.Errorf("the token was renewed %d times", refreshes)
	}
}
