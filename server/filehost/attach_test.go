package filehost_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func attachment(paths ...string) filehost.Attachment {
	a := filehost.Attachment{ChannelID: "channel", RootID: "root", Message: "hello"}
	for _, path := range paths {
		a.Items = append(a.Items, filehost.Item{Path: filehosttest.MustPath(path)})
	}
	return a
}

func TestAttachCopiesEveryByteAndPostsInTheOrderAsked(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/b.txt", []byte("second"), noon)
	w.remote.AddFile("/a.txt", []byte("first"), noon)
	attached, err := w.Attach(t.Context(), alice, attachment("/b.txt", "/a.txt"))
	require.NoError(t, err)
	require.Len(t, attached.Items, 2)
	assert.Equal(t, []byte("second"), w.mattermost.Uploads()[attached.Items[0].FileID].Bytes)
	assert.Equal(t, alice, w.mattermost.Uploads()[attached.Items[0].FileID].UserID)
	assert.Equal(t, []filehost.Post{{UserID: alice, ChannelID: "channel", RootID: "root", Message: "hello",
		FileIDs: []string{attached.Items[0].FileID, attached.Items[1].FileID}}}, w.mattermost.Posts())
}

func TestWhatFailsBeforeAByteMoves(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*world)
		ask    func(*filehost.Attachment)
		kind   filehost.Kind
		owner  filehost.LimitOwner
		field  string
	}{
		"no items":                      {ask: func(a *filehost.Attachment) { a.Items = nil }, kind: filehost.InvalidRequest, field: "items"},
		"too many items":                {ask: func(a *filehost.Attachment) { a.Items = make([]filehost.Item, 11) }, kind: filehost.TooLarge, owner: filehost.OwnerPlugin, field: "items"},
		"too many items for the server": {change: func(w *world) { w.mattermost.Limit(func(l *filehost.Limits) { l.FilesPerPost = 0 }) }, kind: filehost.TooLarge, owner: filehost.OwnerMattermost, field: "items"},
		"message too long":              {ask: func(a *filehost.Attachment) { a.Message = strings.Repeat("ü", 101) }, kind: filehost.TooLarge, owner: filehost.OwnerMattermost, field: "message"},
		"no permission":                 {change: func(w *world) { w.mattermost.Refuse(filehost.E(filehost.Forbidden, "No.", nil)) }, kind: filehost.Forbidden},
		"no such file":                  {change: func(w *world) { w.remote.Remove("/file") }, kind: filehost.NotFound},
		"a folder":                      {change: func(w *world) { w.remote.Change("/file", func(e *filehost.Entry) { e.Kind = filehost.Folder }) }, kind: filehost.InvalidRequest, field: "items[0]"},
		"a file to look at only":        {change: func(w *world) { w.remote.Change("/file", func(e *filehost.Entry) { e.Permissions = nil }) }, kind: filehost.Forbidden},
		"an empty file":                 {change: func(w *world) { w.remote.AddFile("/file", nil, noon) }, kind: filehost.InvalidRequest, field: "items[0]"},
		"larger than the server allows": {change: func(w *world) { w.mattermost.Limit(func(l *filehost.Limits) { l.FileSize = 1 }) }, kind: filehost.TooLarge, owner: filehost.OwnerMattermost, field: "items[0]"},
		"larger than the plugin allows": {change: func(w *world) { w.Settings.MaxCopyBytes = 1 }, kind: filehost.TooLarge, owner: filehost.OwnerPlugin, field: "items[0]"},
		"changed since it was listed":   {ask: func(a *filehost.Attachment) { a.Items[0].ETag = `"old"` }, kind: filehost.Changed},
		"not connected":                 {change: func(w *world) { _ = w.tokens.Disconnect(t.Context(), alice) }, kind: filehost.NotConnected},
	} {
		t.Run(name, func(t *testing.T) {
			w, ask := newWorld(), attachment("/file")
			w.remote.AddFile("/file", []byte("content"), noon).Opened = func() { t.Error("a byte moved") }
			if test.change != nil {
				test.change(w)
			}
			if test.ask != nil {
				test.ask(&ask)
			}
			_, err := w.Attach(t.Context(), alice, ask)
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			assert.Equal(t, test.kind, known.Kind)
			assert.Equal(t, test.field, known.Field)
			assert.Equal(t, test.owner, known.LimitOwner)
			assert.Empty(t, w.mattermost.Posts())
		})
	}
}

