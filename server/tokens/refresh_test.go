package tokens

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func TestForGivesAValidTokenWithoutAskingAnyone(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	first := w.connect(node, ann)
	w.clock.Advance(time.Hour - expiryMargin - time.Second)
	require.Equal(t, first, w.credential(node, ann))
	require.Equal(t, 1, w.server.tokenCalls())
	require.Equal(t, filehost.Bearer, first.Scheme)
	require.Equal(t, "alice", first.Account)
}

func TestThreeHundredCallersOnThreeNodesMakeOneTokenRequest(t *testing.T) {
	for name, lag := range map[string]int{"reading what is there": 0, "reading replicas that lag behind": 5} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			old := w.connect(w.node(), ann)
			var nodes []*Store
			for range 3 {
				replica := w.kv.Replica(lag)
				node := w.node(impatient, func(c *Config) { c.KV = replica })
				require.Equal(t, old, w.credential(node, ann)) // now the replica knows the old record
				nodes = append(nodes, node)
			}
			w.expire()
			credentials := make([]filehost.Credential, 300)
			for _, err := range outcomes(300, func(i int) (err error) {
				credentials[i], err = nodes[i%3].For(t.Context(), ann)
				return err
			}) {
				require.NoError(t, err)
			}
			require.Equal(t, 2, w.server.tokenCalls(), "the sign-in and one refresh")
			for _, credential := range credentials {
				require.Equal(t, credentials[0], credential)
			}
			require.NotEqual(t, old.Generation, credentials[0].Generation)
			require.Equal(t, old.Connection, credentials[0].Connection)
			require.True(t, w.server.accepts(credentials[0].Secret.Reveal()))
		})
	}
}

func TestAReaderOfAStaleReplicaSpendsNothing(t *testing.T) {
	w := newWorld(t)
	fresh := w.node()
	w.connect(fresh, ann)
	replica := w.kv.Replica(20)
	stale := w.node(impatient, func(c *Config) { c.KV = replica })
	w.credential(stale, ann)
	w.expire()
	renewed := w.credential(fresh, ann)
	require.Equal(t, 2, w.server.tokenCalls())
	require.Equal(t, renewed, w.credential(stale, ann))
	require.Equal(t, 2, w.server.tokenCalls())
}

func TestACallerWhoLeavesStillGetsTheRefreshSaved(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	old := w.connect(node, ann)
	w.expire()
	arrived, proceed := make(chan struct{}), make(chan struct{})
	w.server.set(func(s *signInServer) { s.beforeToken = func() { close(arrived); <-proceed } })
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := node.For(ctx, ann)
		left <- err
	}()
	<-arrived
	leave()
	requireKind(t, filehost.Timeout, <-left)
	close(proceed)
	eventually(t, func() bool {
		found, err := node.load(t.Context(), ann)
		return err == nil && found.State == active && found.Generation.after(generation(old.Generation))
	})
	w.credential(w.node(), ann)
	require.Equal(t, 2, w.server.tokenCalls())
}

func TestAWaiterForAnotherNodeIsBoundedByHisOwnContext(t *testing.T) {
	w := newWorld(t)
	first, second := w.node(), w.node()
	w.connect(first, ann)
	w.expire()
	arrived, proceed := make(chan struct{}), make(chan struct{})
	w.server.set(func(s *signInServer) { s.beforeToken = func() { close(arrived); <-proceed } })
	done := make(chan error)
	go func() {
		_, err := first.For(t.Context(), ann)
		done <- err
	}()
	<-arrived
	ctx, giveUp := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		_, err := second.For(ctx, ann)
		waiting <- err
	}()
	w.waiting(2) // the time-out of the call, and the waiter's pause
	giveUp()
	requireKind(t, filehost.Timeout, <-waiting)
	close(proceed)
	require.NoError(t, <-done)
	w.clock.Advance(time.Minute) // lets the second node's wait end
	require.Equal(t, 2, w.server.tokenCalls())
}

