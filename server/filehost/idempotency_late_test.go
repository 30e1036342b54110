package filehost_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// heldPost is a world whose server holds the post of a call that has died; carry lets it come.
func heldPost(t *testing.T) (w *world, ask filehost.Attachment, carry func(files int)) {
	t.Helper()
	w, ask = threeItems()
	w.mattermost.LosePosts(func(c func(int)) { carry = c })
	_, err := w.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Internal, filehost.KindOf(err))
	require.NotNil(t, carry)
	w.mattermost.LosePosts(nil)
	w.clock.Advance(5 * time.Minute)
	return w, ask, carry
}

// withFiles are the ids of the posts that have a file. A message without one may remain beside the post.
func withFiles(t *testing.T, w *world) (postIDs []string) {
	t.Helper()
	var ids []string
	for id := range w.mattermost.Uploads() {
		ids = append(ids, id)
	}
	files, err := w.mattermost.Files(t.Context(), ids)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, file := range files {
		if file.PostID != "" && !seen[file.PostID] {
			seen[file.PostID] = true
			postIDs = append(postIDs, file.PostID)
		}
	}
	return postIDs
}

// TestALatePostIsTheOnlyOneWhereverTheNextProcessDies lets the second of three processes die at each of its calls. The post
// of the first comes after that.
func TestALatePostIsTheOnlyOneWhereverTheNextProcessDies(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after=%v", after), func(t *testing.T) {
			for at := 1; ; at++ {
				w, ask, carry := heldPost(t)
				second := &mortal{at: at, after: after}
				answer, err := w.run(filehosttest.Process{Name: "second", Ends: map[string]bool{"run": true}}, second, w.kv).Attach(t.Context(), alice, ask)
				if !second.dead {
					require.NoError(t, err)
					onePost(t, w, answer)
					assert.Greater(t, at, 10)
					return
				}
				carry(2)
				third := w.run(filehosttest.Process{Name: "third", Ends: map[string]bool{"run": true, "second": true}}, &mortal{}, w.kv)
				attached, err := insist(t, w, third, ask)
				require.NoError(t, err, "died at call %d", at)
				assert.Equal(t, []string{attached.PostID}, withFiles(t, w))
				assert.Len(t, w.mattermost.Uploads(), 2, "nothing was copied again")
				require.Len(t, attached.Items, 3)
				assert.Equal(t, filehost.NotFound, filehost.KindOf(attached.Items[1].Err))
				if t.Failed() {
					t.Fatalf("died at call %d", at)
				}
			}
		})
	}
}

// checkedMattermost calls checked before each check of what the user may do.
type checkedMattermost struct {
	filehost.Mattermost
	checked func()
}

func (m checkedMattermost) MayAttach(ctx context.Context, userID, channelID, rootID string) error {
	m.checked()
	return m.Mattermost.MayAttach(ctx, userID, channelID, rootID)
}

// TestALatePostIsTheAnswer lets it come when the next call has looked for it, and before that or the last check.
func TestALatePostIsTheAnswer(t *testing.T) {
	for check := 1; check <= 2; check++ {
		w, ask, carry := heldPost(t)
		service, checks := w.run(filehosttest.Process{Name: "next", Ends: map[string]bool{"run": true}}, &mortal{}, w.kv), 0
		service.Mattermost = checkedMattermost{service.Mattermost, func() {
			if checks++; checks == check {
				carry(2)
			}
		}}
		attached, err := insist(t, w, service, ask)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, checks, check)
		onePost(t, w, attached)
		assert.Len(t, w.mattermost.Uploads(), 2, "nothing was copied again")
	}
}

// TestAnAttemptIsNotForgotten has the calls after it fail with what frees a key else, and with what is an answer else.
func TestAnAttemptIsNotForgotten(t *testing.T) {
	w, ask, carry := heldPost(t)
	w.remote.AddFile("/missing", []byte("late"), noon)
	for _, kind := range []filehost.Kind{filehost.Timeout, filehost.Forbidden} {
		w.mattermost.Refuse(filehost.E(kind, "No.", nil))
		_, err := w.Attach(t.Context(), alice, ask)
		assert.Equal(t, kind, filehost.KindOf(err))
	}
	_, err := w.Attach(t.Context(), alice, keyed("/b"))
	assert.Equal(t, filehost.KeyReused, filehost.KindOf(err))
	carry(2)
	w.mattermost.Refuse(nil)
	attached, err := insist(t, w, w.Service, ask)
	require.NoError(t, err)
	onePost(t, w, attached)
}