func TestAFileThatFailsDoesNotStopTheOthers(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/good", []byte("1"), noon)
	w.remote.AddFile("/bad", []byte("1"), noon).Failure = filehost.E(filehost.Timeout, "No byte arrived.", nil)
	attached, err := w.Attach(t.Context(), alice, attachment("/bad", "/missing", "/good"))
	require.NoError(t, err)
	assert.Equal(t, filehost.Timeout, filehost.KindOf(attached.Items[0].Err), "the stream's own error, not what the upload made of it")
	assert.Equal(t, filehost.NotFound, filehost.KindOf(attached.Items[1].Err))
	require.NoError(t, attached.Items[2].Err)
	assert.Equal(t, []string{attached.Items[2].FileID}, w.mattermost.Posts()[0].FileIDs)
}

func TestWhenAllFilesFailTheErrorIsTheFirstOnes(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/bad", []byte("1"), noon).Failure = io.ErrUnexpectedEOF
	_, err := w.Attach(t.Context(), alice, attachment("/missing", "/bad"))
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
	assert.Empty(t, w.mattermost.Posts())
}

func TestAFileThatChangesUnderTheCopyIsPostedNowhere(t *testing.T) {
	for name, change := range map[string]func(*filehosttest.Remote){
		"another ETag": func(r *filehosttest.Remote) { r.AddFile("/file", []byte("other"), noon.Add(time.Second)) },
		"gone":         func(r *filehosttest.Remote) { r.Remove("/file") },
		"without ETag, another time": func(r *filehosttest.Remote) {
			r.Change("/file", func(e *filehost.Entry) { e.ETag, e.ModifiedAt = "", noon.Add(time.Second) })
		},
		"without ETag, another length": func(r *filehosttest.Remote) { r.Change("/file", func(e *filehost.Entry) { e.ETag = ""; e.Size++ }) },
		"without ETag, a folder by now": func(r *filehosttest.Remote) {
			r.Change("/file", func(e *filehost.Entry) { e.ETag, e.Kind = "", filehost.Folder })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.remote.AddFile("/file", []byte("content"), noon).Read = func() { change(w.remote) }
			_, err := w.Attach(t.Context(), alice, attachment("/file"))
			assert.Equal(t, filehost.Changed, filehost.KindOf(err))
			assert.Empty(t, w.mattermost.Posts())
		})
	}
}

func TestATagThatIsWeakWhileTheFileIsFreshIsTheSame(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/file", []byte("content"), noon).Read = func() {
		w.remote.Change("/file", func(e *filehost.Entry) { e.ETag = `"15-6"` })
	}
	w.remote.Change("/file", func(e *filehost.Entry) { e.ETag = `W/"15-6"` })
	ask := attachment("/file")
	ask.Items[0].ETag = `"15-6"`
	_, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)

	w.remote.AddFile("/file", []byte("content"), noon).Read = func() {
		w.remote.Change("/file", func(e *filehost.Entry) { e.ModifiedAt = noon.Add(time.Second) })
	}
	w.remote.Change("/file", func(e *filehost.Entry) { e.ETag = `W/"15-6"` })
	_, err = w.Attach(t.Context(), alice, attachment("/file"))
	assert.Equal(t, filehost.Changed, filehost.KindOf(err), "an equal weak tag alone proves nothing")
}

func TestImagesLargerThanTheServerAllowsAreRefusedByTheirHeader(t *testing.T) {
	w := newWorld()
	for side, kind := range map[int]filehost.Kind{100: filehost.Internal, 101: filehost.TooLarge} {
		var content bytes.Buffer
		require.NoError(t, png.Encode(&content, image.NewGray(image.Rect(0, 0, side, side))))
		w.remote.AddFile("/image.png", content.Bytes(), noon)
		attached, err := w.Attach(t.Context(), alice, attachment("/image.png"))
		if kind != filehost.TooLarge {
			require.NoError(t, err)
			assert.Equal(t, content.Bytes(), w.mattermost.Uploads()[attached.Items[0].FileID].Bytes)
			continue
		}
		assert.Equal(t, kind, filehost.KindOf(err))
	}
}

// earlyAnswer refuses an upload while its content is still being read, as an HTTP server may.
type earlyAnswer struct {
	*filehosttest.Mattermost
	read chan struct{}
}

func (m *earlyAnswer) Upload(_ context.Context, upload filehost.Upload) (filehost.FileInfo, error) {
	go func() {
		defer close(m.read)
		_, _ = io.Copy(io.Discard, upload.Content)
	}()
	return filehost.FileInfo{}, filehost.E(filehost.Forbidden, "No.", nil)
}

