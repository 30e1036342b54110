package tokens

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// dying returns an edit that lets a node die when kill is called: nothing it does from then on has an effect.
func (w *flowWorld) dying() (edit func(*Config), kill func()) {
	var dead deadKV
	return func(c *Config) { dead.KV, c.KV = c.KV, &dead }, func() {
		dead.mu.Lock()
		defer dead.mu.Unlock()
		dead.dead = true
	}
}

// deadKV is the store as a process sees it that has been killed.
type deadKV struct {
	filehost.KV
	mu   sync.Mutex
	dead bool
}

func (d *deadKV) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return errors.New("the process is gone")
	}
	return nil
}

// Get implements filehost.KV.
func (d *deadKV) Get(ctx context.Context, key string) ([]byte, error) {
	if err := d.err(); err != nil {
		return nil, err
	}
	return d.KV.Get(ctx, key)
}

// CompareAndSet implements filehost.KV.
func (d *deadKV) CompareAndSet(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	if err := d.err(); err != nil {
		return false, err
	}
	return d.KV.CompareAndSet(ctx, key, old, value, ttl)
}

// CompareAndDelete implements filehost.KV.
func (d *deadKV) CompareAndDelete(ctx context.Context, key string, old []byte) (bool, error) {
	if err := d.err(); err != nil {
		return false, err
	}
	return d.KV.CompareAndDelete(ctx, key, old)
}

func TestOneNodePollsALoginFlow(t *testing.T) {
	w := newFlowWorld(t)
	one, two := w.flowNode("one"), w.flowNode("two")
	login := w.beginFlow(one, ann)
	w.clock.Advance(8 * time.Second)
	one.tendFlows(t.Context())
	for range 20 {
		w.clock.Advance(8 * time.Second)
		two.tendFlows(t.Context())
		before, _ := w.flow.counts()
		one.tendFlows(t.Context())
		after, _ := w.flow.counts()
		require.Equal(t, before+1, after, "by the node that has the lease")
	}
	polls, _ := w.flow.counts()
	require.Equal(t, 21, polls, "the other node asks nothing")
	w.flow.allow(t, login, "ann", annThere)
	for range 3 {
		w.tend(two, one)
	}
	_, granted := w.flow.counts()
	require.Equal(t, 1, granted)
	require.NotNil(t, w.connection(two, ann).Pending)
}

func TestNodesThatPollAtOnceGetOneAppPassword(t *testing.T) {
	for range 20 {
		w := newFlowWorld(t)
		one, two, three := w.flowNode("one"), w.flowNode("two"), w.flowNode("three")
		password := w.flow.allow(t, w.beginFlow(one, ann), "ann", annThere)
		outcomes(3, func(i int) error {
			[]*Store{one, two, three}[i].tendFlows(t.Context())
			return nil
		})
		w.tend(one, two, three)
		w.tend(one, two, three)
		_, granted := w.flow.counts()
		require.Equal(t, 1, granted)
		require.NoError(t, two.Accept(t.Context(), ann, "", true))
		require.Equal(t, password, w.credential(one, ann).Secret.Reveal())
	}
}

func TestAnotherNodeGoesOnWithinAMinute(t *testing.T) {
	for name, allowed := range map[string]int{"while the user signs in": -1, "before it is known whose it is": 1} {
		t.Run(name, func(t *testing.T) {
			w := newFlowWorld(t)
			edit, kill := w.dying()
			one, two := w.flowNode("one", edit), w.flowNode("two")
			login := w.beginFlow(one, ann)
			if allowed > 0 {
				w.flow.allow(t, login, "ann", annThere)
			}
			w.tend(one, two)
			kill()
			if allowed < 0 {
				w.flow.allow(t, login, "ann", annThere)
			}
			killed := w.clock.Now()
			for w.connection(two, ann).Pending == nil {
				require.Less(t, w.clock.Since(killed), time.Minute)
				w.tend(one, two)
			}
			_, granted := w.flow.counts()
			require.Equal(t, 1, granted)
		})
	}
}

