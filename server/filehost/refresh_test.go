package filehost_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// postedWorld is a world in which alice has posted files.
func postedWorld(t *testing.T, paths ...string) (w *world, postID string) {
	t.Helper()
	w = newWorld()
	w.mattermost.Limit(func(l *filehost.Limits) { l.MessageLength = 4000 })
	for _, path := range paths {
		w.remote.AddFile(path, []byte("first"), noon)
	}
	attached, err := w.Attach(t.Context(), alice, attachment(paths...))
	require.NoError(t, err)
	return w, attached.PostID
}

func statesOf(refreshed filehost.Refreshed) []filehost.Freshness {
	states := make([]filehost.Freshness, len(refreshed.Items))
	for i, item := range refreshed.Items {
		states[i] = item.State
	}
	return states
}

func TestWhatHasBecomeOfAFile(t *testing.T) {
	identified := func(w *world) { w.remote.Change("/a", func(e *filehost.Entry) { e.HostID = "7" }) }
	for name, test := range map[string]struct {
		before, after func(w *world)
		want          filehost.Freshness
	}{
		"nothing":                    {want: filehost.Unchanged},
		"another content":            {after: func(w *world) { w.remote.AddFile("/a", []byte("second"), noon.Add(time.Hour)) }, want: filehost.Newer},
		"removed":                    {after: func(w *world) { w.remote.Remove("/a") }, want: filehost.Gone},
		"a folder by now":            {after: func(w *world) { w.remote.AddFolder("/a") }, want: filehost.Gone},
		"moved, where ids are paths": {after: func(w *world) { w.remote.Move("/a", "/b") }, want: filehost.Gone},
		"moved":                      {before: identified, after: func(w *world) { w.remote.Move("/a", "/b") }, want: filehost.Renamed},
		"moved, and its place taken": {before: identified, after: func(w *world) { w.remote.Move("/a", "/b"); w.remote.AddFile("/a", []byte("x"), noon) }, want: filehost.Renamed},
		"moved and changed": {before: identified, after: func(w *world) {
			w.remote.Move("/a", "/b")
			w.remote.Change("/b", func(e *filehost.Entry) { e.ETag = `"2"` })
		}, want: filehost.Newer},
		"replaced by another of its name": {before: identified, after: func(w *world) { w.remote.AddFile("/a", []byte("other"), noon.Add(time.Hour)) }, want: filehost.Newer},
		"without ETags, another time": {before: func(w *world) { w.remote.Change("/a", func(e *filehost.Entry) { e.ETag = "" }) },
			after: func(w *world) {
				w.remote.Change("/a", func(e *filehost.Entry) { e.ModifiedAt = noon.Add(time.Second) })
			}, want: filehost.Newer},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.remote.AddFile("/a", []byte("first"), noon)
			if test.before != nil {
				test.before(w)
			}
			ask := attachment("/a")
			attached, err := w.Attach(t.Context(), alice, ask)
			require.NoError(t, err)
			if test.after != nil {
				test.after(w)
			}
			keys := len(w.kv.Keys())
			refreshed, err := w.Refresh(t.Context(), alice, attached.PostID, true)
			require.NoError(t, err)
			assert.Equal(t, []filehost.Freshness{test.want}, statesOf(refreshed))
			assert.Equal(t, test.want == filehost.Gone, refreshed.Items[0].After == nil)
			assert.Len(t, w.mattermost.Posts(), 1, "a dry run posts nothing")
			assert.Len(t, w.kv.Keys(), keys)

			refreshed, err = w.Refresh(t.Context(), alice, attached.PostID, false)
			require.NoError(t, err)
			assert.Equal(t, test.want == filehost.Newer, refreshed.ReplyID != "")
			refreshed, err = w.Refresh(t.Context(), alice, attached.PostID, true)
			require.NoError(t, err)
			want := filehost.Unchanged
			if test.want == filehost.Gone {
				want = filehost.Gone
			}
			assert.Equal(t, []filehost.Freshness{want}, statesOf(refreshed), "what was told, and brought in, is known")
		})
	}
}