func TestAPluginThatStopsFinishesTheRefreshItHasBegun(t *testing.T) {
	w := newWorld(t)
	lifetime, stop := context.WithCancel(t.Context())
	node := w.node(func(c *Config) { c.Lifetime = lifetime })
	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) { s.beforeToken = stop })
	_, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	node.config.Pending.Wait()
	w.credential(node, ann) // what is saved is still given out
	w.credential(w.node(), ann)
	require.Equal(t, 2, w.server.tokenCalls())
}

func TestAStoreThatFailsAfterTheRefreshLosesNoToken(t *testing.T) {
	w := newWorld(t)
	node, other := w.node(), w.node()
	old := w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) {
		s.beforeToken = func() { w.kv.Fail(failWrites) } // the lease is written by now
	})
	kept := w.credential(node, ann)
	require.True(t, w.server.accepts(kept.Secret.Reveal()))
	require.Equal(t, kept, w.credential(node, ann))
	renewed, err := node.Renew(t.Context(), ann, old)
	require.NoError(t, err)
	require.Equal(t, kept, renewed)
	_, err = node.Renew(t.Context(), ann, kept)
	requireKind(t, filehost.Internal, err)
	require.Equal(t, 2, w.server.tokenCalls(), "the old refresh token is not spent again")

	w.kv.Fail(nil)
	eventually(t, func() bool {
		w.clock.Advance(retryFirst)
		found, err := other.load(t.Context(), ann)
		return err == nil && found.State == active
	})
	require.Equal(t, kept.Generation, w.credential(other, ann).Generation)
	require.Equal(t, 2, w.server.tokenCalls())
}

func TestTokensThatRunOutBeforeTheyAreSavedSpendNoOldOne(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.expire()
	var down atomic.Bool
	down.Store(true)
	leased := false
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		// The lease is written; what comes of it is not, until the store is back.
		if op != filehosttest.CompareAndSet || !strings.HasPrefix(key, "conn_") || !down.Load() || !leased {
			leased = leased || op == filehosttest.CompareAndSet && strings.HasPrefix(key, "conn_")
			return nil
		}
		return errors.New("database is down")
	})
	kept := w.credential(node, ann)
	w.waiting(1) // the write waits to be tried again
	unsaved, ok := node.notSaved(ann)
	require.True(t, ok)
	unsaved.UsableUntil = w.clock.Now() // it runs out while the write still waits
	node.keepUnsaved(ann, unsaved)
	held, err := node.load(t.Context(), ann)
	require.NoError(t, err)
	held.Lease.Deadline = w.clock.Now().Add(-2 * clockSkew) // and so does the lease
	down.Store(false)
	_, won, err := node.swap(t.Context(), ann, held, held.record)
	require.NoError(t, err)
	require.True(t, won)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = node.For(ctx, ann)
	requireKind(t, filehost.Internal, err)
	_, err = node.Renew(ctx, ann, kept)
	requireKind(t, filehost.Internal, err)
	require.Equal(t, 2, w.server.tokenCalls(), "the old refresh token is not spent again")
}

func TestCallersOfOneNodeShareARefresh(t *testing.T) {
	const callers = 100
	w := newWorld(t)
	node := w.node(impatient)
	w.connect(node, ann)
	w.expire()
	var reads atomic.Int32
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.Get && strings.HasPrefix(key, "conn_") {
			reads.Add(1)
		}
		return nil
	})
	w.server.set(func(s *signInServer) {
		s.beforeToken = func() {
			eventually(t, func() bool { return reads.Load() > callers }) // each has read the record, and one has the lease
		}
	})
	for _, err := range outcomes(callers, func(int) error { _, err := node.For(t.Context(), ann); return err }) {
		require.NoError(t, err)
	}
	require.Equal(t, 2, w.server.tokenCalls())
	require.Less(t, reads.Load(), int32(callers*3/2), "who waits leaves the store alone")
}

