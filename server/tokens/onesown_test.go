package tokens

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/outbound"
)

const (
	mallory = "mallory-of-mattermost"
	eve     = "eve-of-mattermost"
)

// foreignCode is what a user's browser brings when he has taken the code that another client of the same server was given.
const foreignCode = "code-of-another-client"

// onCode lets requests with foreignCode fail, and no other.
func (w *world) onCode(fault http.HandlerFunc) {
	w.server.set(func(s *signInServer) {
		s.fault = func(rw http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			if r.PostForm.Get("code") == foreignCode {
				fault(rw, r)
				return
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if r.Method == http.MethodPost {
				s.serveToken(rw, r)
				return
			}
			rw.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
}

// asNextcloud answers a code of another client as Nextcloud does, which looks the code up first and then compares the client.
func asNextcloud(rw http.ResponseWriter, _ *http.Request) { refuse(rw, "invalid_client") }

func (w *world) bringForeignCode(node *Store, userID string) error {
	w.t.Helper()
	state, _ := w.begin(node, userID)
	_, err := node.Callback(w.t.Context(), callback(userID, state, foreignCode))
	return err
}

func TestOneUsersForeignCodeStopsNobody(t *testing.T) {
	w := newWorld(t)
	var changes atomic.Int64
	node := w.node(func(c *Config) { c.Changed = func() { changes.Add(1) } })
	w.connect(node, ann)
	w.expire()
	w.onCode(asNextcloud)
	for range userFailures {
		requireKind(t, filehost.NotConfigured, w.bringForeignCode(node, mallory))
	}
	status, remedy := told(t, node)
	require.Equal(t, filehost.Warn, status)
	require.Contains(t, remedy, "refused the plugin's client at one user's sign-in (invalid_client): if others fail as well")
	require.EqualValues(t, 1, changes.Load())
	require.Zero(t, strings.Count(w.log.String(), clientRefusedMessage))

	calls := w.server.tokenCalls()
	requireKind(t, filehost.RateLimited, w.bringForeignCode(node, mallory))
	require.Equal(t, calls, w.server.tokenCalls(), "the host has counted his failures, and so do we")
	w.clock.Advance(restTime)
	status, _ = told(t, node)
	require.Equal(t, filehost.Pass, status)

	w.credential(node, ann)
	w.connect(node, bob)
}

func TestARefusalIsForgottenWhenAnyExchangeSucceeds(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.onCode(asNextcloud)
	for _, userID := range []string{mallory, eve, mallory} {
		requireKind(t, filehost.NotConfigured, w.bringForeignCode(node, userID))
		w.connect(node, bob)
		status, remedy := told(t, node)
		require.Equal(t, filehost.Pass, status, remedy)
	}
}

func TestTheCodesOfTwoUsersShowAWrongSecretAndLeaveRefreshesAlone(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.expire()
	w.onCode(asNextcloud)
	requireKind(t, filehost.NotConfigured, w.bringForeignCode(node, mallory))
	requireKind(t, filehost.NotConfigured, w.bringForeignCode(node, eve))
	status, remedy := told(t, node)
	require.Equal(t, filehost.Fail, status)
	require.Contains(t, remedy, "refused “OAuth client id” or “OAuth client secret” at the last sign-in (invalid_client)")
	require.Equal(t, 1, strings.Count(w.log.String(), clientRefusedMessage))

	calls := w.server.tokenCalls()
	for range 2 * userFailures {
		requireKind(t, filehost.NotConfigured, w.bringForeignCode(node, mallory))
	}
	require.Equal(t, calls, w.server.tokenCalls(), "each further code would feed the host's throttle")

	w.credential(node, ann)
	status, remedy = told(t, node)
	require.Equal(t, filehost.Pass, status, "the refresh has shown that the client is good: "+remedy)
	w.connect(node, bob)
}

func TestAWrongSecretIsTriedOnceInFiveMinutes(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) { s.clientSecret = "another" })
	first := w.server.tokenCalls()
	for _, userID := range []string{mallory, eve} {
		requireKind(t, filehost.NotConfigured, w.bringForeignCode(node, userID))
	}
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConfigured, err)
	require.Equal(t, first+3, w.server.tokenCalls())
	for i := range 4 {
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.NotConfigured, err)
		requireKind(t, filehost.NotConfigured, w.bringForeignCode(node, eve))
		require.Equal(t, first+3+i, w.server.tokenCalls(), "codes and refreshes are left alone together")
		w.clock.Advance(restTime)
		requireKind(t, filehost.NotConfigured, w.bringForeignCode(node, bob))
	}
}

