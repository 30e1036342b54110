package filehost_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// keyed is an attachment of paths with an idempotency key.
func keyed(paths ...string) filehost.Attachment {
	a := attachment(paths...)
	a.IdempotencyKey = "key"
	return a
}

// threeItems is a world with two files and a third that is missing.
func threeItems() (*world, filehost.Attachment) {
	w := newWorld()
	w.remote.AddFile("/a", []byte("first"), noon)
	w.remote.AddFile("/b", []byte("second"), noon)
	return w, keyed("/a", "/missing", "/b")
}

// insist repeats a request for as long as it is told that another is under way, and waits as it is told.
func insist(t *testing.T, w *world, service *filehost.Service, ask filehost.Attachment) (filehost.Attached, error) {
	t.Helper()
	for range 200 {
		attached, err := service.Attach(t.Context(), alice, ask)
		if filehost.KindOf(err) != filehost.Conflict {
			return attached, err
		}
		var known *filehost.Error
		require.ErrorAs(t, err, &known)
		require.Positive(t, known.RetryAfter)
		w.clock.Advance(known.RetryAfter)
	}
	t.Fatal("still told to wait")
	return filehost.Attached{}, nil
}

// answerOf is all that a caller learns.
func answerOf(attached filehost.Attached, err error) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%q %s %s", attached.PostID, attached.FileInfos, describe(err))
	for _, item := range attached.Items {
		fmt.Fprintf(&text, "\n%s %s %d %q %s", item.Path, item.Name, item.Size, item.FileID, describe(item.Err))
	}
	return text.String()
}

func describe(err error) string {
	var known *filehost.Error
	if !errors.As(err, &known) {
		return fmt.Sprint(err != nil)
	}
	shown := *known
	shown.Err = nil
	return fmt.Sprintf("%+v", shown)
}

// onePost wants one post with the right bytes of exactly the two files.
func onePost(t *testing.T, w *world, attached filehost.Attached) {
	t.Helper()
	posts := w.mattermost.Posts()
	require.Len(t, posts, 1)
	assert.Equal(t, w.mattermost.PostIDs()[0], attached.PostID)
	require.Len(t, attached.Items, 3)
	assert.Equal(t, []string{attached.Items[0].FileID, attached.Items[2].FileID}, posts[0].FileIDs)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(attached.Items[1].Err))
	for i, content := range map[int]string{0: "first", 2: "second"} {
		assert.Equal(t, content, string(w.mattermost.Uploads()[attached.Items[i].FileID].Bytes))
	}
	files, err := w.mattermost.Files(t.Context(), posts[0].FileIDs)
	require.NoError(t, err)
	for _, file := range files {
		assert.Equal(t, attached.PostID, file.PostID)
	}
}

// TestOnePostWhereverTheProcessDies lets a process die at each of its calls of a port, before its effect and after it,
// until it gets to its end alive. Another that comes after it makes one post of it, and a third call is answered alike.
func TestOnePostWhereverTheProcessDies(t *testing.T) {
	for _, after := range []bool{false, true} {
		for _, proof := range []bool{false, true} {
			for _, lag := range []int{0, 2} {
				t.Run(fmt.Sprintf("after=%v,proof=%v,lag=%d", after, proof, lag), func(t *testing.T) {
					for at := 1; ; at++ {
						w, ask := threeItems()
						first := &mortal{at: at, after: after}
						answer, err := w.run(filehosttest.Process{Name: "first"}, first, w.kv).Attach(t.Context(), alice, ask)
						if !first.dead {
							require.NoError(t, err)
							onePost(t, w, answer)
							assert.Greater(t, at, 15, "a copy of two files has that many calls")
							return
						}
						second := w.run(filehosttest.Process{Name: "second", Ends: map[string]bool{"first": proof}}, &mortal{}, w.kv.Replica(lag))
						attached, err := insist(t, w, second, ask)
						require.NoError(t, err, "died at call %d", at)
						onePost(t, w, attached)
						third, err := insist(t, w, w.run(filehosttest.Process{Name: "third"}, &mortal{}, w.kv), ask)
						assert.Equal(t, answerOf(attached, nil), answerOf(third, err))
						if t.Failed() {
							t.Fatalf("died at call %d", at)
						}
					}
				})
			}
		}
	}
}