func TestTokensThatAreNotSavedYetSurviveAChangeOfTheConfiguration(t *testing.T) {
	w := newWorld(t)
	pending := NewPending()
	ofNode := func(c *Config) { c.Pending = pending }
	before := w.node(ofNode)
	w.connect(before, ann)
	w.expire()
	w.server.set(func(s *signInServer) {
		s.beforeToken = func() { w.kv.Fail(failWrites) }
	})
	kept := w.credential(before, ann)

	after := w.node(ofNode)
	require.Equal(t, kept, w.credential(after, ann))
	waiting, err := after.successor(t.Context(), ann, generation("0")) // one who has read the lease just before
	require.NoError(t, err)
	require.Equal(t, kept, waiting.credential())
	for name, edit := range otherSettings() {
		_, err := w.node(ofNode, edit).For(t.Context(), ann)
		require.Equal(t, filehost.NotConnected, filehost.KindOf(err), "%s: %v", name, err)
	}
	require.Equal(t, 2, w.server.tokenCalls(), "the old refresh token is not spent again")

	w.kv.Fail(nil)
	eventually(t, func() bool {
		w.clock.Advance(retryFirst)
		_, unsaved := after.notSaved(ann)
		return !unsaved
	})
	require.Equal(t, kept.Generation, w.credential(w.node(), ann).Generation)
	require.Equal(t, 2, w.server.tokenCalls())
}

// failWrites is a store that can only be read.
func failWrites(op filehosttest.Op, _ string) error {
	if op == filehosttest.CompareAndSet {
		return errors.New("database is down")
	}
	return nil
}

func TestAPanicOfARefreshIsAnErrorOfItsCallers(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.expire()
	reads := 0
	w.kv.Fail(func(op filehosttest.Op, _ string) error {
		if reads++; op == filehosttest.Get && reads == 2 { // the first is the caller's own
			panic("a fault")
		}
		return nil
	})
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.Internal, err)
	w.credential(node, ann)
}

func TestAPanicOfAWriteInTheBackgroundIsLogged(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) {
		s.beforeToken = func() { w.kv.Fail(failWrites) }
	})
	w.credential(node, ann)
	w.kv.Fail(func(filehosttest.Op, string) error { panic("a fault") })
	eventually(t, func() bool {
		w.clock.Advance(retryFirst)
		return strings.Contains(w.log.String(), "panic of type string")
	})
}

func TestANewConnectionReplacesTokensThatAreNotSavedYet(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	found, err := node.load(t.Context(), ann)
	require.NoError(t, err)
	found.AccessToken = filehost.NewSecret("canary-old")
	node.keepUnsaved(ann, found.record)
	state, code := w.begin(node, ann)
	_, err = node.Callback(t.Context(), callback(ann, state, code))
	require.NoError(t, err)
	require.True(t, w.server.accepts(w.credential(node, ann).Secret.Reveal()))
}

func TestTheNodeWithTheNewTokensOverrulesOneThatTookItsLeaseOver(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	found, err := node.load(t.Context(), ann)
	require.NoError(t, err)
	held, won, err := node.swap(t.Context(), ann, found, leasedBy(found, w.clock.Now(), 1))
	require.NoError(t, err)
	require.True(t, won)
	_, won, err = node.swap(t.Context(), ann, held, held.as(dead)) // the other node's refresh token was the spent one
	require.NoError(t, err)
	require.True(t, won)

	next := held.as(active)
	next.Generation = held.Generation.next(w.clock.Now())
	require.Equal(t, stored, node.store(t.Context(), ann, held, next))
	require.Equal(t, string(next.Generation), w.credential(node, ann).Generation)
	require.Equal(t, stored, node.store(t.Context(), ann, held, next), "a write that only seemed to fail")
}

func leasedBy(found entry, now time.Time, attempt int) record {
	leased := found.as(refreshing)
	leased.Lease = &lease{Owner: "killed", Deadline: now.Add(leaseTime), Attempt: attempt}
	return leased
}

