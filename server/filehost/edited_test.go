package filehost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestWhatWasTakenOutOfAPostIsShownNoMore(t *testing.T) {
	w := linkWorld()
	attached := w.attachLinks(t, public("/report.pdf", "/folder"))
	card := w.card(t, attached.PostID)
	require.Len(t, card.Items, 2)
	w.mattermost.EditPost(attached.PostID, func(post *filehost.Post) {
		post.Message = strings.Replace(post.Message, card.Items[0].Line, "", 1)
	})
	left := w.card(t, attached.PostID)
	require.Len(t, left.Items, 1)
	assert.Equal(t, "folder", left.Items[0].Name)
	w.mattermost.EditPost(attached.PostID, func(post *filehost.Post) {
		post.Message = "The folder: " + card.Items[1].Link.URL
	})
	assert.Len(t, w.card(t, attached.PostID).Items, 1, "in other words it is there still")
	links, err := w.Links(t.Context(), alice, "channel")
	require.NoError(t, err)
	assert.Len(t, links, 2, "both are there at the host")
	w.mattermost.EditPost(attached.PostID, func(post *filehost.Post) { post.Message = "nothing" })
	assert.Nil(t, w.card(t, attached.PostID))
}

func TestWhatWasTakenOutOfAPostIsNotBroughtBack(t *testing.T) {
	w, postID := postedWorld(t, "/a", "/b")
	takeOut := func() {
		w.mattermost.EditPost(postID, func(post *filehost.Post) { post.FileIDs = post.FileIDs[1:] })
	}
	takeOut()
	for _, path := range []string{"/a", "/b"} {
		w.remote.AddFile(path, []byte("second"), noon.Add(time.Hour))
	}
	refreshed, err := w.Refresh(t.Context(), alice, postID, false)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Untold, filehost.Newer}, statesOf(refreshed))
	assert.Equal(t, filehost.NotFound, filehost.KindOf(refreshed.Items[0].Err))
	assert.Len(t, w.mattermost.Posts()[1].FileIDs, 1)

	w.remote.AddFile("/a", []byte("the third"), noon.Add(2*time.Hour))
	refreshed, err = w.Refresh(t.Context(), alice, refreshed.ReplyID, false)
	require.NoError(t, err, "by the answer's id it is the same")
	assert.Equal(t, []filehost.Freshness{filehost.Untold, filehost.Unchanged}, statesOf(refreshed))
	takeOut()
	_, err = w.Refresh(t.Context(), alice, postID, true)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
}

// TestWhoMayNoLongerPostChangesNothingThere: a file's name would be his words in a channel that he was put out of.
func TestWhoMayNoLongerPostChangesNothingThere(t *testing.T) {
	w := linkWorld()
	postID := w.attachLinks(t, internal("/report.pdf")).PostID
	w.remote.Move("/report.pdf", "/what I think of you.pdf")
	before := w.mattermost.Posts()[0].Message
	w.mattermost.Refuse(filehost.E(filehost.Forbidden, "You are not a member of this channel.", nil))
	_, err := w.Refresh(t.Context(), alice, postID, false)
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err))
	assert.Equal(t, before, w.mattermost.Posts()[0].Message)
	w.mattermost.Refuse(nil)
	refreshed, err := w.Refresh(t.Context(), alice, postID, false)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Renamed}, statesOf(refreshed), "it is told when he may")
	assert.Contains(t, w.mattermost.Posts()[0].Message, "what I think of you.pdf")
}
