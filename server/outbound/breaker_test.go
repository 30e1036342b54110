package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// moody is a server that answers with the status it is told to, or hangs up for 0.
func moody(t *testing.T) (*listener, *atomic.Int64) {
	status := &atomic.Int64{}
	return listen(t, false, func(w http.ResponseWriter, _ *http.Request) {
		if status.Load() == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(int(status.Load()))
	}), status
}

// post is a call that net/http doesn't repeat by itself.
func post(ctx context.Context, t *testing.T, client *http.Client, address string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("body"))
	require.NoError(t, err)
	_, err = send(t, client, request)
	return err
}

func spared(err error) bool {
	var spared *SparedError
	return errors.As(err, &spared)
}

func open(t *testing.T, client *http.Client, address string) {
	t.Helper()
	for range failuresToOpen {
		require.False(t, spared(post(t.Context(), t, client, address)))
	}
}

func breakerOf(t *testing.T, client *http.Client, address string) *breaker {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	return client.Transport.(*guard).next.of(filehost.OriginOf(parsed))
}

func TestAServerThatKeepsFailingIsSpared(t *testing.T) {
	for name, status := range map[string]int64{"hangs up": 0, "500": 500, "502": 502, "504": 504} {
		t.Run(name, func(t *testing.T) {
			server, answers := moody(t)
			other := listen(t, false, hello)
			client := newClient(t, Config{AllowHTTP: true, Allowed: loopback})
			answers.Store(status)
			open(t, client, server.URL)
			answers.Store(http.StatusOK)

			err := post(t.Context(), t, client, server.URL)

			var refusal *SparedError
			require.ErrorAs(t, err, &refusal)
			assert.Equal(t, server.URL, refusal.Origin)
			assert.Positive(t, refusal.SparedFor())
			require.Error(t, refusal.Err)
			assert.EqualValues(t, failuresToOpen, server.requests.Load())
			require.NoError(t, post(t.Context(), t, client, other.URL), "each server has a breaker of its own")
		})
	}
}

// TestAnErrorInXMLIsOfOneRequest keeps one user, whose account is disabled at a Nextcloud, say, from having the host spared
// for all.
func TestAnErrorInXMLIsOfOneRequest(t *testing.T) {
	for kind, counts := range map[string]bool{
		"application/xml; charset=utf-8": false, "text/xml": false, "text/html; charset=utf-8": true, "application/json": true, "": true,
	} {
		server := listen(t, false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{kind}
			w.WriteHeader(http.StatusInternalServerError)
		})
		client := newClient(t, Config{AllowHTTP: true, Allowed: loopback})
		open(t, client, server.URL)
		assert.Equal(t, counts, spared(post(t.Context(), t, client, server.URL)), kind)
	}
}

func TestOnlyFailuresInARowCount(t *testing.T) {
	server, answers := moody(t)
	client := newClient(t, Config{AllowHTTP: true, Allowed: loopback})
	for i := range 4 * failuresToOpen {
		answers.Store(http.StatusBadGateway)
		if i%failuresToOpen == 0 {
			answers.Store(http.StatusNotFound)
		}
		require.False(t, spared(post(t.Context(), t, client, server.URL)))
	}
}