func TestTheLeaseOfAKilledNodeIsTakenOverOnce(t *testing.T) {
	tests := map[string]struct {
		attempt  int
		spent    bool
		wait     time.Duration
		requests int
		want     filehost.ConnectionState
	}{
		"killed before the request":                  {attempt: 1, wait: 2 * time.Hour, requests: 1, want: filehost.Connected},
		"killed after the request":                   {attempt: 1, spent: true, wait: 2 * time.Hour, requests: 1, want: filehost.Reconnect},
		"the one who took it over was killed too":    {attempt: 2, spent: true, wait: 2 * time.Hour, requests: 0, want: filehost.Reconnect},
		"seen unchanged for the lease's whole time":  {attempt: 1, wait: 0, requests: 1, want: filehost.Connected},
		"a deadline of a clock that is an hour fast": {attempt: 1, wait: -time.Hour, requests: 1, want: filehost.Connected},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			node := w.node()
			w.connect(node, ann)
			found, err := node.load(t.Context(), ann)
			require.NoError(t, err)
			_, won, err := node.swap(t.Context(), ann, found, leasedBy(found, w.clock.Now().Add(-test.wait), test.attempt))
			require.NoError(t, err)
			require.True(t, won)
			if test.spent {
				w.server.set(func(s *signInServer) { clear(s.tokens) })
			}
			done := make(chan error)
			go func() {
				_, err := node.For(t.Context(), ann)
				done <- err
			}()
			if test.wait <= 0 {
				w.waiting(1)
				require.Equal(t, 1, w.server.tokenCalls(), "nobody spends under a lease")
				w.clock.Advance(leaseTime)
			}
			if err := <-done; test.want == filehost.Connected {
				require.NoError(t, err)
			} else {
				requireKind(t, filehost.NotConnected, err)
			}
			require.Equal(t, test.want, w.state(node, ann))
			require.Equal(t, 1+test.requests, w.server.tokenCalls())
			_, _ = node.For(t.Context(), ann)
			require.Equal(t, 1+test.requests, w.server.tokenCalls(), "and once only")
		})
	}
}

func TestWhatADeadGrantIsDependsOnTheHost(t *testing.T) {
	tests := map[string]struct {
		kind, code string
		dead       bool
	}{
		"invalid_grant anywhere":                        {"webdav", "invalid_grant", true},
		"invalid_grant of ownCloud":                     {"owncloud", "invalid_grant", true},
		"invalid_grant of Nextcloud":                    {"nextcloud", "invalid_grant", true},
		"invalid_request of Nextcloud, of a used token": {"nextcloud", "invalid_request", true},
		"invalid_request of ownCloud":                   {"owncloud", "invalid_request", false},
		"invalid_request anywhere else":                 {"webdav", "invalid_request", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.host.Kind, w.server.secretInBody = test.kind, test.kind == "nextcloud"
			node := w.node(func(c *Config) {
				c.OAuth.AuthorizeURL, c.OAuth.TokenURL = w.server.URL+authorizePath, w.server.URL+tokenPath
			})
			w.connect(node, ann)
			w.expire()
			w.server.set(func(s *signInServer) { clear(s.tokens); s.usedUp = test.code })
			_, err := node.For(t.Context(), ann)
			if !test.dead {
				requireKind(t, filehost.HostUnavailable, err)
				require.Equal(t, filehost.Connected, w.state(node, ann))
				return
			}
			requireKind(t, filehost.NotConnected, err)
			require.Equal(t, filehost.Reconnect, w.state(node, ann))
			_, err = node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			require.Equal(t, 2, w.server.tokenCalls(), "a dead grant is not sent again")
		})
	}
}