func TestANodeWhoseClockIsBehindTakesNoLeaseThatIsLive(t *testing.T) {
	w := newFlowWorld(t)
	ahead := clockwork.NewFakeClockAt(w.clock.Now().Add(50 * time.Second))
	one, two := w.flowNode("one"), w.flowNode("two", func(c *Config) { c.Clock = ahead })
	w.beginFlow(one, ann)
	w.tend(one)
	polls, _ := w.flow.counts()
	for range 10 {
		ahead.Advance(8 * time.Second)
		two.tendFlows(t.Context())
		w.tend(one)
	}
	after, _ := w.flow.counts()
	require.Equal(t, polls+10, after)
}

func TestWhatTheHostGivesIsSavedBeforeAnythingElse(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.flow.set(func(h *flowHost) { h.hostUser = filehost.E(filehost.HostUnavailable, "down", nil) })
	password := w.flow.allow(t, w.beginFlow(node, ann), "ann", annThere)
	w.tend(node)
	w.tend(node)
	index, _, err := node.loadFlows(t.Context())
	require.NoError(t, err)
	found, err := node.loadFlow(t.Context(), index.Flows[0].ID)
	require.NoError(t, err)
	require.Equal(t, flowReceived, found.State)
	require.Equal(t, password, found.AppPassword.Reveal())
	require.True(t, found.PollToken.IsEmpty(), "it is of no use any more")
	w.flow.set(func(h *flowHost) { h.hostUser = nil })
	w.tend(node)
	require.NotNil(t, w.connection(node, ann).Pending)
}

func TestAnAppPasswordThatCantBeSavedIsKeptAndTriedAgain(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.flow.allow(t, w.beginFlow(node, ann), "ann", annThere)
	w.flow.set(func(h *flowHost) {
		h.onGrant = func() {
			w.kv.Fail(func(filehosttest.Op, string) error { return errDatabase })
		}
	})
	w.tend(node)
	require.Contains(t, w.log.String(), "could not be saved yet")
	for range 5 {
		w.tend(node)
	}
	_, granted := w.flow.counts()
	require.Equal(t, 1, granted)
	polls, _ := w.flow.counts()
	require.Equal(t, 1, polls, "what it has in memory is not polled for")
	w.kv.Fail(nil)
	eventually(t, func() bool {
		w.tend(node)
		return w.connection(node, ann).Pending != nil
	})
}

func TestAWriteThatSeemedToFailIsFound(t *testing.T) {
	w := newFlowWorld(t)
	lossy := &lossyKV{KV: w.kv}
	node := w.flowNode("one", func(c *Config) { c.KV = lossy })
	w.flow.allow(t, w.beginFlow(node, ann), "ann", annThere)
	w.flow.set(func(h *flowHost) { h.onGrant = func() { lossy.lose() } })
	w.tend(node)
	eventually(t, func() bool {
		w.tend(node)
		return w.connection(node, ann).Pending != nil
	})
}

// lossyKV is a store of which one answer to a write is lost.
type lossyKV struct {
	filehost.KV
	mu   sync.Mutex
	next bool
}

func (l *lossyKV) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = true
}

// CompareAndSet implements filehost.KV.
func (l *lossyKV) CompareAndSet(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	won, err := l.KV.CompareAndSet(ctx, key, old, value, ttl)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next && err == nil {
		l.next = false
		return false, errDatabase
	}
	return won, err
}

func TestAPluginThatStopsRevokesWhatItCouldNotSave(t *testing.T) {
	w := newFlowWorld(t)
	lifetime, stop := context.WithCancel(t.Context())
	node := w.flowNode("one", func(c *Config) { c.Lifetime = lifetime })
	w.flow.allow(t, w.beginFlow(node, ann), "ann", annThere)
	w.flow.set(func(h *flowHost) {
		h.onGrant = func() { w.kv.Fail(func(filehosttest.Op, string) error { return errDatabase }) }
	})
	w.tend(node)
	require.Len(t, w.flow.working(), 1)
	stop()
	node.config.Pending.Wait()
	require.Empty(t, w.flow.working())
}

