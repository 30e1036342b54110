package tokens

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func TestConnectingAgainRevokesTheGrantThatIsReplaced(t *testing.T) {
	w := newWorld(t)
	node := w.node(w.revoking)
	first := w.connect(node, ann)
	second := w.connect(node, ann)
	node.config.Pending.Wait()
	require.False(t, w.server.accepts(first.Secret.Reveal()))
	require.True(t, w.server.accepts(second.Secret.Reveal()))
	require.Equal(t, []string{"refresh_token", "access_token"}, w.server.revoked)
	require.Equal(t, second, w.credential(node, ann))
}

func TestConnectingAgainEndsWhatTheHostItselfHasMade(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	first := w.connect(node, ann)
	w.connect(node, ann)
	node.config.Pending.Wait()
	require.Equal(t, []string{first.Secret.Reveal()}, w.ended)
}

func TestConnectingWithAnotherAppPasswordEndsTheOldOneOnly(t *testing.T) {
	w := newWorld(t)
	w.account = func(filehost.Credential) (string, error) { return "alice", nil }
	node := w.node(byPassword)
	for _, password := range []string{"canary-1", "canary-1", "canary-2"} {
		require.NoError(t, node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret(password)))
	}
	node.config.Pending.Wait()
	require.Equal(t, []string{"canary-1"}, w.ended, "once, and not when it was entered again")
}

func TestAServerThatKeepsSessionsIsNotAskedToEndTheOneOfTheNewGrant(t *testing.T) {
	for account, hints := range map[string][]string{
		"alice": {"access_token"}, // the same as before
		"carol": {"refresh_token", "access_token"},
	} {
		t.Run(account, func(t *testing.T) {
			w := newWorld(t)
			w.publish("/.well-known/openid-configuration", "revocation_endpoint", w.server.URL+"/revoke")
			node := w.node(w.byIssuer)
			w.connect(node, ann)
			w.server.set(func(s *signInServer) { s.answer["user_id"] = account })
			w.connect(node, ann)
			node.config.Pending.Wait()
			require.Equal(t, hints, w.server.revoked)
		})
	}
}

// TestASessionOfAnotherUserWithoutANameIsEnded tells users apart by their subjects where the sign-in server has no names.
func TestASessionOfAnotherUserWithoutANameIsEnded(t *testing.T) {
	for subject, hints := range map[string][]string{"0815": {"access_token"}, "0816": {"refresh_token", "access_token"}} {
		t.Run(subject, func(t *testing.T) {
			w := newWorld(t)
			server := w.openID("userinfo_endpoint", nil)
			server.claims = func(claims map[string]any) { delete(claims, "preferred_username") }
			node := w.node(w.byIssuer)
			w.connect(node, ann)
			server.claims = func(claims map[string]any) { claims["sub"], claims["preferred_username"] = subject, nil }
			w.connect(node, ann)
			node.config.Pending.Wait()
			require.Equal(t, hints, w.server.revoked)
		})
	}
}

func TestWhatCouldNotBeReplacedIsNotRevoked(t *testing.T) {
	w := newWorld(t)
	node := w.node(w.revoking)
	first := w.connect(node, ann)
	state, code := w.begin(node, ann)
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == node.key("conn_", ann) {
			return errors.New("database is down")
		}
		return nil
	})
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.Internal, err)
	w.kv.Fail(nil)
	node.config.Pending.Wait()
	require.True(t, w.server.accepts(first.Secret.Reveal()))
	require.False(t, slices.Contains(w.ended, first.Secret.Reveal()))
	require.Equal(t, first, w.credential(node, ann))
}