func TestADeadGrantIsCheckedAgainstTheLatestRecord(t *testing.T) {
	w := newWorld(t)
	node, other := w.node(impatient), w.node()
	w.connect(node, ann)
	w.expire()
	var renewed filehost.Credential
	w.server.set(func(s *signInServer) {
		s.beforeToken = func() {
			s.set(func(s *signInServer) { s.beforeToken = nil })
			renewed = w.connect(other, ann) // kills the old tokens
			s.set(func(s *signInServer) { delete(s.tokens, "old") })
		}
		clear(s.tokens)
	})
	require.Equal(t, renewed.Generation, w.credential(node, ann).Generation)
	require.Equal(t, filehost.Connected, w.state(node, ann))
}

func TestNoFailureOfTheSignInServerDeletesAGrant(t *testing.T) {
	answer := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	const asJSON = "application/json"
	tests := map[string]struct {
		fault http.HandlerFunc
		want  filehost.Kind
	}{
		"500 with a page":            {answer(500, "text/html", "<!DOCTYPE html>canary-page"), filehost.HostUnavailable},
		"503":                        {answer(503, "text/plain", "canary-text"), filehost.HostUnavailable},
		"429":                        {answer(429, asJSON, `[]`), filehost.RateLimited},
		"500 that says temporarily":  {answer(500, asJSON, `{"error":"temporarily_unavailable"}`), filehost.HostUnavailable},
		"503 that names a code":      {answer(503, asJSON, `{"error":"invalid_grant"}`), filehost.HostUnavailable},
		"500 that names a code":      {answer(500, asJSON, `{"error":"invalid_request"}`), filehost.HostUnavailable},
		"429 that names a code":      {answer(429, asJSON, `{"error":"invalid_request"}`), filehost.RateLimited},
		"403 that names a code":      {answer(403, asJSON, `{"error":"invalid_grant"}`), filehost.HostUnavailable},
		"302 that names a code":      {answer(302, asJSON, `{"error":"invalid_grant"}`), filehost.HostUnavailable},
		"200 that names a code":      {answer(200, asJSON, `{"error":"invalid_grant"}`), filehost.HostUnavailable},
		"503 that blames the client": {answer(503, asJSON, `{"error":"invalid_client"}`), filehost.HostUnavailable},
		"200 with a page":            {answer(200, "text/html", "<html>canary-page"), filehost.HostUnavailable},
		"200 with other JSON":        {answer(200, asJSON, `{"access_token":{"canary":1}}`), filehost.HostUnavailable},
		"200 without a token":        {answer(200, asJSON, `{"token_type":"Bearer"}`), filehost.HostUnavailable},
		"200 with another type":      {answer(200, asJSON, `{"access_token":"canary-mac","token_type":"mac"}`), filehost.HostUnavailable},
		"200 with a broken token":    {answer(200, asJSON, `{"access_token":"canary\r\nX: y","token_type":"Bearer"}`), filehost.HostUnavailable},
		"200 above 1 MiB":            {answer(200, asJSON, `{"access_token":"canary","x":"`+strings.Repeat("x", 1<<20)+`"}`), filehost.HostUnavailable},
		"an error code of its own":   {answer(400, asJSON, `{"error":"canary-code"}`), filehost.HostUnavailable},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, filehost.HostUnavailable},
		"a connection that is reset": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, filehost.HostUnavailable},
		"invalid_client":             {answer(401, asJSON, `{"error":"invalid_client"}`), filehost.NotConfigured},
		"unauthorized_client":        {answer(400, asJSON, `{"error":"unauthorized_client"}`), filehost.NotConfigured},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			node := w.node()
			w.connect(node, ann)
			w.expire()
			w.server.set(func(s *signInServer) { s.fault = test.fault })
			_, err := node.For(t.Context(), ann)
			requireKind(t, test.want, err)
			require.Equal(t, 2, w.server.tokenCalls(), "one failing call is one POST")
			require.NotContains(t, err.Error(), "canary")
			require.NotContains(t, strings.Join(w.server.requests, " "), "/elsewhere", "no redirect is followed")
			require.Equal(t, filehost.Connected, w.state(node, ann))
			w.clock.Advance(restTime)

			w.server.set(func(s *signInServer) { s.fault = nil })
			w.credential(node, ann)
			require.Equal(t, 3, w.server.tokenCalls())
		})
	}
}

