package tokens

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func (w *world) revoking(c *Config) { c.OAuth.RevocationURL = w.server.URL + "/revoke" }

func TestDisconnectRevokesTheRefreshTokenThenTheAccessTokenAndForgets(t *testing.T) {
	for _, inBody := range []bool{true, false} {
		w := newWorld(t)
		w.host.Kind = map[bool]string{true: "nextcloud", false: "owncloud"}[inBody]
		w.server.secretInBody = inBody
		node := w.node(w.revoking)
		old := w.connect(node, ann)
		require.NoError(t, node.Disconnect(t.Context(), ann))
		require.Equal(t, []string{"refresh_token", "access_token"}, w.server.revoked)
		require.False(t, w.server.accepts(old.Secret.Reveal()))
		require.Empty(t, w.kv.Keys())
		require.Equal(t, filehost.Disconnected, w.state(node, ann))
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.NotConnected, err)
		require.NoError(t, node.Disconnect(t.Context(), ann), "also when there is none")
	}
}

func TestARevocationThatFailsKeepsNoRecord(t *testing.T) {
	for name, fault := range map[string]http.HandlerFunc{
		"refused": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"reset":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			node := w.node(w.revoking)
			w.connect(node, ann)
			w.server.set(func(s *signInServer) { s.fault = fault })
			require.NoError(t, node.Disconnect(t.Context(), ann))
			require.Empty(t, w.kv.Keys())
		})
	}
}

func TestDisconnectGoesOnWhenTheCallerLeaves(t *testing.T) {
	w := newWorld(t)
	node := w.node(w.revoking)
	w.connect(node, ann)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	require.NoError(t, node.Disconnect(ctx, ann))
	require.Empty(t, w.kv.Keys())
	require.Len(t, w.server.revoked, 2)
}

func TestARefreshInFlightCannotResurrectADisconnectedUser(t *testing.T) {
	for name, lag := range map[string]int{"reading what is there": 0, "reading a replica that lags behind": 3} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			other := w.node(w.revoking)
			w.connect(other, ann)
			replica := w.kv.Replica(lag)
			node := w.node(w.revoking, impatient, func(c *Config) { c.KV = replica })
			w.credential(node, ann)
			w.expire()
			issueAllTheSame := func(rw http.ResponseWriter, r *http.Request) {
				w.server.set(func(s *signInServer) {
					if r.URL.Path == tokenPath {
						s.issue(rw, "", nil)
						return
					}
					s.revoked = append(s.revoked, "late")
				})
			}
			w.server.set(func(s *signInServer) {
				s.beforeToken = func() {
					s.set(func(s *signInServer) { s.beforeToken = nil })
					if err := other.Disconnect(context.Background(), ann); err != nil {
						t.Error(err)
					}
					s.set(func(s *signInServer) { s.fault = issueAllTheSame })
				}
			})
			_, err := node.For(t.Context(), ann)
			if lag == 0 {
				requireKind(t, filehost.NotConnected, err)
			}
			eventually(t, func() bool {
				w.server.mu.Lock()
				defer w.server.mu.Unlock()
				return slices.Equal(w.server.revoked, []string{"refresh_token", "access_token", "late", "late"})
			})
			eventually(t, func() bool { _, kept := node.notSaved(ann); return !kept })
			_, err = node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			require.Empty(t, w.kv.Keys())
		})
	}
}

func TestDisconnectLeavesANewerConnectionAlone(t *testing.T) {
	w := newWorld(t)
	node := w.node(w.revoking)
	w.connect(node, ann)
	tombstones := 0
	w.kv.Fail(func(op filehosttest.Op, key string) error { // between the tombstone and its deletion
		if op == filehosttest.CompareAndDelete && key == node.key("conn_", ann) && tombstones == 0 {
			tombstones++
			w.connect(node, ann)
		}
		return nil
	})
	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.Equal(t, filehost.Connected, w.state(node, ann))
}

// killedAtTheTombstone makes a node die that has put a tombstone in the place of ann's connection and revoked nothing yet.
func (w *world) killedAtTheTombstone(node *Store) {
	w.t.Helper()
	revocation := node.config.Client.Transport
	node.config.Client.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, context.Canceled })
	buried := false
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if buried {
			return context.Canceled
		}
		buried = op == filehosttest.CompareAndSet && key == node.key("conn_", ann)
		return nil
	})
	require.Error(w.t, node.Disconnect(w.t.Context(), ann))
	w.kv.Fail(nil)
	node.config.Client.Transport = revocation
	require.Equal(w.t, filehost.Disconnected, w.state(node, ann))
	_, err := node.For(w.t.Context(), ann)
	requireKind(w.t, filehost.NotConnected, err)
	require.Empty(w.t, w.server.revoked)
}