// TestADraftSurvivesWhereverTheProcessDies is the same for a draft, whose answer is its files.
func TestADraftSurvivesWhereverTheProcessDies(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			w, ask := threeItems()
			ask.Draft, ask.Message = true, ""
			first := &mortal{at: at, after: after}
			_, err := w.run(filehosttest.Process{Name: "first"}, first, w.kv).Attach(t.Context(), alice, ask)
			if !first.dead {
				require.NoError(t, err)
				break
			}
			next := w.run(filehosttest.Process{Name: "next", Ends: map[string]bool{"first": true}}, &mortal{}, w.kv)
			attached, err := insist(t, w, next, ask)
			require.NoError(t, err)
			require.Len(t, attached.FileInfos, 2)
			again, err := insist(t, w, next, ask)
			assert.Equal(t, answerOf(attached, nil), answerOf(again, err))
			assert.Empty(t, w.mattermost.Posts())
			assert.LessOrEqual(t, len(w.mattermost.Uploads()), 3, "at most the file is copied again that was under way")
		}
	}
}

// TestOnePostWheneverTheStoreFails lets the store fail at each of its calls, that one alone or all from there on, without
// an effect or with one that nobody hears of.
func TestOnePostWheneverTheStoreFails(t *testing.T) {
	for name, test := range map[string]struct{ effect, stays bool }{
		"once": {}, "once, with an effect": {effect: true}, "for good": {stays: true}, "for good, with effects": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at++ {
				w, ask := threeItems()
				store := &failingKV{KV: w.kv, at: at, effect: test.effect, stays: test.stays}
				service := w.run(filehosttest.Process{Name: "first"}, &mortal{}, store)
				first, firstErr := service.Attach(t.Context(), alice, ask)
				if !store.failed {
					require.NoError(t, firstErr)
					assert.Greater(t, at, 3)
					return
				}
				store.at, store.stays = 0, false
				attached, err := insist(t, w, service, ask)
				require.NoError(t, err)
				onePost(t, w, attached)
				if firstErr == nil {
					assert.Equal(t, answerOf(first, nil), answerOf(attached, nil), "what was promised holds")
				} else {
					assert.Equal(t, filehost.Internal, filehost.KindOf(firstErr))
				}
				if t.Failed() {
					t.Fatalf("failed at call %d", at)
				}
			}
		})
	}
}

// TestADraftIsAnsweredOnlyWhenItsAnswerIsStored has an item that is missing at first and there when the request is
// repeated: what was answered stays the answer.
func TestADraftIsAnsweredOnlyWhenItsAnswerIsStored(t *testing.T) {
	for at := 1; ; at++ {
		w, ask := threeItems()
		ask.Draft, ask.Message = true, ""
		store := &failingKV{KV: w.kv, at: at}
		service := w.run(filehosttest.Process{Name: "first"}, &mortal{}, store)
		first, firstErr := service.Attach(t.Context(), alice, ask)
		failed := store.failed
		store.at = 0
		w.remote.AddFile("/missing", []byte("late"), noon)
		again, err := insist(t, w, service, ask)
		if firstErr == nil {
			assert.Equal(t, answerOf(first, nil), answerOf(again, err), "the store failed at call %d", at)
		} else {
			assert.Equal(t, filehost.Internal, filehost.KindOf(firstErr))
			require.NoError(t, err)
		}
		if !failed {
			return
		}
	}
}

// failingKV fails at a call, or from there on.
type failingKV struct {
	filehost.KV
	at            int
	effect, stays bool
	calls         int
	failed        bool
}

func (k *failingKV) fails() bool {
	k.calls++
	now := k.at > 0 && (k.calls == k.at || k.stays && k.calls > k.at)
	k.failed = k.failed || now
	return now
}

func (k *failingKV) Get(ctx context.Context, key string) ([]byte, error) {
	if k.fails() {
		return nil, errors.New("down")
	}
	return k.KV.Get(ctx, key)
}

func (k *failingKV) CompareAndSet(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	fails := k.fails()
	if fails && !k.effect {
		return false, errors.New("down")
	}
	won, err := k.KV.CompareAndSet(ctx, key, old, value, ttl)
	if fails {
		return false, errors.New("the answer was lost")
	}
	return won, err
}

func (k *failingKV) CompareAndDelete(ctx context.Context, key string, old []byte) (bool, error) {
	fails := k.fails()
	if fails && !k.effect {
		return false, errors.New("down")
	}
	won, err := k.KV.CompareAndDelete(ctx, key, old)
	if fails {
		return false, errors.New("the answer was lost")
	}
	return won, err
}