func TestNewerVersionsArePostedAsAnAnswer(t *testing.T) {
	w, postID := postedWorld(t, "/a*b.txt", "/same.txt")
	w.remote.AddFile("/a*b.txt", make([]byte, 1536), noon.Add(time.Hour))
	refreshed, err := w.Refresh(t.Context(), alice, postID, false)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Newer, filehost.Unchanged}, statesOf(refreshed))
	assert.Equal(t, int64(5), refreshed.Items[0].Before.Size)
	assert.Equal(t, int64(1536), refreshed.Items[0].After.Size)
	posts := w.mattermost.Posts()
	require.Len(t, posts, 2)
	assert.Equal(t, []string{refreshed.Items[0].FileID}, posts[1].FileIDs)
	assert.Equal(t, "root", posts[1].RootID, "in the thread that the post is in")
	assert.Equal(t, "channel", posts[1].ChannelID)
	assert.Equal(t, "A newer version of `a*b.txt`: 1.5 kB instead of 5 B, changed on 2026-11-21 13:00 UTC", posts[1].Message)
	assert.Len(t, w.mattermost.Uploads()[refreshed.Items[0].FileID].Bytes, 1536)

	again, err := w.Refresh(t.Context(), alice, refreshed.ReplyID, false)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Unchanged, filehost.Unchanged}, statesOf(again), "the newer version stands for the first")
	w.remote.AddFile("/a*b.txt", []byte("third"), noon.Add(2*time.Hour))
	w.remote.AddFile("/same.txt", []byte("third"), noon.Add(2*time.Hour))
	again, err = w.Refresh(t.Context(), alice, refreshed.ReplyID, false)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Newer, filehost.Newer}, statesOf(again))
	assert.Contains(t, w.mattermost.Posts()[2].Message, "Newer versions:\n- `a*b.txt`: 5 B instead of 1.5 kB")

	require.NoError(t, w.PostDeleted(t.Context(), filehost.SeenPost{ID: postID}))
	again, err = w.Refresh(t.Context(), alice, refreshed.ReplyID, false)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Newer}, statesOf(again), "on its own when the first post is gone")
}

func TestAPostOutsideAThreadIsAnsweredInItsOwn(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/a", []byte("first"), noon)
	ask := attachment("/a")
	ask.RootID = ""
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	w.remote.AddFile("/a", []byte("second"), noon)
	_, err = w.Refresh(t.Context(), alice, attached.PostID, false)
	require.NoError(t, err)
	assert.Equal(t, attached.PostID, w.mattermost.Posts()[1].RootID)
}

// draftOfA copies a new file /a for a draft of alice's and returns its id at Mattermost.
func (w *world) draftOfA(t *testing.T) (fileID string) {
	t.Helper()
	w.remote.AddFile("/a", []byte("first"), noon)
	ask := attachment("/a")
	ask.Draft, ask.Message = true, ""
	draft, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	return draft.Items[0].FileID
}

func TestTheFilesOfADraftStayFresh(t *testing.T) {
	w := newWorld()
	fileID := w.draftOfA(t)
	postID, err := w.mattermost.Post(t.Context(), filehost.Post{UserID: alice, ChannelID: "channel", FileIDs: []string{fileID}})
	require.NoError(t, err)
	strangers, err := w.mattermost.Post(t.Context(), filehost.Post{UserID: bob, ChannelID: "channel", FileIDs: []string{fileID}})
	require.Error(t, err, "a file has one post")
	assert.Empty(t, strangers)
	for range 2 {
		refreshed, err := w.Refresh(t.Context(), alice, postID, false)
		require.NoError(t, err)
		assert.Equal(t, []filehost.Freshness{filehost.Unchanged}, statesOf(refreshed))
	}
	for at, content := range []string{"second", "the third"} {
		w.remote.AddFile("/a", []byte(content), noon)
		refreshed, err := w.Refresh(t.Context(), alice, postID, false)
		require.NoError(t, err)
		assert.Equal(t, []filehost.Freshness{filehost.Newer}, statesOf(refreshed))
		assert.Len(t, w.mattermost.Posts(), 2+at)
	}
}

func TestOnlyThePosterRefreshes(t *testing.T) {
	w, postID := postedWorld(t, "/a")
	w.tokens = filehosttest.NewTokens(alice, bob, admin)
	w.Tokens = w.tokens
	w.remote.AddFile("/a", []byte("second"), noon)
	for _, user := range []string{bob, admin} {
		for _, dry := range []bool{true, false} {
			_, err := w.Refresh(t.Context(), user, postID, dry)
			assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), user)
		}
	}
	mine, err := w.mattermost.Post(t.Context(), filehost.Post{UserID: bob, ChannelID: "channel"})
	require.NoError(t, err)
	_, err = w.Refresh(t.Context(), bob, mine, false)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "a post that has nothing of the host's")
	_, err = w.Refresh(t.Context(), bob, "none", false)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
	assert.Len(t, w.mattermost.Posts(), 2)
}