func TestWhatIsNoFaultOfTheServerIsNotCounted(t *testing.T) {
	leaving, leave := context.WithCancel(t.Context())
	stalled := listen(t, false, func(w http.ResponseWriter, r *http.Request) {
		if _, _ = io.Copy(io.Discard, r.Body); r.URL.Path == "/leave" {
			leave()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Length", "100")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	server, answers := moody(t)
	client := newClient(t, Config{AllowHTTP: true, Allowed: loopback})
	for _, status := range []int64{401, 404, 429, 501, 503, 507} {
		answers.Store(status)
		open(t, client, server.URL)
	}
	for range 2 * failuresToOpen {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, stalled.URL, nil)
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		_, err = response.Body.Read(make([]byte, 1))
		require.Error(t, err, "a body that breaks off")
		require.NoError(t, response.Body.Close())
	}
	for range 2 * failuresToOpen {
		require.False(t, spared(post(leaving, t, client, stalled.URL+"/leave")))
	}
	strict := newClient(t, Config{AllowHTTP: true})
	open(t, strict, server.URL)
	var blocked *BlockedAddressError
	require.ErrorAs(t, post(t.Context(), t, strict, server.URL), &blocked)
}

func TestOneCallTriesAServerAfterAWhile(t *testing.T) {
	server, answers := moody(t)
	client := newClient(t, Config{AllowHTTP: true, Allowed: loopback})
	open(t, client, server.URL)
	breaker := breakerOf(t, client, server.URL)

	breaker.HalfOpen()
	require.False(t, spared(post(t.Context(), t, client, server.URL)))
	require.True(t, spared(post(t.Context(), t, client, server.URL)), "it failed")

	breaker.HalfOpen()
	gone, leave := context.WithCancel(t.Context())
	leave()
	require.False(t, spared(post(gone, t, client, server.URL)))
	breaker.HalfOpen()
	answers.Store(http.StatusOK)
	require.NoError(t, post(t.Context(), t, client, server.URL), "one who left has not kept the permit")
	require.NoError(t, post(t.Context(), t, client, server.URL))
	require.True(t, breaker.IsClosed())
}

func TestAProbePassesAndItsSuccessEndsTheSparing(t *testing.T) {
	server, answers := moody(t)
	client := newClient(t, Config{AllowHTTP: true, Allowed: loopback})
	probe := filehost.AsProbe(t.Context())
	for range 2 * failuresToOpen {
		require.Error(t, post(probe, t, client, server.URL))
	}
	open(t, client, server.URL)
	err := post(probe, t, client, server.URL)
	require.Error(t, err)
	require.False(t, spared(err))
	require.True(t, spared(post(t.Context(), t, client, server.URL)))

	answers.Store(http.StatusOK)
	require.NoError(t, post(probe, t, client, server.URL))
	require.NoError(t, post(t.Context(), t, client, server.URL))
}

// TestOneUserDoesNotHaveAServerSparedForAll has one user ask for what makes the server fail, such as a folder on a storage
// that hangs, as often and as much at once as he likes.
func TestOneUserDoesNotHaveAServerSparedForAll(t *testing.T) {
	for name, status := range map[string]int64{"hangs up": 0, "500": 500, "504": 504} {
		t.Run(name, func(t *testing.T) {
			server, answers := moody(t)
			client := newClient(t, Config{AllowHTTP: true, Allowed: loopback})
			mallory, alice, bob := filehost.ForUser(t.Context(), "mallory"), filehost.ForUser(t.Context(), "alice"), filehost.ForUser(t.Context(), "bob")
			answers.Store(status)
			for range 4 * failuresToOpen {
				require.False(t, spared(post(mallory, t, client, server.URL)))
			}
			require.False(t, spared(post(alice, t, client, server.URL)), "what others meet is not known yet")
			require.False(t, spared(post(bob, t, client, server.URL)))
			require.True(t, spared(post(alice, t, client, server.URL)), "others have met it as well")

			breaker := breakerOf(t, client, server.URL)
			breaker.HalfOpen()
			require.False(t, spared(post(mallory, t, client, server.URL)))
			require.True(t, breaker.IsOpen(), "he has not kept the permit")
		})
	}
}

func TestASuccessForgetsWhatEachUserHasMet(t *testing.T) {
	server, answers := moody(t)
	client := newClient(t, Config{AllowHTTP: true, Allowed: loopback})
	mallory, alice := filehost.ForUser(t.Context(), "mallory"), filehost.ForUser(t.Context(), "alice")
	for range 3 {
		answers.Store(http.StatusBadGateway)
		for range failuresToOpen {
			require.False(t, spared(post(mallory, t, client, server.URL)))
		}
		answers.Store(http.StatusOK)
		require.NoError(t, post(alice, t, client, server.URL))
	}
	answers.Store(http.StatusBadGateway)
	for range failuresOfOneUser {
		require.False(t, spared(post(mallory, t, client, server.URL)))
	}
	for range failuresToOpen - failuresOfOneUser {
		require.False(t, spared(post(alice, t, client, server.URL)))
	}
	require.True(t, spared(post(alice, t, client, server.URL)), "they count anew")
}

// TestAServerThatCannotBeReachedIsSparedWhoeverAsks: that no connection comes about is nothing that a user's request does.
func TestAServerThatCannotBeReachedIsSparedWhoeverAsks(t *testing.T) {
	server := listen(t, false, hello)
	client := newClient(t, Config{AllowHTTP: true, Allowed: loopback})
	alone := filehost.ForUser(t.Context(), "alice")
	require.NoError(t, post(alone, t, client, server.URL))
	server.Close()
	for range failuresToOpen {
		require.False(t, spared(post(alone, t, client, server.URL)))
	}
	require.True(t, spared(post(alone, t, client, server.URL)))
}
