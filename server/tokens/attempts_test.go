package tokens

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// junk is a sign-in of a user that fails.
func (w *world) junk(node *Store, userID string) error {
	state, _ := w.begin(node, userID)
	_, err := node.Callback(w.t.Context(), callback(userID, state, "junk"))
	return err
}

func requireWait(t *testing.T, want time.Duration, err error) {
	t.Helper()
	requireKind(t, filehost.RateLimited, err)
	var limited *filehost.Error
	require.ErrorAs(t, err, &limited)
	require.Equal(t, want, limited.RetryAfter)
}

func TestFailedCodesOfAUserAreLimitedOnAllNodesTogether(t *testing.T) {
	w := newWorld(t)
	w.connect(w.node(), ann)
	before := w.server.tokenCalls()
	for i := range userFailures {
		requireKind(t, filehost.InvalidRequest, w.junk(w.node(), ann)) // each a node of its own, or one that has restarted
		w.clock.Advance(time.Minute)
		require.Equal(t, before+i+1, w.server.tokenCalls())
	}
	node := w.node()
	for range 100 {
		requireWait(t, failureTime-userFailures*time.Minute, w.junk(node, ann))
	}
	_, shown := w.held(node, ann)
	requireKind(t, filehost.RateLimited, node.Confirm(t.Context(), ann, shown.Code))
	requireKind(t, filehost.RateLimited, node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
	require.Equal(t, before+userFailures, w.server.tokenCalls(), "nothing is sent")
	require.Equal(t, filehost.Connected, w.state(node, ann))
	w.connect(node, bob) // others go on

	w.clock.Advance(failureTime - userFailures*time.Minute)
	requireKind(t, filehost.InvalidRequest, w.junk(node, ann))
	requireWait(t, time.Minute, w.junk(node, ann))
	w.clock.Advance(failureTime)
	w.connect(node, ann)
}

func TestAForeignPasswordIsGuessedAFewTimesOnly(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int32
	host := w.account
	w.account = func(c filehost.Credential) (string, error) { asked.Add(1); return host(c) }
	nodes := []*Store{w.node(byPassword, impatient), w.node(byPassword, impatient)}
	limited := 0
	for _, err := range outcomes(40, func(i int) error {
		return nodes[i%2].ConnectWithPassword(t.Context(), ann, "boss", filehost.NewSecret(fmt.Sprint("guess", i)))
	}) {
		if filehost.KindOf(err) == filehost.RateLimited {
			limited++
			continue
		}
		requireKind(t, filehost.InvalidRequest, err)
	}
	require.EqualValues(t, userFailures, asked.Load())
	require.Equal(t, 40-userFailures, limited)
}

func TestFailuresOfManyUsersAreLimitedPerNodeAsTheHostLimitsThem(t *testing.T) {
	w := newWorld(t)
	shared := NewPending()
	node := w.node(func(c *Config) { c.Pending = shared })
	limit := profiles["nextcloud"].failures
	for i := range limit {
		requireKind(t, filehost.InvalidRequest, w.junk(node, fmt.Sprint("user", i)))
	}
	requireWait(t, failureTime, w.junk(node, "another"))
	rebuilt := w.node(func(c *Config) { c.Pending = shared })
	requireWait(t, failureTime, w.junk(rebuilt, "another"))
	require.Equal(t, limit, w.server.tokenCalls())
	require.NotContains(t, w.kv.Keys(), node.key("tries_", "another"), "it is no failure of his")
	w.clock.Advance(failureTime)
	w.connect(node, "another")

	w.host.Kind = "webdav"
	require.Equal(t, nodeFailures, w.node(w.byIssuer).nodeLimit())
}

func TestFailuresAtOneHostAreNotHeldAgainstAnother(t *testing.T) {
	w := newWorld(t)
	shared := NewPending()
	node := w.node(func(c *Config) { c.Pending = shared })
	for i := range profiles["nextcloud"].failures {
		requireKind(t, filehost.InvalidRequest, w.junk(node, fmt.Sprint("user", i)))
	}
	elsewhere := w.node(func(c *Config) {
		c.Pending = shared
		c.OAuth.AuthorizeURL, c.OAuth.TokenURL = c.Host.BaseURL.String()+authorizePath, c.Host.BaseURL.String()+tokenPath
		c.Host.BaseURL = &url.URL{Scheme: "https", Host: "other.example.com"}
	})
	requireKind(t, filehost.InvalidRequest, w.junk(elsewhere, "another"))
	requireWait(t, failureTime, w.junk(node, "another"))
}

func TestWhatIsNoFailureOfTheUserIsNotCounted(t *testing.T) {
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, fault := range map[string]http.HandlerFunc{
		"success":                  nil,
		"a sign-in server in need": status(503, ""),
		"a connection that breaks": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			node := w.node()
			for range 2 * nodeFailures {
				w.server.set(func(s *signInServer) { s.fault = fault })
				state, code := w.begin(node, ann)
				_, err := node.Callback(t.Context(), callback(ann, state, code))
				require.Equal(t, fault == nil, err == nil, "%v", err)
				require.NotEqual(t, filehost.RateLimited, filehost.KindOf(err))
			}
			require.NotContains(t, w.kv.Keys(), node.key("tries_", ann))
		})
	}
	w := newWorld(t)
	w.account = func(filehost.Credential) (string, error) {
		return "", filehost.E(filehost.HostUnavailable, "down", nil)
	}
	for range 2 * nodeFailures {
		err := w.node(byPassword).ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password"))
		requireKind(t, filehost.HostUnavailable, err)
	}
}