// TestALatePostThatIsNotWhole comes after a call that had waited for it and failed: it is replaced when it lacks a file, and
// stays deleted when it was deleted.
func TestALatePostThatIsNotWhole(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		w, ask, carry := heldPost(t)
		w.mattermost.Refuse(filehost.E(filehost.Timeout, "Slow.", nil))
		_, err := w.Attach(t.Context(), alice, ask)
		assert.Equal(t, filehost.Timeout, filehost.KindOf(err))
		w.mattermost.Refuse(nil)
		if deleted {
			carry(2)
			w.mattermost.DeletePost("post0")
		} else {
			carry(1)
		}
		attached, err := insist(t, w, w.Service, ask)
		if deleted {
			assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
			assert.Empty(t, w.mattermost.Posts())
			continue
		}
		require.NoError(t, err)
		onePost(t, w, attached)
	}
}

// TestAPostThatIsRefusedIsAnAnswer for good, at once.
func TestAPostThatIsRefusedIsAnAnswer(t *testing.T) {
	w, ask := threeItems()
	cause := filehost.E(filehost.Forbidden, "Another plugin says no.", nil)
	w.mattermost.FailPosts(cause)
	_, err := w.Attach(t.Context(), alice, ask)
	require.ErrorIs(t, err, cause)
	w.mattermost.FailPosts(nil)
	_, err = w.Attach(t.Context(), alice, ask)
	assert.Equal(t, describe(cause), describe(err))
	assert.Empty(t, w.mattermost.Posts())
}

// TestADeletedPostDoesNotComeBack lets a process die at each of its calls and deletes the post, if there is one by then,
// before the request is repeated.
func TestADeletedPostDoesNotComeBack(t *testing.T) {
	deleted := 0
	for at := 1; ; at++ {
		w, ask := threeItems()
		first := &mortal{at: at, after: true}
		_, _ = w.run(filehosttest.Process{Name: "first"}, first, w.kv).Attach(t.Context(), alice, ask)
		if !first.dead {
			break
		}
		if len(w.mattermost.PostIDs()) == 0 {
			continue
		}
		deleted++
		w.mattermost.DeletePost("post0")
		answer, err := insist(t, w, w.run(filehosttest.Process{Name: "next"}, &mortal{}, w.kv), ask)
		if err != nil { // else the answer had been stored
			assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
			assert.ErrorContains(t, err, "deleted")
		}
		assert.Empty(t, w.mattermost.Posts(), "died at call %d", at)
		again, againErr := w.Attach(t.Context(), alice, ask)
		assert.Equal(t, answerOf(answer, err), answerOf(again, againErr))
	}
	assert.GreaterOrEqual(t, deleted, 2, "the death after the post, and after its answer was stored")
}

// TestThePendingIDIsSharedByTheKeyAndNotGuessable makes the same request anew: all that goes into it is known.
func TestThePendingIDIsSharedByTheKeyAndNotGuessable(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		w, ask, carry := heldPost(t)
		_, err := w.Attach(t.Context(), alice, ask)
		require.NoError(t, err)
		carry(0) // the first attempt
		posts := w.mattermost.Posts()
		require.Len(t, posts, 2)
		assert.Equal(t, posts[0].PendingID, posts[1].PendingID)
		seen[posts[0].PendingID] = true
	}
	assert.Len(t, seen, 2)
}

// failsLate is a server that makes the post and then meets an error, such as of a channel that the message links to.
type failsLate struct {
	filehost.Mattermost
	err error
}

func (m failsLate) Post(ctx context.Context, post filehost.Post) (string, error) {
	if _, err := m.Mattermost.Post(ctx, post); err != nil {
		return "", err
	}
	return "", m.err
}

// TestAPostIsFoundWhateverItsCreationWasAnswered, by this call, and by the next where this one can't look.
func TestAPostIsFoundWhateverItsCreationWasAnswered(t *testing.T) {
	for _, kind := range []filehost.Kind{filehost.Internal, filehost.NotFound, filehost.Conflict} {
		w, ask := threeItems()
		service := w.run(filehosttest.Process{Name: "other"}, &mortal{}, w.kv)
		service.Mattermost = failsLate{service.Mattermost, filehost.E(kind, "After it.", nil)}
		attached, err := service.Attach(t.Context(), alice, ask)
		require.NoError(t, err, kind.Code())
		onePost(t, w, attached)

		w, ask = threeItems()
		service = w.run(filehosttest.Process{Name: "other"}, &mortal{}, w.kv)
		service.Mattermost = blind{failsLate{service.Mattermost, filehost.E(kind, "After it.", nil)}}
		_, err = service.Attach(t.Context(), alice, ask)
		assert.Equal(t, kind, filehost.KindOf(err))
		attached, err = insist(t, w, w.Service, ask)
		require.NoError(t, err, kind.Code())
		onePost(t, w, attached)
	}
}

// blind is a server that can't be asked for files.
type blind struct{ filehost.Mattermost }

func (blind) Files(context.Context, []string) ([]filehost.FileInfo, error) {
	return nil, filehost.E(filehost.Internal, "Down.", nil)
}