func TestADisconnectCutOffIsFinishedByAnotherNode(t *testing.T) {
	w := newWorld(t)
	dying, other := w.node(w.revoking), w.node(w.revoking, impatient)
	access := w.connect(dying, ann).Secret.Reveal()
	w.killedAtTheTombstone(dying)

	require.Equal(t, 1, w.look(other).waiting, "the node that has begun may still be at it")
	require.Empty(t, w.server.revoked)
	w.clock.Advance(ownTombstone)
	require.Zero(t, w.look(other).waiting)
	require.Len(t, w.server.revoked, 2)
	require.False(t, w.server.accepts(access))
	require.NotContains(t, w.kv.Keys(), other.key("conn_", ann))
}

func TestADisconnectCutOffIsFinishedByTheNext(t *testing.T) {
	for name, act := range map[string]func(*world, *Store){
		"another disconnect": func(w *world, node *Store) { require.NoError(w.t, node.Disconnect(w.t.Context(), ann)) },
		"another connection": func(w *world, node *Store) {
			w.connect(node, ann)
			node.config.Pending.running.Wait()
			require.Equal(w.t, filehost.Connected, w.state(node, ann))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			dying, other := w.node(w.revoking), w.node(w.revoking, impatient)
			access := w.connect(dying, ann).Secret.Reveal()
			w.killedAtTheTombstone(dying)
			act(w, other)
			require.False(t, w.server.accepts(access))
		})
	}
}

func TestATombstoneThatNobodyComesToIsGoneInAWeek(t *testing.T) {
	w := newWorld(t)
	node := w.node(w.revoking)
	w.connect(node, ann)
	w.killedAtTheTombstone(node)
	w.clock.Advance(unrevokedTime)
	require.NotContains(t, w.kv.Keys(), node.key("conn_", ann))
}

// TestADisconnectHoldsWhereUsersConnectWithoutAnAct disconnects while a credential is being made, or refreshed, where the
// next use would connect by itself.
func TestADisconnectHoldsWhereUsersConnectWithoutAnAct(t *testing.T) {
	t.Run("a first credential", func(t *testing.T) {
		w, method := newWorld(t), &issuer{held: make(chan struct{})}
		node, other := automatically(w.node(impatient), method), automatically(w.node(impatient), method)
		used := make(chan error, 1)
		go func() {
			_, err := node.For(context.Background(), ann)
			used <- err
		}()
		eventually(t, func() bool { return method.asked.Load() == 1 })
		require.NoError(t, other.Disconnect(t.Context(), ann))
		close(method.held)
		requireKind(t, filehost.NotConnected, <-used)
		w.clock.Advance(time.Hour)
		_, err := other.For(t.Context(), ann)
		requireKind(t, filehost.NotConnected, err)
		require.EqualValues(t, 1, method.asked.Load())
	})
	t.Run("a grant of one's own", func(t *testing.T) {
		w, method := newWorld(t), &issuer{err: &refusal{reason: "no"}}
		node, other := automatically(w.node(w.revoking, impatient), method), automatically(w.node(w.revoking, impatient), method)
		w.connect(other, ann)
		w.expire()
		w.server.set(func(s *signInServer) {
			s.beforeToken = func() {
				s.set(func(s *signInServer) { s.beforeToken = nil })
				assert.NoError(t, other.Disconnect(context.Background(), ann))
			}
		})
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.NotConnected, err)
		node.config.Pending.running.Wait()
		found, err := other.load(t.Context(), ann)
		require.NoError(t, err)
		require.Equal(t, declined, found.State)
	})
}

func TestDisconnectSeesPastAStaleReplica(t *testing.T) {
	w := newWorld(t)
	replica := w.kv.Replica(3)
	node := w.node(impatient, func(c *Config) { c.KV = replica })
	require.Equal(t, filehost.Disconnected, w.state(node, ann)) // the replica has seen that there is nothing
	w.connect(w.node(), ann)
	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.Equal(t, filehost.Disconnected, w.state(w.node(), ann))
}