// Each connect makes the node compare the token with the hashes of its user's, also one that succeeds.
func TestConnectsWithAnAppTokenAreCountedAlsoWhenTheySucceed(t *testing.T) {
	w := newWorld(t)
	ofTokens := func(c *Config) { c.AppTokens = &tokenMaker{} }
	nodes := []*Store{w.node(byPassword, ofTokens), w.node(byPassword, ofTokens)}
	connect := func(node *Store, user string) error {
		return node.ConnectWithPassword(t.Context(), user, "alice", filehost.NewSecret("canary-app-password"))
	}
	for i := range userConnects {
		require.NoError(t, connect(nodes[i%2], ann))
		w.clock.Advance(time.Minute)
	}
	requireWait(t, failureTime-userConnects*time.Minute, connect(nodes[0], ann))
	require.Equal(t, filehost.Connected, w.state(nodes[0], ann), "what there is stays")
	require.NoError(t, connect(nodes[0], bob))
	w.clock.Advance(failureTime - userConnects*time.Minute)
	require.NoError(t, connect(nodes[0], ann))
}

func TestAnAttemptThatMayBeSlowedDownIsCounted(t *testing.T) {
	w := newWorld(t)
	w.account = func(filehost.Credential) (string, error) { return "", filehost.E(filehost.Timeout, "too slow", nil) }
	node := w.node(byPassword)
	for range userFailures {
		requireKind(t, filehost.Timeout, node.ConnectWithPassword(t.Context(), ann, "boss", filehost.NewSecret("canary-guess")))
	}
	requireKind(t, filehost.RateLimited, node.ConnectWithPassword(t.Context(), ann, "boss", filehost.NewSecret("canary-guess")))
}

func TestNobodySignsInWhileFailuresCannotBeCounted(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	state, code := w.begin(node, ann)
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == node.key("tries_", ann) {
			return errors.New("database is down")
		}
		return nil
	})
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.Internal, err)
	require.Zero(t, w.server.tokenCalls())
}

func TestACallbackWithAnUnknownStateCountsForNobody(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	for range 2 * nodeFailures {
		_, err := node.Callback(t.Context(), callback(ann, "guessed", "junk"))
		requireKind(t, filehost.InvalidRequest, err)
	}
	require.Zero(t, w.server.tokenCalls())
	w.connect(node, ann)
}