// TestARecordOfAnotherUsersPostIsOfNoUse has the store say that a post of bob's is alice's.
func TestARecordOfAnotherUsersPostIsOfNoUse(t *testing.T) {
	w, _ := postedWorld(t, "/a")
	w.tokens = filehosttest.NewTokens(alice, bob)
	w.Tokens = w.tokens
	mine, err := w.mattermost.Post(t.Context(), filehost.Post{UserID: bob, ChannelID: "channel", FileIDs: nil})
	require.NoError(t, err)
	raw, err := w.kv.Get(t.Context(), "post_post0")
	require.NoError(t, err)
	w.kv.Put("post_"+mine, raw)
	for _, user := range []string{alice, bob} {
		_, err = w.Refresh(t.Context(), user, mine, true)
		assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), user)
	}
}

func TestADraftOfAnotherUsersIsOfNoUse(t *testing.T) {
	w := newWorld()
	fileID := w.draftOfA(t)
	w.tokens = filehosttest.NewTokens(alice, bob)
	w.Tokens = w.tokens
	postID, err := w.mattermost.Post(t.Context(), filehost.Post{UserID: bob, ChannelID: "channel", FileIDs: []string{fileID}})
	require.NoError(t, err)
	_, err = w.Refresh(t.Context(), bob, postID, true)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
}

func TestOfTwoRefreshesAtOnceOneDoesIt(t *testing.T) {
	w, postID := postedWorld(t, "/a")
	gate, opened := make(chan bool), make(chan bool, 1)
	file := w.remote.AddFile("/a", []byte("second"), noon)
	file.Gate, file.Opened = gate, func() { opened <- true }
	var group sync.WaitGroup
	group.Go(func() {
		refreshed, err := w.Refresh(t.Context(), alice, postID, false)
		assert.NoError(t, err)
		assert.NotEmpty(t, refreshed.ReplyID)
	})
	<-opened
	_, err := w.Refresh(t.Context(), alice, postID, false)
	var known *filehost.Error
	require.ErrorAs(t, err, &known)
	assert.Equal(t, filehost.Conflict, known.Kind)
	assert.Positive(t, known.RetryAfter)
	assert.NotContains(t, known.Message, "Idempotency-Key", "which the caller knows nothing of")
	close(gate)
	group.Wait()
	assert.Len(t, w.mattermost.Posts(), 2)
}

// TestARefreshThatDiedIsNotRepeated lets the store fail when the outcome is to be kept.
func TestARefreshThatDiedIsNotRepeated(t *testing.T) {
	w, postID := postedWorld(t, "/a")
	w.remote.AddFile("/a", []byte("second"), noon)
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == "post_"+postID {
			return errors.New("down")
		}
		return nil
	})
	_, err := w.Refresh(t.Context(), alice, postID, false)
	require.Error(t, err)
	w.kv.Fail(nil)
	refreshed, err := w.Refresh(t.Context(), alice, postID, false)
	require.NoError(t, err)
	assert.Equal(t, w.mattermost.PostIDs()[1], refreshed.ReplyID)
	assert.Len(t, w.mattermost.Posts(), 2)
}

func TestAnOldVersionThatComesBackIsANewOne(t *testing.T) {
	w, postID := postedWorld(t, "/a")
	for _, content := range []string{"second", "first", "second"} {
		w.remote.AddFile("/a", []byte(content), noon)
		_, err := w.Refresh(t.Context(), alice, postID, false)
		require.NoError(t, err)
	}
	assert.Len(t, w.mattermost.Posts(), 4)
}

func TestARefreshIsCheckedLikeAnAttachment(t *testing.T) {
	w, postID := postedWorld(t, "/a", "/b")
	w.remote.AddFile("/a", []byte("second"), noon)
	w.mattermost.Refuse(filehost.E(filehost.Forbidden, "No.", nil))
	_, err := w.Refresh(t.Context(), alice, postID, false)
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err))
	w.mattermost.Refuse(nil)

	limit := w.Settings.MaxCopyBytes
	w.Settings.MaxCopyBytes = 5
	_, err = w.Refresh(t.Context(), alice, postID, false)
	assert.Equal(t, filehost.TooLarge, filehost.KindOf(err))
	w.Settings.MaxCopyBytes = limit
	_, err = w.Refresh(t.Context(), alice, postID, false)
	require.NoError(t, err, "not the refusal of before")
	w.remote.AddFile("/a", []byte("the third"), noon)
	w.remote.AddFile("/b", make([]byte, limit+1), noon)
	refreshed, err := w.Refresh(t.Context(), alice, postID, false)
	require.NoError(t, err)
	assert.NotEmpty(t, refreshed.ReplyID)
	assert.Equal(t, filehost.TooLarge, filehost.KindOf(refreshed.Items[1].Err))
	assert.Empty(t, refreshed.Items[1].FileID)
	refreshed, err = w.Refresh(t.Context(), alice, postID, true)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Unchanged, filehost.Newer}, statesOf(refreshed), "what was not brought in is still newer")
}

