package filehost_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// TestEveryPostWithALinkTellsWhatItIsNow: a link that was to be looked at, and may be edited now, must not be called what it was.
func TestEveryPostWithALinkTellsWhatItIsNow(t *testing.T) {
	w := linkWorld()
	first, second := w.attachLinks(t, public("/report.pdf")).PostID, w.attachLinks(t, public("/folder", "/report.pdf")).PostID
	require.Len(t, w.shares.Made(), 2)
	says := func(want string) {
		t.Helper()
		for i, postID := range []string{first, second} {
			card := w.card(t, postID)
			item := card.Items[i]
			assert.Contains(t, item.Line, want)
			assert.Contains(t, w.mattermost.Posts()[i].Message, item.Line)
		}
		assert.Contains(t, w.card(t, second).Items[0].Line, "may view it", "the other link is as it was")
	}
	says("may view it")
	edit, password := filehost.MayEdit, filehost.NewSecret("a password")
	_, err := w.ChangeLink(t.Context(), alice, filehost.LinkID(first, 0), filehost.LinkChange{Permission: &edit, Password: &password})
	require.NoError(t, err)
	says("may edit it, password needed")
	require.NoError(t, w.RevokeLink(t.Context(), alice, filehost.LinkID(second, 1)))
	says("the link was revoked")
	assert.Len(t, w.shares.Made(), 1)
}

var noTime time.Time

// TestALinkThatWasChangedInPartTellsWhatItIs: the host has made one change of two.
func TestALinkThatWasChangedInPartTellsWhatItIs(t *testing.T) {
	w := linkWorld()
	w.shares.Demand(filehost.Policy{ExpiryRequired: true}, true)
	postID := w.attachLinks(t, public("/report.pdf")).PostID
	edit := filehost.MayEdit
	_, err := w.ChangeLink(t.Context(), alice, filehost.LinkID(postID, 0), filehost.LinkChange{Permission: &edit, ExpiresAt: &noTime})
	assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err))
	assert.Contains(t, w.mattermost.Posts()[0].Message, "may "+string(w.shares.Made()[0].Permission)+" it")
	assert.Equal(t, filehost.MayEdit, w.shares.Made()[0].Permission)
}