// TestAPostThatTheServerStillMakesForTheDeadIsTheAnswer kills the process while the server creates its post, which comes
// when the caller has asked again already.
func TestAPostThatTheServerStillMakesForTheDeadIsTheAnswer(t *testing.T) {
	w, ask := threeItems()
	var carry func(int)
	w.mattermost.LosePosts(func(c func(int)) { carry = c })
	_, err := w.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Internal, filehost.KindOf(err))
	require.NotNil(t, carry)
	w.mattermost.LosePosts(nil)
	next := w.run(filehosttest.Process{Name: "next", Ends: map[string]bool{"run": true}}, &mortal{}, w.kv)
	for range 3 {
		_, err = next.Attach(t.Context(), alice, ask)
		assert.Equal(t, filehost.Conflict, filehost.KindOf(err), "the server may still be at work")
		w.clock.Advance(time.Minute)
	}
	carry(2)
	attached, err := next.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	onePost(t, w, attached)
}

// TestAPostThatTheServerLeftIncompleteIsReplaced lets the server die within the creation of a post, with none or some of
// its files attached.
func TestAPostThatTheServerLeftIncompleteIsReplaced(t *testing.T) {
	for _, files := range []int{0, 1} {
		w, ask := threeItems()
		w.mattermost.LosePosts(func(carry func(int)) { carry(files) })
		_, err := w.Attach(t.Context(), alice, ask)
		assert.Equal(t, filehost.Internal, filehost.KindOf(err))
		w.mattermost.LosePosts(nil)
		attached, err := insist(t, w, w.Service, ask)
		require.NoError(t, err)
		onePost(t, w, attached)
		assert.Len(t, w.mattermost.Uploads(), 2+files, "what went with the post is copied again")
	}
}

// TestAnIncompletePostWithRepliesIsLeft answers in words, and with the same when it is asked again.
func TestAnIncompletePostWithRepliesIsLeft(t *testing.T) {
	w, ask := threeItems()
	w.mattermost.LosePosts(func(carry func(int)) { carry(1) })
	_, err := w.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Internal, filehost.KindOf(err))
	w.mattermost.LosePosts(nil)
	w.mattermost.Reply("post0")
	w.clock.Advance(5 * time.Minute)
	for range 2 {
		_, err = w.Attach(t.Context(), alice, ask)
		assert.ErrorContains(t, err, "Somebody has replied.")
		assert.Equal(t, filehost.Conflict, filehost.KindOf(err))
		assert.Equal(t, []string{"post0"}, w.mattermost.PostIDs())
	}
}

// TestAPostWhoseAnswerWasAFailureIsFoundAtOnce has a server that creates the post and fails after that.
func TestAPostWhoseAnswerWasAFailureIsFoundAtOnce(t *testing.T) {
	w, ask := threeItems()
	w.mattermost.LosePosts(func(carry func(int)) { carry(2) })
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	onePost(t, w, attached)
}

// TestANodeThatSleepsLongerThanItsLeasePostsNothing takes a claim over from a node that reads a file meanwhile, and lets
// that wake up.
func TestANodeThatSleepsLongerThanItsLeasePostsNothing(t *testing.T) {
	w, ask := threeItems()
	opened, gate, done := make(chan bool), make(chan bool), make(chan error)
	file := w.remote.AddFile("/b", []byte("second"), noon)
	file.Gate, file.Opened = gate, func() { opened <- true }
	asleep := w.run(filehosttest.Process{Name: "asleep"}, &mortal{}, w.kv)
	asleep.Clock = clockwork.NewFakeClockAt(noon) // it stands still
	go func() {
		_, err := asleep.Attach(t.Context(), alice, ask)
		done <- err
	}()
	<-opened
	awake := w.run(filehosttest.Process{Name: "awake"}, &mortal{}, w.kv)
	_, err := awake.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Conflict, filehost.KindOf(err))
	w.clock.Advance(time.Minute)
	w.remote.AddFile("/b", []byte("second"), noon)
	attached, err := awake.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	onePost(t, w, attached)
	assert.Len(t, w.mattermost.Uploads(), 2, "what the first had copied was not copied again")
	close(gate)
	assert.Equal(t, filehost.Conflict, filehost.KindOf(<-done))
	onePost(t, w, attached)
}

// sleepyPost waits before it posts.
type sleepyPost struct {
	filehost.Mattermost
	begun chan filehost.Post
	gate  chan bool
}