func TestATokenEndpointThatHangsIsGivenUp(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.expire()
	arrived, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	w.server.set(func(s *signInServer) {
		s.fault = func(http.ResponseWriter, *http.Request) { close(arrived); <-over }
	})
	done := make(chan error)
	go func() {
		_, err := node.For(t.Context(), ann)
		done <- err
	}()
	<-arrived
	w.clock.Advance(exchangeLimit)
	err := <-done
	requireKind(t, filehost.HostUnavailable, err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, filehost.Connected, w.state(node, ann))
}

func TestATokenAnswerThatIsTooLongIsNoAnswer(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) { s.answer["pad"] = strings.Repeat("A", answerLimit) })
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.HostUnavailable, err)
	require.Equal(t, filehost.Connected, w.state(node, ann))
}

func TestWhoWaitedForARefreshThatFailedDoesNotRepeatIt(t *testing.T) {
	w := newWorld(t)
	first, second := w.node(), w.node()
	w.connect(first, ann)
	w.expire()
	arrived, proceed := make(chan struct{}), make(chan struct{})
	w.server.set(func(s *signInServer) {
		s.fault = func(w http.ResponseWriter, _ *http.Request) { close(arrived); <-proceed; w.WriteHeader(503) }
	})
	errs := make(chan error, 2)
	ask := func(node *Store) {
		_, err := node.For(t.Context(), ann)
		errs <- err
	}
	go ask(first)
	<-arrived
	go ask(second)
	w.waiting(2)
	close(proceed)
	requireKind(t, filehost.HostUnavailable, <-errs)
	w.clock.Advance(2 * pollFirst)
	requireKind(t, filehost.HostUnavailable, <-errs)
	require.Equal(t, 2, w.server.tokenCalls())
}

func TestARefusedClientIsLoggedOnceAndToldToTheAdmin(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) { s.clientSecret = "another" })
	for range 3 {
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.NotConfigured, err)
	}
	require.Equal(t, 2, w.server.tokenCalls(), "each further call would feed the host's throttle")
	require.Equal(t, 1, strings.Count(w.log.String(), clientRefusedMessage))
	requireKind(t, filehost.NotConfigured, node.CheckTokenEndpoint(t.Context()))
	w.server.set(func(s *signInServer) { s.clientSecret = "canary-client-secret" })
	w.credential(w.node(), ann) // a new one, as after a change of the settings
	w.expire()
	w.clock.Advance(restTime)
	w.credential(node, ann)
	require.NoError(t, node.CheckTokenEndpoint(t.Context()))
}

func TestATokenEndpointThatThrottlesIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) {
		s.fault = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusTooManyRequests) }
	})
	for range 3 {
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.RateLimited, err)
	}
	require.Equal(t, 2, w.server.tokenCalls())
	w.server.set(func(s *signInServer) { s.fault = nil })
	w.clock.Advance(restTime)
	w.credential(node, ann)
}

func TestAnAnswerWithoutARefreshTokenKeepsTheOldOne(t *testing.T) {
	w := newWorld(t)
	w.server.noRotation = true
	node := w.node()
	w.connect(node, ann)
	for range 3 {
		w.expire()
		require.True(t, w.server.accepts(w.credential(node, ann).Secret.Reveal()))
	}
	require.Equal(t, 4, w.server.tokenCalls())
}

