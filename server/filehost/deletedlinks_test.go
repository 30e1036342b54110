package filehost_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// TestAPostThatIsDeletedBeforeItIsRememberedKeepsNoLink: a plugin that moderates deletes a post in the moment that it is there.
func TestAPostThatIsDeletedBeforeItIsRememberedKeepsNoLink(t *testing.T) {
	w, ask := linkWorld(), leaving("/report.pdf")
	deleted := false
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == "post_post0" && !deleted {
			deleted = true
			w.mattermost.DeletePost("post0")
			return w.PostDeleted(t.Context(), filehost.SeenPost{ID: "post0", UserID: alice, Card: true})
		}
		return nil
	})
	w.attachLinks(t, ask)
	require.True(t, deleted)
	w.clock.Advance(time.Minute)
	w.DoDue(t.Context(), "")
	assert.Empty(t, w.shares.Made())
	assert.NotContains(t, w.stored(t), "todo_")
	assert.NotContains(t, w.stored(t), "post_")
}

// TestAFullListOfWhatIsToBeDoneKeepsNoLink: what can't be put on it is done at once.
func TestAFullListOfWhatIsToBeDoneKeepsNoLink(t *testing.T) {
	w, ask := linkWorld(), leaving("/report.pdf")
	postID := w.attachLinks(t, ask).PostID
	w.fillShelves(t, bob, 500)
	w.mattermost.DeletePost(postID)
	require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: postID, UserID: alice, Card: true}))
	assert.Empty(t, w.shares.Made())
}

// fillShelves puts as many tasks of a user on each shelf as the store is forced to hold.
func (w *world) fillShelves(t *testing.T, userID string, tasks int) {
	t.Helper()
	for shelf := range 16 {
		list := "["
		for i := range tasks {
			if i > 0 {
				list += ","
			}
			list += fmt.Sprintf(`{"kind":"post","id":"filler%d","user":%q,"due":"2099-01-01T00:00:00Z"}`, i, userID)
		}
		w.kv.Put(fmt.Sprintf("todo_%x", shelf), []byte(list+"]"))
	}
}

func TestOneUsersUnfinishedLinksStopNobodyElse(t *testing.T) {
	w := linkWorld()
	w.fillShelves(t, bob, 50)
	_, err := w.Attach(t.Context(), bob, public("/report.pdf"))
	assert.Equal(t, filehost.RateLimited, filehost.KindOf(err))
	w.attachLinks(t, public("/report.pdf"))
}

// TestLinksOfADeletedPostEndWhateverAReplicaShows: what is done of a list is not decided on what a node's replica has of the post.
func TestLinksOfADeletedPostEndWhateverAReplicaShows(t *testing.T) {
	w, ask := linkWorld(), leaving("/report.pdf")
	replica := w.kv.Replica(3)
	postID := w.attachLinks(t, ask).PostID
	_, err := replica.Get(t.Context(), "post_"+postID)
	require.NoError(t, err)
	require.NoError(t, w.Disconnect(t.Context(), alice))
	w.mattermost.DeletePost(postID)
	require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: postID}))
	w.tokens.Connect(alice)
	config := w.Config
	config.KV = replica
	w.clock.Advance(time.Minute)
	filehost.New(config).DoDue(t.Context(), "")
	assert.Empty(t, w.shares.Made())
}