func TestAPluginThatStopsSavesWhatTheHostIsAboutToGive(t *testing.T) {
	w := newFlowWorld(t)
	lifetime, stop := context.WithCancel(t.Context())
	node := w.flowNode("one", func(c *Config) { c.Lifetime = lifetime })
	w.flow.allow(t, w.beginFlow(node, ann), "ann", annThere)
	w.flow.set(func(h *flowHost) { h.onGrant = stop })
	w.clock.Advance(8 * time.Second)
	node.tendFlows(lifetime)
	node.config.Pending.Wait()
	two := w.flowNode("two")
	for w.connection(two, ann).Pending == nil {
		w.tend(two)
	}
}

// Killed between the host's answer and the write: the app password is lost, and nobody can have it any more. The user
// begins again.
func TestAnAppPasswordLostWithItsNodeHoldsNobodyUp(t *testing.T) {
	w := newFlowWorld(t)
	edit, kill := w.dying()
	one, two := w.flowNode("one", edit), w.flowNode("two")
	w.flow.allow(t, w.beginFlow(one, ann), "ann", annThere)
	w.flow.set(func(h *flowHost) { h.onGrant = kill })
	w.tend(one)
	w.flow.set(func(h *flowHost) { h.onGrant = nil })
	for range 10 {
		w.tend(two)
	}
	require.Nil(t, w.connection(two, ann).Pending)
	w.offer(two, ann, annThere)
	require.NoError(t, two.Accept(t.Context(), ann, "", true))
}

func TestALateAnswerOfAFlowThatIsGoneIsRevoked(t *testing.T) {
	w := newFlowWorld(t)
	ahead := clockwork.NewFakeClockAt(w.clock.Now().Add(flowTime + flowLease + clockSkew))
	one, two := w.flowNode("one"), w.flowNode("two", func(c *Config) { c.Clock = ahead })
	w.flow.allow(t, w.beginFlow(one, ann), "ann", annThere)
	w.flow.set(func(h *flowHost) {
		h.onGrant = func() { // two finds that it has taken too long
			two.tendFlows(t.Context())
			w.requireNothingLeft()
		}
	})
	w.tend(one)
	require.Empty(t, w.flow.working())
	w.requireNothingLeft()
}

func TestAcceptedIsAcceptedAlsoIfTheNodeDies(t *testing.T) {
	w := newFlowWorld(t)
	edit, kill := w.dying()
	one, two := w.flowNode("one", edit), w.flowNode("two")
	password := w.offer(one, ann, annThere)
	var connected []string
	two.flows.connected = func(_ context.Context, userID string) { connected = append(connected, userID) }
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == one.key("conn_", ann) {
			kill()
			return errDatabase
		}
		return nil
	})
	require.Error(t, one.Accept(t.Context(), ann, "", true))
	w.kv.Fail(nil)
	require.Equal(t, filehost.Disconnected, w.state(two, ann))
	for range 6 {
		w.tend(two)
	}
	require.Equal(t, password, w.credential(two, ann).Secret.Reveal())
	require.Equal(t, []string{ann}, connected)
	w.requireNothingLeft()
}

// TestAnAcceptedAccountIsLeftToTheRequestThatAcceptedIt has the node look at a flow that its own request is connecting. It
// takes over when that has not ended in time.
func TestAnAcceptedAccountIsLeftToTheRequestThatAcceptedIt(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.offer(node, ann, annThere)
	var connected []string
	node.flows.connected = func(_ context.Context, userID string) { connected = append(connected, userID) }
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == node.key("conn_", ann) {
			return errDatabase
		}
		return nil
	})
	require.Error(t, node.Accept(t.Context(), ann, "", true))
	w.kv.Fail(nil)
	node.tendFlows(t.Context())
	require.Empty(t, connected)
	for range 6 {
		w.tend(node)
	}
	require.Equal(t, []string{ann}, connected)
	w.requireNothingLeft()
}