func TestATokenIsUsedByTheClockOfWhoReceivedIt(t *testing.T) {
	tests := map[string]struct {
		expiresIn any
		usable    time.Duration // 0 = for ever
	}{
		"an hour":                       {3600, time.Hour - 45*time.Second},
		"as text":                       {"3600", time.Hour - 45*time.Second},
		"shorter than twice the margin": {60, 30 * time.Second},
		"not said":                      {nil, 0},
		"zero":                          {0, 0},
		"negative":                      {-5, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.server.answer["expires_in"] = test.expiresIn
			node := w.node()
			w.connect(node, ann)
			if test.usable == 0 {
				w.clock.Advance(1000 * time.Hour)
				w.credential(node, ann)
				require.Equal(t, 1, w.server.tokenCalls())
				return
			}
			w.clock.Advance(test.usable - time.Millisecond)
			w.credential(node, ann)
			require.Equal(t, 1, w.server.tokenCalls())
			w.clock.Advance(time.Millisecond)
			w.credential(node, ann)
			require.Equal(t, 2, w.server.tokenCalls())
		})
	}
}

func TestATokenThatRanOutWithoutARefreshTokenAsksToReconnect(t *testing.T) {
	w := newWorld(t)
	w.server.answer["refresh_token"] = nil
	node := w.node()
	w.connect(node, ann)
	w.expire()
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	require.Equal(t, filehost.Reconnect, w.state(node, ann))
}

func TestRenewRefreshesOnceAndOnlyWhatIsStillTheLatest(t *testing.T) {
	w := newWorld(t)
	node, other := w.node(impatient), w.node(impatient)
	old := w.connect(node, ann)
	renewed, err := node.Renew(t.Context(), ann, old)
	require.NoError(t, err)
	require.NotEqual(t, old.Generation, renewed.Generation)
	require.Equal(t, 2, w.server.tokenCalls())

	again, err := other.Renew(t.Context(), ann, old) // another caller of the same old token
	require.NoError(t, err)
	require.Equal(t, renewed, again)
	require.Equal(t, 2, w.server.tokenCalls())
}

func TestRenewNeverGivesBackAnOlderCredentialOfAStaleReplica(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	old := w.connect(node, ann)
	replica := w.kv.Replica(3)
	stale := w.node(impatient, func(c *Config) { c.KV = replica })
	w.credential(stale, ann)
	rejected, err := node.Renew(t.Context(), ann, old)
	require.NoError(t, err)
	renewed, err := stale.Renew(t.Context(), ann, rejected)
	require.NoError(t, err)
	require.True(t, generation(renewed.Generation).after(generation(rejected.Generation)))
	require.Equal(t, 3, w.server.tokenCalls())
}

func TestARejectedCredentialIsNotSentAgain(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	old := w.connect(node, ann)
	renewed, err := node.Renew(t.Context(), ann, old)
	require.NoError(t, err)

	require.NoError(t, node.Reject(t.Context(), ann, old))
	require.Equal(t, filehost.Connected, w.state(node, ann), "an old credential says nothing about the new one")
	require.NoError(t, node.Reject(t.Context(), ann, renewed))
	require.Equal(t, filehost.Reconnect, w.state(node, ann))
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	_, err = node.Renew(t.Context(), ann, renewed)
	requireKind(t, filehost.NotConnected, err)
	require.Equal(t, 2, w.server.tokenCalls())

	w.connect(node, ann)
	require.Equal(t, filehost.Connected, w.state(node, ann))
}

func TestAUserWhoNeverConnectedIsNotConnected(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	_, err := node.For(t.Context(), bob)
	requireKind(t, filehost.NotConnected, err)
	_, err = node.Renew(t.Context(), bob, filehost.Credential{})
	requireKind(t, filehost.NotConnected, err)
	require.NoError(t, node.Reject(t.Context(), bob, filehost.Credential{}))
	require.Equal(t, filehost.Disconnected, w.state(node, bob))
}

func TestAStoreThatFailsIsAnInternalError(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.kv.Fail(func(filehosttest.Op, string) error { return errors.New("database is down") })
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.Internal, err)
	_, err = node.Connection(t.Context(), ann)
	requireKind(t, filehost.Internal, err)
	requireKind(t, filehost.Internal, node.Disconnect(t.Context(), ann))
}

// pauses is a clock that notes how long its timers are and lets nobody wait.
type pauses struct {
	eagerClock
	mu   *sync.Mutex
	made *[]time.Duration
}