func (m *sleepyPost) Post(ctx context.Context, post filehost.Post) (string, error) {
	m.begun <- post
	<-m.gate
	return m.Mattermost.Post(ctx, post)
}

// TestANodeThatSleepsRightBeforeItPosts wakes up after another has posted: its own post gets no files and is removed, and
// its answer is the other's post.
func TestANodeThatSleepsRightBeforeItPosts(t *testing.T) {
	w, ask := threeItems()
	asleep := w.run(filehosttest.Process{Name: "asleep"}, &mortal{}, w.kv)
	slow := &sleepyPost{asleep.Mattermost, make(chan filehost.Post), make(chan bool)}
	asleep.Mattermost, asleep.Clock = slow, clockwork.NewFakeClockAt(noon)
	type result struct {
		attached filehost.Attached
		err      error
	}
	done := make(chan result)
	go func() {
		attached, err := asleep.Attach(t.Context(), alice, ask)
		done <- result{attached, err}
	}()
	post := <-slow.begun
	awake := w.run(filehosttest.Process{Name: "awake"}, &mortal{}, w.kv)
	w.clock.Advance(time.Minute)
	_, err := awake.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Conflict, filehost.KindOf(err), "the other may be posting")
	attached, err := insist(t, w, awake, ask)
	require.NoError(t, err)
	onePost(t, w, attached)
	assert.Equal(t, post.PendingID, w.mattermost.Posts()[0].PendingID)
	assert.NotEmpty(t, post.PendingID)
	close(slow.gate)
	late := <-done
	assert.Equal(t, answerOf(attached, nil), answerOf(late.attached, late.err))
	onePost(t, w, attached)
}

// TestWorkEndsBeforeItsLeaseWhenTheStoreIsDown has a store that fails while a file is read that doesn't end.
func TestWorkEndsBeforeItsLeaseWhenTheStoreIsDown(t *testing.T) {
	w, ask := threeItems()
	opened := make(chan bool)
	file := w.remote.AddFile("/b", []byte("second"), noon)
	file.Opened, file.Gate = func() { opened <- true }, make(chan bool)
	done := make(chan error)
	go func() {
		_, err := w.Attach(t.Context(), alice, ask)
		done <- err
	}()
	<-opened
	tried := make(chan bool)
	w.kv.Fail(func(filehosttest.Op, string) error {
		tried <- true
		return errors.New("down")
	})
	for range 3 {
		w.clock.Advance(15 * time.Second)
		<-tried
	}
	w.clock.Advance(5 * time.Second)
	go func() {
		for range tried { // whatever it still tries
		}
	}()
	err := <-done
	assert.Equal(t, filehost.Internal, filehost.KindOf(err))
	assert.ErrorContains(t, err, "so the copy was stopped")
	w.kv.Fail(nil)
	close(tried)
	assert.Empty(t, w.mattermost.Posts())
	w.remote.AddFile("/b", []byte("second"), noon)
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err, "a call of this run that has ended holds nothing up")
	onePost(t, w, attached)
}

// TestASignOfLifeKeepsTheClaim lets a copy take ten minutes.
func TestASignOfLifeKeepsTheClaim(t *testing.T) {
	w, ask := threeItems()
	opened, gate := make(chan bool), make(chan bool)
	file := w.remote.AddFile("/b", []byte("second"), noon)
	file.Opened, file.Gate = func() { opened <- true }, gate
	done := make(chan error)
	go func() {
		_, err := w.Attach(t.Context(), alice, ask)
		done <- err
	}()
	<-opened
	beaten := make(chan bool)
	w.kv.Fail(func(op filehosttest.Op, _ string) error {
		if op == filehosttest.CompareAndSet {
			beaten <- true
		}
		return nil
	})
	for range 40 {
		w.clock.Advance(15 * time.Second)
		<-beaten
	}
	w.kv.Fail(nil)
	_, err := w.run(filehosttest.Process{Name: "other"}, &mortal{}, w.kv).Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Conflict, filehost.KindOf(err))
	close(gate)
	require.NoError(t, <-done)
}