// TestAnAcceptedAccountIsHeldToWhoItsUserIsByThen lets the node die before and after the connection is saved.
func TestAnAcceptedAccountIsHeldToWhoItsUserIsByThen(t *testing.T) {
	for name, test := range map[string]struct {
		later  func(*filehost.Identity)
		reason string
	}{
		"deactivated":   {func(who *filehost.Identity) { who.Active = false }, "deactivated"},
		"somebody else": {func(who *filehost.Identity) { who.Email = "other@example.com" }, "another email address"},
	} {
		for stage, dies := range map[string]func(w *flowWorld, op filehosttest.Op, key string) bool{
			"not saved": func(_ *flowWorld, op filehosttest.Op, key string) bool {
				return op == filehosttest.CompareAndSet && strings.HasPrefix(key, "conn_")
			},
			"saved": func(w *flowWorld, op filehosttest.Op, key string) bool {
				saved := slices.ContainsFunc(w.kv.Keys(), func(key string) bool { return strings.HasPrefix(key, "conn_") })
				return op == filehosttest.Get && strings.HasPrefix(key, "flows_") && saved
			},
		} {
			t.Run(name+", "+stage, func(t *testing.T) {
				w := newFlowWorld(t)
				edit, kill := w.dying()
				one, two := w.flowNode("one", edit), w.flowNode("two")
				w.offer(one, ann, annThere)
				w.kv.Fail(func(op filehosttest.Op, key string) error {
					if dies(w, op, key) {
						kill()
						return errDatabase
					}
					return nil
				})
				require.Error(t, one.Accept(t.Context(), ann, "", true))
				w.kv.Fail(nil)
				w.setPerson(ann, test.later)
				for range 6 {
					w.tend(two)
				}
				connection := w.connection(two, ann)
				require.Equal(t, filehost.Disconnected, connection.State)
				require.Contains(t, connection.Refused.Reason, test.reason)
				require.Empty(t, w.flow.working(), "revoked")
				w.requireNothingLeft()
			})
		}
	}
}

func TestAnAccountIsAcceptedByWhoMayHaveItStill(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.offer(node, ann, annThere)
	w.setPerson(ann, func(who *filehost.Identity) { who.Active = false })
	requireKind(t, filehost.Forbidden, node.Accept(t.Context(), ann, "", true))
	require.Equal(t, filehost.Disconnected, w.state(node, ann))
	require.Empty(t, w.flow.working())
	w.requireNothingLeft()
}

// TestTheAccountThatIsAcceptedIsTheOneThatWasShown lets another take its place after it was shown.
func TestTheAccountThatIsAcceptedIsTheOneThatWasShown(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.offer(node, ann, annThere)
	w.offer(node, ann, filehost.HostUser{ID: "ann.2", Email: annThere.Email})
	for _, accept := range []bool{true, false} {
		requireKind(t, filehost.Conflict, node.Accept(t.Context(), ann, annThere.ID, accept))
	}
	require.Equal(t, filehost.Disconnected, w.state(node, ann))
	require.Equal(t, "ann.2", w.connection(node, ann).Pending.Account, "it waits on")
	require.NoError(t, node.Accept(t.Context(), ann, "ann.2", true))
	require.Equal(t, "ann.2", w.connection(node, ann).Account)
}

func TestANodeThatDiesHalfConnectedHarmsNothing(t *testing.T) {
	w := newFlowWorld(t)
	edit, kill := w.dying()
	one, two := w.flowNode("one", edit), w.flowNode("two")
	password := w.offer(one, ann, annThere)
	connected := one.key("conn_", ann)
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.Get && key == one.key("flows_", "") && slices.Contains(w.kv.Keys(), connected) {
			kill() // the connection is saved, the flow still listed
		}
		return nil
	})
	require.Error(t, one.Accept(t.Context(), ann, "", true))
	w.kv.Fail(nil)
	require.Equal(t, password, w.credential(two, ann).Secret.Reveal())
	for range 6 {
		w.tend(two)
	}
	require.Equal(t, password, w.credential(two, ann).Secret.Reveal())
	require.Len(t, w.flow.working(), 1)
	w.requireNothingLeft()
}