func TestTokensOfOtherSettingsAreForgottenButNotSent(t *testing.T) {
	w := newWorld(t)
	w.connect(w.node(), ann)
	after := w.node(w.revoking, func(c *Config) { c.OAuth.ClientID = "another" })
	require.NoError(t, after.Disconnect(t.Context(), ann))
	require.Empty(t, w.server.revoked)
	require.NotContains(t, w.kv.Keys(), after.key("conn_", ann))
}

func TestDisconnectLetsAnAppPasswordEndItselfAtTheHost(t *testing.T) {
	for name, test := range map[string]struct {
		answer error
		logged bool
	}{
		"done":               {nil, false},
		"no app password":    {filehost.E(filehost.Forbidden, "no", nil), false},
		"ended already":      {filehost.E(filehost.CredentialRejected, "no", nil), false},
		"the host is broken": {filehost.E(filehost.HostUnavailable, "no", nil), true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.revoke = func(c filehost.Credential) error {
				require.Equal(t, filehost.Basic, c.Scheme)
				return test.answer
			}
			node := w.node()
			require.NoError(t, node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
			require.NoError(t, node.Disconnect(t.Context(), ann))
			require.Equal(t, []string{"canary-app-password"}, w.ended)
			require.Empty(t, w.kv.Keys())
			require.Equal(t, test.logged, strings.Contains(w.log.String(), "could not be revoked"), w.log.String())
		})
	}
}

func TestDisconnectLetsATokenOfTheHostsOwnSignInEndItself(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	access := w.connect(node, ann).Secret.Reveal()
	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.Equal(t, []string{access}, w.ended)
	require.Equal(t, 1, w.server.tokenCalls())

	w.connect(node, ann)
	w.expire()
	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.Equal(t, 3, w.server.tokenCalls(), "one that has run out is renewed to be ended")
	require.Len(t, w.ended, 2)
	require.True(t, w.server.accepts(w.ended[1]))

	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) { s.fault = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) } })
	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.Len(t, w.ended, 2)
	require.Empty(t, w.kv.Keys())
}

func TestNoCredentialIsSentToAHostThatDidNotMakeIt(t *testing.T) {
	elsewhere := func(c *Config) {
		c.OAuth.AuthorizeURL, c.OAuth.TokenURL = c.Host.BaseURL.String()+authorizePath, c.Host.BaseURL.String()+tokenPath
		c.Host.BaseURL = &url.URL{Scheme: "https", Host: "cloud.example.com"}
	}
	for name, test := range map[string]struct{ connect, disconnect func(*Config) }{
		"tokens of another server":            {elsewhere, elsewhere},
		"an address that was edited":          {func(*Config) {}, elsewhere},
		"a client id that was edited":         {func(*Config) {}, func(c *Config) { c.OAuth.ClientID = "another" }},
		"a sign-in server that revokes":       {func(*Config) {}, func(c *Config) { c.OAuth.RevocationURL = c.Host.BaseURL.String() + "/revoke" }},
		"a host that has no way of its own":   {func(*Config) {}, func(c *Config) { c.Revoke = nil }},
		"a password for an address of before": {nil, elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if test.connect == nil {
				require.NoError(t, w.node().ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
			} else {
				w.connect(w.node(test.connect), ann)
			}
			require.NoError(t, w.node(test.disconnect).Disconnect(t.Context(), ann))
			require.Empty(t, w.ended)
			require.NotContains(t, w.kv.Keys(), w.node().key("conn_", ann))
			require.Equal(t, strings.Contains(name, "edited") || test.connect == nil,
				strings.Contains(w.log.String(), "without being revoked"), w.log.String())
		})
	}
}

func TestTokensThatAreNotSavedYetAreRevokedToo(t *testing.T) {
	w := newWorld(t)
	node := w.node(w.revoking)
	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) {
		s.beforeToken = func() {
			w.kv.Fail(func(op filehosttest.Op, _ string) error {
				if op == filehosttest.CompareAndSet {
					return errors.New("database is down")
				}
				return nil
			})
		}
	})
	kept := w.credential(node, ann)
	w.kv.Fail(nil)
	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.False(t, w.server.accepts(kept.Secret.Reveal()))
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	w.clock.Advance(time.Minute)
}