func TestWhatAFilterAnswersToOneUsersCodeIsAWarning(t *testing.T) {
	const html = "text/html"
	for name, fault := range map[string]http.HandlerFunc{
		"blocked":    page(403, html, "<html>canary"),
		"redirected": page(302, html, ""),
		"a page":     page(200, html, "<html>canary"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			node := w.node(func(c *Config) { c.OAuth.TokenURL = w.server.URL + tokenPath })
			w.onCode(fault)
			for range userFailures {
				require.Error(t, w.bringForeignCode(node, mallory))
			}
			status, remedy := told(t, node)
			require.Equal(t, filehost.Warn, status, remedy)
			require.Contains(t, remedy, "did not answer one user's sign-in as a token endpoint does")
			require.Contains(t, remedy, "correct “OAuth token URL”")
			require.NotContains(t, remedy, "canary")

			require.Error(t, w.bringForeignCode(node, eve))
			status, remedy = told(t, node)
			require.Equal(t, filehost.Fail, status, remedy)
			w.connect(node, bob)
			require.Error(t, w.bringForeignCode(node, eve))
			status, _ = told(t, node)
			require.Equal(t, filehost.Warn, status, "it has proven itself in between")
			w.clock.Advance(restTime)
			require.Error(t, w.bringForeignCode(node, ann))
			status, _ = told(t, node)
			require.Equal(t, filehost.Warn, status, "that of another is long ago")
		})
	}
}

func TestOneUsersCodeDoesNotHideWhatARefreshHasMet(t *testing.T) {
	w := newWorld(t)
	node := w.node(func(c *Config) { c.OAuth.TokenURL = w.server.URL + tokenPath })
	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) { s.fault = onExchange(page(404, "text/html", "")) })
	_, err := node.For(t.Context(), ann)
	require.Error(t, err)
	w.onCode(page(403, "text/html", ""))
	require.Error(t, w.bringForeignCode(node, mallory))
	status, remedy := told(t, node)
	require.Equal(t, filehost.Fail, status)
	require.Contains(t, remedy, "(status 404)")
}

func TestCodesThatNoServerGivesAreNotSent(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	for _, code := range []string{"", "a\x00b", "a\nb", "ä", "\xff", strings.Repeat("a", maxCodeBytes+1)} {
		state, _ := w.begin(node, mallory)
		_, err := node.Callback(t.Context(), callback(mallory, state, code))
		requireKind(t, filehost.InvalidRequest, err)
	}
	require.Zero(t, w.server.tokenCalls())
}

// TestOneUsersCodesHaveTheSignInServerSparedForNobody: such a code may be too much for the server as well.
func TestOneUsersCodesHaveTheSignInServerSparedForNobody(t *testing.T) {
	w := newWorld(t)
	client, err := outbound.New(outbound.Config{AllowHTTP: true, Allowed: loopback})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	node := w.node(func(c *Config) { c.Client = client })
	w.connect(node, ann)
	w.expire()
	w.onCode(page(500, "text/html", ""))
	for range 10 {
		requireKind(t, filehost.HostUnavailable, w.bringForeignCode(node, mallory))
		w.clock.Advance(time.Second)
	}
	w.credential(node, ann)
}