func TestDisconnectedWhileConnectingStaysDisconnected(t *testing.T) {
	w := newFlowWorld(t)
	one, two := w.flowNode("one"), w.flowNode("two")
	w.offer(one, ann, annThere)
	var disconnected atomic.Bool
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == one.key("conn_", ann) {
			if !disconnected.Swap(true) {
				require.NoError(t, two.Disconnect(t.Context(), ann))
			}
		}
		return nil
	})
	requireKind(t, filehost.InvalidRequest, one.Accept(t.Context(), ann, "", true))
	require.Equal(t, filehost.Disconnected, w.state(two, ann))
	require.Empty(t, w.flow.working())
	w.requireNothingLeft()
}

func TestAcceptAndDeclineAtOnceHaveOneOutcome(t *testing.T) {
	for range 20 {
		w := newFlowWorld(t)
		one, two := w.flowNode("one", impatient), w.flowNode("two", impatient)
		w.offer(one, ann, annThere)
		w.meet(2, filehosttest.CompareAndSet)
		errs := outcomes(2, func(i int) error { return []*Store{one, two}[i].Accept(t.Context(), ann, "", i == 0) })
		w.kv.Fail(nil)
		if errs[0] == nil {
			requireKind(t, filehost.NotFound, errs[1])
			require.Len(t, w.flow.working(), 1)
			require.Equal(t, filehost.Connected, w.state(one, ann))
		} else {
			requireKind(t, filehost.NotFound, errs[0])
			require.Empty(t, w.flow.working())
			require.Equal(t, filehost.Disconnected, w.state(one, ann))
		}
	}
}

func TestWhatIsNotWantedIsRevokedAsSoonAsTheHostCanBeAsked(t *testing.T) {
	w := newFlowWorld(t)
	edit, kill := w.dying()
	one, two := w.flowNode("one", edit), w.flowNode("two")
	w.offer(one, ann, annThere)
	w.flow.set(func(h *flowHost) { h.revoke = filehost.E(filehost.HostUnavailable, "down", nil) })
	require.NoError(t, one.Accept(t.Context(), ann, "", false))
	kill()
	for range 20 {
		w.tend(two)
	}
	require.Len(t, w.flow.working(), 1)
	w.flow.set(func(h *flowHost) { h.revoke = nil })
	w.clock.Advance(2 * flowTryLongest)
	w.tend(two)
	require.Empty(t, w.flow.working())
	w.requireNothingLeft()
}

func TestARevocationThatNeverSucceedsIsGivenUpAfterADay(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.offer(node, ann, annThere)
	w.flow.set(func(h *flowHost) { h.revoke = filehost.E(filehost.HostUnavailable, "down", nil) })
	require.NoError(t, node.Accept(t.Context(), ann, "", false))
	w.clock.Advance(24 * time.Hour)
	w.tend(node)
	w.requireNothingLeft()
	require.Contains(t, w.log.String(), "could not be revoked")
}

func TestAnOutageOfTheHostEndsNoLoginFlow(t *testing.T) {
	for name, fault := range map[string]http.HandlerFunc{
		"it is broken":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) },
		"it says too many":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) },
		"it hangs up":           func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") },
		"it shows a page":       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"it sends us elsewhere": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFlowWorld(t)
			node := w.flowNode("one")
			login := w.beginFlow(node, ann)
			w.flow.set(func(h *flowHost) { h.fault = fault })
			for range 10 {
				w.tend(node)
			}
			w.flow.set(func(h *flowHost) { h.fault = nil })
			w.flow.allow(t, login, "ann", annThere)
			w.tend(node)
			w.tend(node)
			require.NotNil(t, w.connection(node, ann).Pending)
		})
	}
}

func TestPollingSlowsDown(t *testing.T) {
	const step = 100 * time.Millisecond
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.beginFlow(node, ann)
	var waits []time.Duration
	last := w.clock.Now()
	for len(waits) < 30 {
		node.tendFlows(t.Context())
		if polls, _ := w.flow.counts(); polls == len(waits)+1 {
			waits, last = append(waits, w.clock.Since(last)), w.clock.Now()
		}
		w.clock.Advance(step)
	}
	require.Zero(t, waits[0])
	require.LessOrEqual(t, waits[1], 3*time.Second)
	for i, wait := range waits[1:] {
		require.GreaterOrEqual(t, wait, time.Second)
		require.LessOrEqual(t, wait, 7500*time.Millisecond+step)
		if i > 10 {
			require.GreaterOrEqual(t, wait, 2500*time.Millisecond)
		}
	}
}