func TestAnAnswerBeforeTheContentHasBeenReadIsNoRace(t *testing.T) {
	w := newWorld()
	early := &earlyAnswer{w.mattermost, make(chan struct{})}
	w.Mattermost = early
	w.remote.AddFile("/file", make([]byte, 1<<20), noon).Failure = errors.New("reset")
	_, err := w.Attach(t.Context(), alice, attachment("/file"))
	require.Error(t, err)
	assert.Empty(t, w.mattermost.Posts())
	<-early.read
}

func TestARejectedCredentialIsNotSentOnceForEachItem(t *testing.T) {
	w := newWorld()
	w.remote.Accept("none")
	_, err := w.Attach(t.Context(), alice, attachment("/a", "/b", "/c", "/d", "/e"))
	assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
	assert.Equal(t, 2, w.remote.Calls(), "the credential and its successor")
}

func TestWhoMayNoLongerAttachAfterTheCopyPostsNothing(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/file", []byte("1"), noon).Read = func() { w.mattermost.Refuse(filehost.E(filehost.Forbidden, "No.", nil)) }
	_, err := w.Attach(t.Context(), alice, attachment("/file"))
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err))
	assert.Empty(t, w.mattermost.Posts())
}

func TestAFailedPostIsAnError(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/file", []byte("1"), noon)
	broken := errors.New("database")
	w.mattermost.FailPosts(broken)
	_, err := w.Attach(t.Context(), alice, attachment("/file"))
	assert.ErrorIs(t, err, broken)
}

func TestCopiesAtOnceAreLimitedPerUserAndPerNode(t *testing.T) {
	w := newWorld()
	users := []string{alice, bob, "bot"}
	w.tokens = filehosttest.NewTokens(users...)
	w.Tokens = w.tokens
	gate, opened, done := make(chan bool), make(chan bool), make(chan error)
	file := w.remote.AddFile("/file", []byte("1"), noon)
	file.Gate, file.Opened = gate, func() { opened <- true }
	for _, user := range users[:2] {
		go func() {
			_, err := w.Attach(t.Context(), user, attachment("/file"))
			done <- err
		}()
		<-opened
	}
	for user, text := range map[string]string{alice: "You already have", "bot": "The server is busy"} {
		_, err := w.Attach(t.Context(), user, attachment("/file"))
		var known *filehost.Error
		require.ErrorAs(t, err, &known)
		assert.Equal(t, filehost.RateLimited, known.Kind)
		assert.Positive(t, known.RetryAfter)
		assert.Contains(t, known.Message, text)
	}
	close(gate)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	file.Opened = nil
	_, err := w.Attach(t.Context(), alice, attachment("/file"))
	assert.NoError(t, err, "the place is free again")
}

