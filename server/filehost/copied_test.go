package filehost_test

import (
	"encoding/json"
	"testing"

	"github.com/pkg/errors"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// known is what the store has at a key.
func (w *world) known(t *testing.T, key string, into any) {
	t.Helper()
	raw, err := w.kv.Get(t.Context(), key)
	require.NoError(t, err)
	require.NotNil(t, raw, "nothing is known as %s", key)
	require.NoError(t, json.Unmarshal(raw, into))
}

func TestWhereThePostedFilesCameFromIsKnown(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/b.txt", []byte("second"), noon)
	w.remote.Change("/b.txt", func(e *filehost.Entry) { e.HostID = "17" })
	attached, err := w.Attach(t.Context(), alice, attachment("/missing", "/b.txt"))
	require.NoError(t, err)
	var posted filehost.Posted
	w.known(t, "post_"+attached.PostID, &posted)
	assert.Equal(t, filehost.Posted{HostID: "default", UserID: alice, ChannelID: "channel", PostedAt: noon, Items: []filehost.PostedItem{{
		ID: filehost.Ref{HostID: "17"}.ID(), Whose: posted.Items[0].Whose, PathID: filehosttest.MustPath("/b.txt").ID(), Name: "b.txt", Kind: filehost.File, Size: 6, MIMEType: "text/plain",
		ETag: `"6-1795262400"`, ModifiedAt: noon, FileID: attached.Items[1].FileID,
	}}}, posted)
}

func TestAPostStandsWhenItCannotBeRemembered(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/b.txt", []byte("second"), noon)
	w.kv.Fail(func(filehosttest.Op, string) error { return errors.New("down") })
	attached, err := w.Attach(t.Context(), alice, attachment("/b.txt"))
	require.NoError(t, err)
	assert.Equal(t, []string{attached.PostID}, w.mattermost.PostIDs())
	ask := attachment("/b.txt")
	ask.Draft, ask.Message = true, ""
	attached, err = w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	assert.Len(t, attached.FileInfos, 1)
}

func TestThePostOfACallThatDiedIsKnownToo(t *testing.T) {
	w, ask, carry := heldPost(t)
	carry(2)
	attached, err := insist(t, w, w.Service, ask)
	require.NoError(t, err)
	var posted filehost.Posted
	w.known(t, "post_"+attached.PostID, &posted)
	require.Len(t, posted.Items, 2)
	assert.Equal(t, attached.Items[0].FileID, posted.Items[0].FileID)
	assert.NotEmpty(t, posted.Items[0].ETag)
}

func TestWhatIsKnownOfADeletedPostIsForgotten(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/b.txt", []byte("second"), noon)
	attached, err := w.Attach(t.Context(), alice, attachment("/b.txt"))
	require.NoError(t, err)
	ask := attachment("/b.txt")
	ask.Draft, ask.Message = true, ""
	draft, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	require.Len(t, w.kv.Keys(), 2)
	require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: "another", FileIDs: []string{"other"}}))
	require.Len(t, w.kv.Keys(), 2)
	require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: attached.PostID, FileIDs: []string{draft.Items[0].FileID}}))
	assert.Empty(t, w.kv.Keys())
	w.kv.Fail(func(filehosttest.Op, string) error { return errors.New("down") })
	assert.Error(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: attached.PostID}))
}