func (p pauses) NewTimer(d time.Duration) clockwork.Timer {
	p.mu.Lock()
	defer p.mu.Unlock()
	*p.made = append(*p.made, d)
	return p.eagerClock.NewTimer(d)
}

func TestNodesThatWaitForEachOtherDoNotMoveInStep(t *testing.T) {
	w := newWorld(t)
	var made []time.Duration
	node := w.node(func(c *Config) {
		c.Clock = pauses{eagerClock{w.clock}, &sync.Mutex{}, &made}
	})
	const about = 100 * time.Millisecond
	different := map[time.Duration]bool{}
	for range 100 {
		require.NoError(t, node.pause(t.Context(), about))
	}
	require.Len(t, made, 100)
	for _, pause := range made {
		require.GreaterOrEqual(t, pause, about/2)
		require.Less(t, pause, about+about/2)
		different[pause] = true
	}
	require.Greater(t, len(different), 50)
}

// skewed is a clock that goes wrong by a constant.
type skewed struct {
	*clockwork.FakeClock
	by time.Duration
}

func (s skewed) Now() time.Time                  { return s.FakeClock.Now().Add(s.by) }
func (s skewed) Since(t time.Time) time.Duration { return s.Now().Sub(t) }
func (s skewed) NewTimer(time.Duration) clockwork.Timer {
	return s.FakeClock.NewTimer(0)
}

func TestClocksThatDifferByAMinuteSpendNoTokenTwice(t *testing.T) {
	for name, by := range map[string]time.Duration{"fast": time.Minute, "slow": -time.Minute} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			right := w.node()
			off := w.node(func(c *Config) { c.Clock = skewed{w.clock, by} })
			old := w.connect(right, ann)
			require.Equal(t, old, w.credential(off, ann), "a fresh token is used")
			require.Equal(t, 1, w.server.tokenCalls())

			w.clock.Advance(time.Hour)
			renewed := w.credential(right, ann)
			require.Equal(t, renewed, w.credential(off, ann), "and so is the one that another node got")
			require.Equal(t, 2, w.server.tokenCalls())

			again, err := off.Renew(t.Context(), ann, renewed) // the other way round
			require.NoError(t, err)
			require.True(t, generation(again.Generation).after(generation(renewed.Generation)))
			require.Equal(t, again, w.credential(right, ann))
			require.Equal(t, 3, w.server.tokenCalls())
		})
	}
}

func TestALeaseIsNotTakenOverByAClockThatIsAMinuteFast(t *testing.T) {
	w := newWorld(t)
	right := w.node()
	w.connect(right, ann)
	w.expire()
	arrived, proceed := make(chan struct{}), make(chan struct{})
	w.server.set(func(s *signInServer) { s.beforeToken = func() { close(arrived); <-proceed } })
	done := make(chan error)
	go func() {
		_, err := right.For(t.Context(), ann)
		done <- err
	}()
	<-arrived
	found, err := right.load(t.Context(), ann)
	require.NoError(t, err)
	fast := &succession{Store: w.node(func(c *Config) { c.Clock = skewed{w.clock, time.Minute} }), userID: ann, spent: found.Generation}
	require.Equal(t, lookAgain, fast.judge(found))
	close(proceed)
	require.NoError(t, <-done)
	require.Equal(t, 2, w.server.tokenCalls())
}

// Decision 15: the breaker of a server, which all share, counts few failures of one user.
func TestRequestsForAUsersTokensAreMarkedAsHis(t *testing.T) {
	w := newWorld(t)
	var users []string
	node := w.node(func(c *Config) {
		next := c.Client.Transport
		c.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == tokenPath {
				users = append(users, filehost.UserOf(r.Context()))
			}
			return next.RoundTrip(r)
		})}
	})
	w.connect(node, ann)
	w.expire()
	w.credential(node, ann)
	require.Equal(t, []string{ann, ann}, users, "of the code and of the refresh token")
}