// TestWhoIsLateForgetsNothing has another refresh, to a third version, come in between the answer and its record.
func TestWhoIsLateForgetsNothing(t *testing.T) {
	w, postID := postedWorld(t, "/a")
	w.remote.AddFile("/a", []byte("second"), noon)
	var once sync.Once
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == "post_"+postID {
			once.Do(func() {
				w.kv.Fail(nil)
				w.remote.AddFile("/a", []byte("the third"), noon)
				_, err := w.Refresh(t.Context(), alice, postID, false)
				assert.NoError(t, err)
			})
		}
		return nil
	})
	_, err := w.Refresh(t.Context(), alice, postID, false)
	require.NoError(t, err)
	refreshed, err := w.Refresh(t.Context(), alice, postID, true)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Unchanged}, statesOf(refreshed))
}

// changing is a host whose file /a becomes another one after it was looked at.
type changing struct{ *filehosttest.Remote }

func (c changing) Stat(ctx context.Context, credential filehost.Credential, path filehost.Path) (filehost.Entry, error) {
	entry, err := c.Remote.Stat(ctx, credential, path)
	c.AddFile("/a", []byte("the third"), noon)
	return entry, err
}

func TestWhatIsBroughtIsWhatWasTold(t *testing.T) {
	w, postID := postedWorld(t, "/a")
	w.remote.AddFile("/a", []byte("second"), noon)
	w.Remote = changing{w.remote}
	_, err := w.Refresh(t.Context(), alice, postID, false)
	assert.Equal(t, filehost.Changed, filehost.KindOf(err))
	assert.Len(t, w.mattermost.Posts(), 1)
}

// TestALinkIsNotCopied has a linked file grow: the link leads to the newer version as it is, and its post says so.
func TestALinkIsNotCopied(t *testing.T) {
	for name, ask := range map[string]filehost.Attachment{"internal": internal("/report.pdf"), "public": public("/report.pdf")} {
		w := linkWorld()
		postID := w.attachLinks(t, ask).PostID
		w.remote.AddFile("/report.pdf", make([]byte, 2048), noon.Add(time.Hour))
		w.linkable("/report.pdf")
		before := w.mattermost.Posts()[0].Message
		for _, want := range []filehost.Freshness{filehost.Newer, filehost.Unchanged} {
			refreshed, err := w.Refresh(t.Context(), alice, postID, false)
			require.NoError(t, err)
			assert.Equal(t, []filehost.Freshness{want}, statesOf(refreshed), name)
			assert.Empty(t, refreshed.ReplyID)
		}
		posts := w.mattermost.Posts()
		require.Len(t, posts, 1)
		assert.Equal(t, strings.Replace(before, ", 7 B ", ", "+filehost.ShownSize(2048)+" ", 1), posts[0].Message, name)
		assert.NotEqual(t, before, posts[0].Message)
		var posted filehost.Posted
		w.known(t, "post_"+postID, &posted)
		assert.NotNil(t, posted.Items[0].Link)
		assert.Contains(t, posts[0].Message, posted.Items[0].Line)
	}
}

func TestADraftOfAnotherHostIsOfNoUse(t *testing.T) {
	w := newWorld()
	fileID := w.draftOfA(t)
	postID, err := w.mattermost.Post(t.Context(), filehost.Post{UserID: alice, ChannelID: "channel", FileIDs: []string{fileID}})
	require.NoError(t, err)
	w.Host.ID = "another"
	_, err = w.Refresh(t.Context(), alice, postID, true)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
}

func TestWhenTheHostCannotBeAsked(t *testing.T) {
	w, postID := postedWorld(t, "/a", "/b")
	require.NoError(t, w.tokens.Disconnect(t.Context(), alice))
	_, err := w.Refresh(t.Context(), alice, postID, true)
	assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))

	w, postID = postedWorld(t, "/a", "/b")
	w.Remote = locked{w.remote}
	w.remote.AddFile("/b", []byte("second"), noon)
	refreshed, err := w.Refresh(t.Context(), alice, postID, false)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Untold, filehost.Newer}, statesOf(refreshed))
	assert.Equal(t, filehost.Conflict, filehost.KindOf(refreshed.Items[0].Err))
	assert.NotEmpty(t, refreshed.ReplyID)
}

// locked is a host whose file /a is locked.
type locked struct{ *filehosttest.Remote }

func (l locked) Stat(ctx context.Context, credential filehost.Credential, path filehost.Path) (filehost.Entry, error) {
	if path.Name() == "a" {
		return filehost.Entry{}, filehost.E(filehost.Conflict, "The file is locked.", nil)
	}
	return l.Remote.Stat(ctx, credential, path)
}