func TestAnAnswerWithoutAnAppPasswordEndsTheFlow(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.beginFlow(node, ann)
	w.flow.set(func(h *flowHost) {
		h.fault = func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusOK, map[string]string{"loginName": "ann", "appPassword": "canary\n"})
		}
	})
	w.tend(node)
	require.Contains(t, w.connection(node, ann).Refused.Reason, "can't be used")
	require.NotContains(t, w.log.String(), "canary")
	w.requireNothingLeft()
}

func TestACredentialThatTheHostRejectsAtOnceConnectsNobody(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	password := w.flow.allow(t, w.beginFlow(node, ann), "ann", annThere)
	w.flow.set(func(h *flowHost) { delete(h.passwords, password) })
	w.tend(node)
	w.tend(node)
	require.Contains(t, w.connection(node, ann).Refused.Reason, "did not accept")
	w.tend(node)
	w.requireNothingLeft()
}

func TestAnAppPasswordWhoseAccountCantBeFoundOutIsRevoked(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.flow.allow(t, w.beginFlow(node, ann), "ann", annThere)
	w.flow.set(func(h *flowHost) { h.hostUser = filehost.E(filehost.HostUnavailable, "down", nil) })
	for range 3 {
		w.tend(node)
	}
	w.clock.Advance(flowCheckTime)
	w.tend(node)
	require.Empty(t, w.flow.working())
	require.Contains(t, w.connection(node, ann).Refused.Reason, "in time")
}

func TestALoginFlowOnAStaleReplica(t *testing.T) {
	w := newFlowWorld(t)
	one := w.flowNode("one")
	stale := w.flowNode("two", impatient, func(c *Config) { c.KV = w.kv.Replica(2) })
	stale.tendFlows(t.Context())
	password := w.offer(one, ann, annThere)
	for range 3 {
		w.tend(stale)
	}
	eventually(t, func() bool { return stale.Accept(t.Context(), ann, "", true) == nil })
	require.Equal(t, password, w.credential(one, ann).Secret.Reveal())
	_, granted := w.flow.counts()
	require.Equal(t, 1, granted)
	require.NoError(t, stale.Disconnect(t.Context(), ann))
	require.Empty(t, w.flow.working())
}

func TestTheWatchLooksAfterFlowsUntilItEnds(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		node.WatchLoginFlows(ctx, nil)
	}()
	w.waiting(1)
	login := w.beginFlow(node, ann) // wakes it, whatever the time
	eventually(t, func() bool { polls, _ := w.flow.counts(); return polls == 1 })
	w.flow.allow(t, login, "ann", annThere)
	eventually(t, func() bool {
		w.clock.Advance(time.Second)
		return w.connection(node, ann).Pending != nil
	})
	stop()
	<-ended
}

// TestWhoDisconnectsWhileAnAccountIsConnectedStaysDisconnected shows it where the next use would connect by itself.
func TestWhoDisconnectsWhileAnAccountIsConnectedStaysDisconnected(t *testing.T) {
	w := newFlowWorld(t)
	method := &issuer{err: &refusal{reason: "no"}}
	node := automatically(w.flowNode("one", impatient), method)
	node.config.Methods = []filehost.Method{filehost.MethodTokenExchange, filehost.MethodLoginFlow}
	w.offer(node, ann, annThere)
	disconnected := false
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == node.key("conn_", ann) && !disconnected {
			disconnected = true
			assert.NoError(t, node.Disconnect(context.Background(), ann))
		}
		return nil
	})
	require.Error(t, node.Accept(t.Context(), ann, "", true))
	method.fail(nil)
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	require.Zero(t, method.asked.Load())
}
