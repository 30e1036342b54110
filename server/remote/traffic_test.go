package remote

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// watched is a plain WebDAV host that works, unless it is told otherwise, and a client whose clock stands still.
type watched struct {
	*Client
	clock    *clockwork.FakeClock
	fault    atomic.Pointer[http.HandlerFunc] // instead of the answer to who has signed in
	troubled atomic.Int64
}

func newWatched(t *testing.T) *watched {
	w := &watched{clock: clockwork.NewFakeClockAt(time.Now())}
	host := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		fault := w.fault.Load()
		switch {
		case r.Header.Get("Authorization") == "":
			rw.WriteHeader(http.StatusUnauthorized)
		case fault != nil:
			(*fault)(rw, r)
		default:
			answer(listingOf(""))(rw, r)
		}
	}))
	t.Cleanup(host.Close)
	w.Client = clientOf(t, host.URL+"/dav", Config{Host: filehost.Host{Kind: "webdav"}, Clock: w.clock, StallAfter: stallAfter,
		Troubled: func() { w.troubled.Add(1) }})
	return w
}

func (w *watched) mishandle(fault http.HandlerFunc) { w.fault.Store(&fault) }

func remedyOfDegraded(t *testing.T, err error) string {
	t.Helper()
	var degraded *filehost.Degraded
	require.ErrorAs(t, err, &degraded)
	return degraded.Remedy
}

func TestAHostThatThrottlesUsersWarnsForFiveMinutes(t *testing.T) {
	w := newWatched(t)
	_, err := w.Stat(t.Context(), alice, filehost.Root)
	require.NoError(t, err)
	require.NoError(t, w.Check(t.Context()))

	w.mishandle(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusTooManyRequests) })
	for range 2 {
		_, err = w.Stat(t.Context(), alice, path(t, "/canary of a path"))
		require.Equal(t, filehost.RateLimited, filehost.KindOf(err))
	}
	assert.EqualValues(t, 1, w.troubled.Load(), "the check is asked for once, at the first")
	remedy := remedyOfDegraded(t, w.Check(t.Context()))
	assert.Contains(t, remedy, "in the last 5 minutes: 2 of 3 were refused as too many (429).")
	assert.NotContains(t, remedy, "canary")

	w.fault.Store(nil)
	w.clock.Advance((trafficMinutes - 1) * time.Minute)
	_, err = w.Stat(t.Context(), alice, filehost.Root)
	require.NoError(t, err)
	assert.Contains(t, remedyOfDegraded(t, w.Check(t.Context())), "2 of 4", "one success proves nothing")
	w.clock.Advance(time.Minute)
	require.NoError(t, w.reservations(lastAnswer{}))

	w.mishandle(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusTooManyRequests) })
	_, err = w.Stat(t.Context(), alice, filehost.Root)
	require.Error(t, err)
	assert.EqualValues(t, 2, w.troubled.Load(), "and again after minutes without")
}

func TestAHostThatStallsWarns(t *testing.T) {
	w := newWatched(t)
	w.mishandle(func(rw http.ResponseWriter, r *http.Request) {
		if _, _ = io.Copy(io.Discard, r.Body); r.Method == http.MethodGet {
			rw.Header().Set("Content-Length", "10")
			_ = http.NewResponseController(rw).Flush()
		}
		<-r.Context().Done()
	})
	stalls := func(call func() error) {
		failed := make(chan error)
		go func() { failed <- call() }()
		waiting(t, w.clock)
		w.clock.Advance(stallAfter)
		require.ErrorIs(t, <-failed, errStalled)
	}
	stalls(func() error { _, err := w.Stat(t.Context(), alice, filehost.Root); return err })
	assert.Contains(t, w.traffic.remedy("Files"), "1 of 1 were given up because no byte came for a while.")

	content, err := w.Open(t.Context(), alice, filehost.Entry{Path: path(t, "/a"), Kind: filehost.File})
	require.NoError(t, err)
	defer content.Close()
	stalls(func() error { _, err := content.Read(make([]byte, 1)); return err })
	assert.Contains(t, w.traffic.remedy("Files"), "2 of 2 were given up")
	assert.EqualValues(t, 1, w.troubled.Load())
}

func TestTheChecksOwnRequestsAreNotCounted(t *testing.T) {
	client := serve(t, "nextcloud", "", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusTooManyRequests) })
	require.Error(t, client.Check(t.Context()))
	assert.Empty(t, client.traffic.remedy("Files"))
}

func TestAClockThatIsOffWarnsBesideWhatUsersMeet(t *testing.T) {
	w := newWatched(t)
	w.clock.Advance(time.Hour)
	assert.Contains(t, remedyOfDegraded(t, w.Check(t.Context())), "The clock of Files (http://127.0.0.1:")
	w.traffic.count(func(tally *tally) { tally.limited++ })
	remedy := remedyOfDegraded(t, w.Check(t.Context()))
	assert.Contains(t, remedy, "behind that of the Mattermost server's machine")
	assert.Contains(t, remedy, "(429)")
}