func TestPathsThatNoFileCanHaveAreRefused(t *testing.T) {
	for _, raw := range []string{"", "a", "/a//b", "/..", "/a/../b", "/./a", "/a/..", `/a\..\b`, `/..\`, "/a\x00", "/\xff", "//", "/" + strings.Repeat("a", 4096)} {
		_, err := filehost.ParsePath("path", raw)
		assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err), "%q", raw)
	}
}

func FuzzPathsSurviveTheirIDs(f *testing.F) {
	f.Add("a", "b%2Fc")
	f.Add("..", "\xff")
	f.Fuzz(func(t *testing.T, first, second string) {
		path, ok := filehost.Root.Join(first)
		if !ok {
			return
		}
		if path, ok = path.Join(second); !ok {
			return
		}
		back, err := filehost.ParseID("id", path.ID())
		if err != nil && len(first)+len(second)+2 <= filehost.MaxPathBytes {
			t.Fatalf("%q: %v", path, err)
		}
		if err == nil && (back != path || strings.Join(back.Segments(), "/") != first+"/"+second) {
			t.Fatalf("%q came back as %q", path, back)
		}
	})
}

func TestForgedIDsAreRefused(t *testing.T) {
	for _, id := range []string{"x", "p!", "pYQ", "pL2EvLi4", "pLy8", "pL2E\n", "pL2\rE", "pL2E=", "p" + strings.Repeat("A", 8000)} {
		_, err := filehost.ParseID("id", id)
		assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err), id)
	}
	root, err := filehost.ParseID("id", filehost.Root.ID())
	require.NoError(t, err)
	assert.True(t, root.IsRoot())
}

func TestTheFilesOfARequestAreLimitedTogetherBeforeAByteMoves(t *testing.T) {
	for name, change := range map[string]func(*filehost.Attachment){
		"a copy": func(*filehost.Attachment) {}, "a draft": func(a *filehost.Attachment) { a.Draft = true }, "a dry run": func(a *filehost.Attachment) { a.DryRun = true },
	} {
		w, ask := newWorld(), attachment("/a", "/missing", "/b")
		w.Settings.MaxCopyBytes = 10
		change(&ask)
		w.remote.AddFile("/a", make([]byte, 6), noon).Opened = func() { t.Error("a byte moved") }
		w.remote.AddFile("/b", make([]byte, 5), noon)
		_, err := w.Attach(t.Context(), alice, ask)
		var known *filehost.Error
		require.ErrorAs(t, err, &known, name)
		assert.Equal(t, filehost.TooLarge, known.Kind, name)
		assert.Equal(t, []int64{10, 11}, []int64{known.Limit, known.Actual}, name)
		assert.Equal(t, filehost.OwnerPlugin, known.LimitOwner, name)

		w.remote.AddFile("/a", make([]byte, 5), noon)
		_, err = w.Attach(t.Context(), alice, ask)
		require.NoError(t, err, name)
	}
}

func TestADraftIsCheckedLikeAPostAndLeftToTheCaller(t *testing.T) {
	w, ask := newWorld(), attachment("/a", "/missing", "/b")
	ask.Draft, ask.Message = true, ""
	w.remote.AddFile("/a", []byte("first"), noon)
	w.remote.AddFile("/b", []byte("second"), noon)
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	require.Len(t, attached.FileInfos, 2)
	assert.JSONEq(t, `{"id":"file1","name":"b","size":6}`, string(attached.FileInfos[1]))
	assert.Equal(t, filehost.NotFound, filehost.KindOf(attached.Items[1].Err))
	assert.Empty(t, attached.PostID)
	assert.Empty(t, w.mattermost.Posts())

	w.remote.AddFile("/b", []byte("second"), noon).Read = func() { w.mattermost.Refuse(filehost.E(filehost.Forbidden, "No.", nil)) }
	_, err = w.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), "who may not post may not compose")
}

func TestADryRunMovesNothing(t *testing.T) {
	w, ask := newWorld(), attachment("/a", "/missing", "/folder", "/empty")
	ask.DryRun = true
	w.Settings.CopiesPerNode = 0 // it takes no place
	w.remote.AddFile("/a", []byte("first"), noon).Opened = func() { t.Error("a byte moved") }
	w.remote.AddFolder("/folder")
	w.remote.AddFile("/empty", nil, noon)
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	require.NoError(t, attached.Items[0].Err)
	assert.Equal(t, int64(5), attached.Items[0].Size)
	assert.Empty(t, attached.Items[0].FileID)
	for i, kind := range map[int]filehost.Kind{1: filehost.NotFound, 2: filehost.InvalidRequest, 3: filehost.InvalidRequest} {
		assert.Equal(t, kind, filehost.KindOf(attached.Items[i].Err))
	}
	for i, field := range map[int]string{2: "items[2]", 3: "items[3]"} {
		var known *filehost.Error
		require.ErrorAs(t, attached.Items[i].Err, &known)
		assert.Equal(t, field, known.Field, "it says which")
	}
	ask.Items = ask.Items[1:]
	_, err = w.Attach(t.Context(), alice, ask)
	require.NoError(t, err, "each item tells its own error, also when all do")
	w.mattermost.Refuse(filehost.E(filehost.Forbidden, "No.", nil))
	_, err = w.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err))
}

func TestACopyThatTakesTooLongNamesWhoLimitsIt(t *testing.T) {
	w := newWorld()
	w.mattermost.Limit(func(l *filehost.Limits) { l.TimeoutSetting = "ServiceSettings.ReadTimeout" })
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	w.remote.AddFile("/file", []byte("1"), noon)
	_, err := w.Attach(ctx, alice, attachment("/file"))
	var known *filehost.Error
	require.ErrorAs(t, err, &known)
	assert.Equal(t, filehost.Timeout, known.Kind)
	assert.Equal(t, int64(60), known.Limit)
	assert.Equal(t, filehost.OwnerMattermost, known.LimitOwner)
	assert.Contains(t, known.Message, "ServiceSettings.ReadTimeout")
}