// TestSignsOfLifeGoOnAfterTheRequestsTime lets the creation of a post take longer than the request and than anybody waits
// for a dead call's post.
func TestSignsOfLifeGoOnAfterTheRequestsTime(t *testing.T) {
	w, ask := threeItems()
	service := w.run(filehosttest.Process{Name: "slow"}, &mortal{}, w.kv)
	slow := &sleepyPost{service.Mattermost, make(chan filehost.Post), make(chan bool)}
	service.Mattermost = slow
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := service.Attach(ctx, alice, ask)
		done <- err
	}()
	<-slow.begun
	cancel()
	beaten := make(chan bool)
	w.kv.Fail(func(op filehosttest.Op, _ string) error {
		if op == filehosttest.CompareAndSet {
			beaten <- true
		}
		return nil
	})
	for range 24 {
		w.clock.Advance(15 * time.Second)
		<-beaten
	}
	w.kv.Fail(nil)
	_, err := w.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Conflict, filehost.KindOf(err))
	close(slow.gate)
	require.NoError(t, <-done)
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	onePost(t, w, attached)
}

// TestManyCallsWithOneKey makes 50 at once on two nodes.
func TestManyCallsWithOneKey(t *testing.T) {
	w, ask := threeItems()
	nodes := []*filehost.Service{w.Service, w.run(filehosttest.Process{Name: "other"}, &mortal{}, w.kv)}
	var group sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for i := range 50 {
		group.Go(func() {
			attached, err := nodes[i%2].Attach(t.Context(), alice, ask)
			mu.Lock()
			defer mu.Unlock()
			if filehost.KindOf(err) == filehost.Conflict && err != nil {
				answers["conflict"]++
				return
			}
			answers[answerOf(attached, err)]++
		})
	}
	group.Wait()
	assert.LessOrEqual(t, len(answers), 2, "one answer, and conflict: %v", answers)
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	onePost(t, w, attached)
	assert.Len(t, w.mattermost.Uploads(), 2)
}

func TestAnotherRequestWithTheKeyIsRefused(t *testing.T) {
	w, ask := threeItems()
	_, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	for name, change := range map[string]func(*filehost.Attachment, *world){
		"another channel": func(a *filehost.Attachment, _ *world) { a.ChannelID = "other" },
		"another thread":  func(a *filehost.Attachment, _ *world) { a.RootID = "" },
		"another message": func(a *filehost.Attachment, _ *world) { a.Message += "." },
		"a draft":         func(a *filehost.Attachment, _ *world) { a.Draft = true },
		"another order":   func(a *filehost.Attachment, _ *world) { a.Items[0], a.Items[2] = a.Items[2], a.Items[0] },
		"one more":        func(a *filehost.Attachment, _ *world) { a.Items = append(a.Items, a.Items[0]) },
		"another version": func(a *filehost.Attachment, _ *world) { a.Items[0].ETag = `"x"` },
		"another host":    func(_ *filehost.Attachment, w *world) { w.Host.ID = "second" },
	} {
		t.Run(name, func(t *testing.T) {
			other, service := ask, *w.Service
			other.Items = append([]filehost.Item{}, ask.Items...)
			changed := *w
			changed.Service = &service
			change(&other, &changed)
			_, err := service.Attach(t.Context(), alice, other)
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			assert.Equal(t, filehost.KeyReused, known.Kind)
			assert.Equal(t, "Idempotency-Key", known.Field)
		})
	}
	assert.Len(t, w.mattermost.Posts(), 1)
}

// TestAReplicaThatLagsRefusesNobodysRequest frees a key and takes it for another request, while a node still reads the
// first.
func TestAReplicaThatLagsRefusesNobodysRequest(t *testing.T) {
	w, ask := threeItems()
	lagging := w.kv.Replica(3)
	node := w.run(filehosttest.Process{Name: "lagging"}, &mortal{}, lagging)
	opened, gate, done := make(chan bool), make(chan bool), make(chan error)
	file := w.remote.AddFile("/gone", []byte("x"), noon)
	file.Opened, file.Gate, file.Failure = func() { opened <- true }, gate, filehost.E(filehost.Timeout, "No byte arrived.", nil)
	first := keyed("/gone")
	go func() {
		_, err := w.Attach(t.Context(), alice, first)
		done <- err
	}()
	<-opened
	_, err := node.Attach(t.Context(), alice, first)
	assert.Equal(t, filehost.Conflict, filehost.KindOf(err))
	close(gate)
	assert.Equal(t, filehost.Timeout, filehost.KindOf(<-done))
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	again, err := insist(t, w, node, ask)
	assert.Equal(t, answerOf(attached, nil), answerOf(again, err))
}

