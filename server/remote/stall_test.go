package remote

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const stallAfter = 30 * time.Second

// drip serves a host that sends a byte of its file for each value in bytes, and returns a client whose clock stands
// still.
func drip(t *testing.T, size string, bytes <-chan byte) (*Client, *clockwork.FakeClock) {
	clock := clockwork.NewFakeClock()
	client := serve(t, "webdav", "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", size)
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case b, more := <-bytes:
				if !more {
					return
				}
				_, _ = w.Write([]byte{b})
			case <-r.Context().Done():
				return
			}
		}
	})
	client.clock, client.stallAfter = clock, stallAfter
	return client, clock
}

// waiting blocks until the client waits for the host.
func waiting(t *testing.T, clock *clockwork.FakeClock) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, clock.BlockUntilContext(ctx, 1), "the host is not waited for")
}

// outlast lets each wait for the host take too long until the call has ended, which may wait several times.
func outlast(t *testing.T, clock *clockwork.FakeClock, ended <-chan error) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		defer cancel()
		result <- <-ended
	}()
	for clock.BlockUntilContext(ctx, 1) == nil {
		clock.Advance(stallAfter)
	}
	return <-result
}

func TestStalledContentFails(t *testing.T) {
	bytes := make(chan byte, 1)
	client, clock := drip(t, "10", bytes)
	content, err := client.Open(t.Context(), alice, filehost.Entry{Path: path(t, "/a"), Kind: filehost.File})
	require.NoError(t, err)
	defer content.Close()
	bytes <- 'x'
	_, err = io.ReadFull(content, make([]byte, 1))
	require.NoError(t, err)

	failed := make(chan error)
	go func() {
		_, err := content.Read(make([]byte, 1))
		failed <- err
	}()
	waiting(t, clock)
	clock.Advance(stallAfter)

	err = <-failed
	assert.Equal(t, filehost.Timeout, filehost.KindOf(err))
	require.ErrorIs(t, err, errStalled)
}

func TestHostThatDoesNotAnswerFails(t *testing.T) {
	clock := clockwork.NewFakeClock()
	client := serve(t, "webdav", "", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	client.clock, client.stallAfter = clock, stallAfter
	failed := make(chan error)
	go func() {
		_, err := client.Stat(t.Context(), alice, filehost.Root)
		failed <- err
	}()
	waiting(t, clock)
	clock.Advance(stallAfter)
	assert.Equal(t, filehost.Timeout, filehost.KindOf(<-failed))
}

func TestALargeFolderMayTakeAMinuteBeforeItsFirstByte(t *testing.T) {
	clock := clockwork.NewFakeClock()
	gathered := make(chan struct{})
	client := serve(t, "webdav", "/dav", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-gathered:
			answer(small)(w, r)
		case <-r.Context().Done():
		}
	})
	client.clock, client.stallAfter = clock, stallAfter
	ended := make(chan error)
	ask := func() {
		_, _, err := list(t.Context(), client, filehost.Root)
		ended <- err
	}
	go ask()
	waiting(t, clock)
	clock.Advance(listPatience)
	assert.Equal(t, filehost.Timeout, filehost.KindOf(<-ended))
	go ask()
	waiting(t, clock)
	clock.Advance(listPatience - time.Nanosecond)
	close(gathered)
	require.NoError(t, <-ended)
}

func TestStalledListingFails(t *testing.T) {
	clock := clockwork.NewFakeClock()
	client := serve(t, "webdav", "/dav", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answer(small[:len(small)/2])(w, r)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	client.clock, client.stallAfter = clock, stallAfter
	began, failed := make(chan struct{}), make(chan error)
	client.http.Transport = announce{client.http.Transport, began}
	go func() {
		_, _, err := list(t.Context(), client, filehost.Root)
		failed <- err
	}()
	<-began
	err := outlast(t, clock, failed)
	assert.Equal(t, filehost.Timeout, filehost.KindOf(err))
	require.ErrorIs(t, err, errStalled)
}

// announce tells when the head of an answer has arrived.
type announce struct {
	http.RoundTripper
	arrived chan<- struct{}
}

func (a announce) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.RoundTripper.RoundTrip(r)
	close(a.arrived)
	return response, err
}

func TestSlowButSteadyContentArrives(t *testing.T) {
	bytes := make(chan byte)
	client, clock := drip(t, "100", bytes)
	content, err := client.Open(t.Context(), alice, filehost.Entry{Path: path(t, "/a"), Kind: filehost.File})
	require.NoError(t, err)
	defer content.Close()
	got := make(chan error)
	go func() {
		defer close(got)
		for range 100 {
			_, err := io.ReadFull(content, make([]byte, 1))
			got <- err
		}
	}()
	for range 100 {
		waiting(t, clock)
		clock.Advance(stallAfter - time.Nanosecond)
		bytes <- 'x'
		require.NoError(t, <-got)
	}
}

func TestSlowReaderIsNotTheHostsFault(t *testing.T) {
	bytes := make(chan byte, 2)
	client, clock := drip(t, "2", bytes)
	content, err := client.Open(t.Context(), alice, filehost.Entry{Path: path(t, "/a"), Kind: filehost.File})
	require.NoError(t, err)
	defer content.Close()
	for range 2 {
		clock.Advance(10 * stallAfter)
		bytes <- 'x'
		_, err = io.ReadFull(content, make([]byte, 1))
		require.NoError(t, err)
	}
	clock.Advance(10 * stallAfter)
	_, err = content.Read(make([]byte, 1))
	assert.Equal(t, io.EOF, err)
}