// claimed are the names in the store that idempotency keys have.
func (w *world) claimed() []string {
	return slices.DeleteFunc(w.kv.Keys(), func(key string) bool { return !strings.HasPrefix(key, "idem_") })
}

func TestAKeyIsKeptForADay(t *testing.T) {
	w, ask := threeItems()
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	w.clock.Advance(24*time.Hour - time.Second)
	again, err := w.Attach(t.Context(), alice, ask)
	assert.Equal(t, answerOf(attached, nil), answerOf(again, err))
	_, err = w.Attach(t.Context(), alice, keyed("/b"))
	assert.Equal(t, filehost.KeyReused, filehost.KindOf(err), "which keeps it no longer")
	w.clock.Advance(time.Second)
	assert.Empty(t, w.claimed())
	other, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	assert.NotEqual(t, attached.PostID, other.PostID)
}

func TestAnotherUserWithTheSameKeyLearnsNothing(t *testing.T) {
	w, ask := threeItems()
	w.tokens = filehosttest.NewTokens(alice, bob)
	w.Tokens = w.tokens
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	other, err := w.Attach(t.Context(), bob, ask)
	require.NoError(t, err)
	assert.NotEqual(t, attached.PostID, other.PostID)
	_, err = w.Attach(t.Context(), bob, keyed("/b"))
	assert.Equal(t, filehost.KeyReused, filehost.KindOf(err), "his own key")
	assert.Len(t, w.claimed(), 2)
}

// TestWhatIsStored looks at the names and values in the store.
func TestWhatIsStored(t *testing.T) {
	w, ask := threeItems()
	ask.IdempotencyKey = "my-key"
	_, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	keys := w.claimed()
	require.Len(t, keys, 1)
	assert.LessOrEqual(t, len(keys[0]), 50, "the longest that old servers take")
	raw, err := w.kv.Get(t.Context(), keys[0])
	require.NoError(t, err)
	plain, err := w.Sealer.Open("idempotency\x00"+alice+"\x00POST /attach\x00"+strings.TrimPrefix(keys[0], "idem_"), string(raw))
	require.NoError(t, err, "it opens for this user, route and key only")
	for _, private := range []string{ask.Message, "my-key", "/a", "channel", "root"} {
		assert.NotContains(t, string(plain), `"`+private+`"`)
	}

	w.kv.Put(keys[0], []byte("of a key that is gone"))
	_, err = w.Attach(t.Context(), alice, ask)
	var known *filehost.Error
	require.ErrorAs(t, err, &known)
	assert.Equal(t, filehost.Conflict, known.Kind)
	assert.Contains(t, known.Message, "another key")
	assert.Len(t, w.mattermost.Posts(), 1)
}

// TestFinalErrorsAreKeptAndOthersFreeTheKey refuses a call whose files are copied, and asks again after the cause is gone.
func TestFinalErrorsAreKeptAndOthersFreeTheKey(t *testing.T) {
	for kind, kept := range map[filehost.Kind]bool{
		filehost.InvalidRequest: true, filehost.Forbidden: true, filehost.NotFound: true, filehost.Changed: true, filehost.TooLarge: true,
		filehost.Unsupported: true, filehost.NotConnected: false, filehost.RateLimited: false, filehost.HostUnavailable: false,
		filehost.Maintenance: false, filehost.Timeout: false, filehost.Internal: false, filehost.NotConfigured: false, filehost.Conflict: false,
	} {
		w, ask := threeItems()
		cause := &filehost.Error{Kind: kind, Message: "Said so.", Field: "f", Limit: 1, LimitOwner: filehost.OwnerPlugin, Actual: 2, RetryAfter: time.Second}
		service, checks := *w.Service, 0
		service.Mattermost = checkedMattermost{w.mattermost, func() {
			if checks++; checks == 3 {
				w.mattermost.Refuse(cause)
			}
		}}
		_, err := service.Attach(t.Context(), alice, ask)
		require.ErrorIs(t, err, cause)
		assert.Len(t, w.mattermost.Uploads(), 2)
		w.mattermost.Refuse(nil)
		attached, err := w.Attach(t.Context(), alice, ask)
		if kept {
			assert.Equal(t, describe(cause), describe(err), kind.Code())
			assert.Empty(t, w.mattermost.Posts())
			continue
		}
		require.NoError(t, err, kind.Code())
		onePost(t, w, attached)
	}
}

// TestARequestThatIsRefusedAtOnceLeavesNothing, whatever refuses it: everybody may send any number of them.
func TestARequestThatIsRefusedAtOnceLeavesNothing(t *testing.T) {
	w, ask := threeItems()
	w.kv.Fail(func(op filehosttest.Op, _ string) error {
		if op != filehosttest.Get {
			t.Errorf("the store was asked to do %v", op)
		}
		return nil
	})
	w.mattermost.Refuse(filehost.E(filehost.Forbidden, "No.", nil))
	_, err := w.Attach(t.Context(), alice, ask)
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err))
	w.mattermost.Refuse(nil)
	_, err = w.Attach(t.Context(), alice, keyed())
	assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err))
	w.kv.Fail(nil)
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err, "the key is free")
	onePost(t, w, attached)
}

// TestAUserTakesSoManyKeysADay counts those that are taken, each with an answer to keep.
func TestAUserTakesSoManyKeysADay(t *testing.T) {
	const most = 5000
	w, whole := threeItems()
	w.Tokens = filehosttest.NewTokens(alice, bob)
	take := func(userID string, key int) error {
		ask := keyed("/missing")
		ask.IdempotencyKey = strconv.Itoa(key)
		_, err := w.Attach(t.Context(), userID, ask)
		return err
	}
	for key := range most {
		require.Equal(t, filehost.NotFound, filehost.KindOf(take(alice, key)))
		w.clock.Advance(time.Second)
	}
	require.Equal(t, filehost.NotFound, filehost.KindOf(take(alice, 0)), "a key that is taken")
	var known *filehost.Error
	require.ErrorAs(t, take(alice, most), &known)
	assert.Equal(t, filehost.RateLimited, known.Kind)
	assert.Equal(t, int64(most), known.Limit)
	assert.Equal(t, 24*time.Hour-most*time.Second, known.RetryAfter)
	assert.Len(t, w.kv.Keys(), most)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(take(bob, 0)))
	w.clock.Advance(known.RetryAfter)
	attached, err := w.Attach(t.Context(), alice, whole)
	require.NoError(t, err)
	onePost(t, w, attached)
}

// TestARepeatedRequestGetsItsAnswerWhateverHasChanged revokes everything that the first needed.
func TestARepeatedRequestGetsItsAnswerWhateverHasChanged(t *testing.T) {
	w, ask := threeItems()
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	w.mattermost.Refuse(filehost.E(filehost.Forbidden, "No.", nil))
	require.NoError(t, w.tokens.Disconnect(t.Context(), alice))
	w.Settings.MaxFiles = 1
	again, err := w.Attach(t.Context(), alice, ask)
	assert.Equal(t, answerOf(attached, nil), answerOf(again, err))
}

// TestFilesThatCannotBePostedAnyMoreAreCopiedAgain lets a process die with two files copied, of which one is lost.
func TestFilesThatCannotBePostedAnyMoreAreCopiedAgain(t *testing.T) {
	for name, lose := range map[string]func(*world){
		"deleted":        func(w *world) { w.mattermost.DeleteFile("file0") },
		"posted by hand": func(w *world) { w.mattermost.AttachFile("file0", "another") },
	} {
		t.Run(name, func(t *testing.T) {
			w, ask := threeItems()
			w.mattermost.FailPosts(nil)
			first := w.run(filehosttest.Process{Name: "first"}, &mortal{}, w.kv)
			first.Mattermost = refusing{first.Mattermost}
			_, err := first.Attach(t.Context(), alice, ask)
			require.ErrorIs(t, err, errDead)
			lose(w)
			next := w.run(filehosttest.Process{Name: "next"}, &mortal{}, w.kv)
			attached, err := insist(t, w, next, ask)
			require.NoError(t, err)
			onePost(t, w, attached)
			assert.Len(t, w.mattermost.Uploads(), 3)
		})
	}
}

// refusing is a server whose every post fails without an effect.
type refusing struct{ filehost.Mattermost }

func (refusing) Post(context.Context, filehost.Post) (string, error) { return "", errDead }

func TestADryRunTakesNoKey(t *testing.T) {
	w, ask := threeItems()
	ask.DryRun = true
	attached, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	assert.Equal(t, filehost.NotFound, filehost.KindOf(attached.Items[1].Err))
	assert.Empty(t, w.kv.Keys())
	assert.Empty(t, w.mattermost.Uploads())
	ask.DryRun = false
	attached, err = w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	onePost(t, w, attached)
}
