package tokens

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func TestAUserHasAFewSignInsUnderWayTheOldestIsDropped(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	var states, codes []string
	for range 40 {
		state, code := w.begin(node, ann)
		states, codes = append(states, state), append(codes, code)
	}
	bobs, bobsCode := w.begin(node, bob)
	require.LessOrEqual(t, len(w.kv.Keys()), maxBegun+3, "five of ann's and one of bob's, and a list each")

	for _, state := range states[:35] {
		_, err := node.Callback(t.Context(), callback(ann, state, "junk"))
		requireKind(t, filehost.InvalidRequest, err)
	}
	require.Zero(t, w.server.tokenCalls())
	for i := 35; i < 40; i++ {
		_, err := node.Callback(t.Context(), callback(ann, states[i], codes[i]))
		require.NoError(t, err)
	}
	_, err := node.Callback(t.Context(), callback(bob, bobs, bobsCode))
	require.NoError(t, err)
}

func TestSignInsBegunAtOnceOnSeveralNodesAreAllListed(t *testing.T) {
	w := newWorld(t)
	nodes := []*Store{w.node(impatient), w.node(impatient)}
	for _, err := range outcomes(maxBegun, func(i int) error {
		state, code := w.begin(nodes[i%2], ann)
		_, err := nodes[1-i%2].Callback(context.Background(), callback(ann, state, code))
		return err
	}) {
		require.NoError(t, err)
	}
}

func TestASignInBegunBeforeADisconnectDoesNotConnectAfterIt(t *testing.T) {
	w := newWorld(t)
	node, other := w.node(w.revoking), w.node()
	w.connect(node, ann)
	state, code := w.begin(node, ann)
	handle, shown := w.held(other, ann)
	calls := w.server.tokenCalls()
	require.NoError(t, node.Disconnect(t.Context(), ann))

	_, err := other.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.InvalidRequest, err)
	_, err = other.Confirmation(t.Context(), handle)
	requireKind(t, filehost.NotFound, err)
	requireKind(t, filehost.InvalidRequest, other.Confirm(t.Context(), ann, shown.Code))
	require.Equal(t, calls, w.server.tokenCalls())
	require.Equal(t, filehost.Disconnected, w.state(node, ann))
	w.connect(node, ann)
}

func TestASignInThatIsRedeemedWhileItsUserDisconnectsIsRevoked(t *testing.T) {
	w := newWorld(t)
	node := w.node(w.revoking)
	state, code := w.begin(node, ann)
	w.server.set(func(s *signInServer) {
		s.beforeToken = func() {
			if err := w.node().Disconnect(context.Background(), ann); err != nil {
				t.Error(err)
			}
		}
	})
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.InvalidRequest, err)
	require.Equal(t, filehost.Disconnected, w.state(node, ann))
	require.Equal(t, []string{"refresh_token", "access_token"}, w.server.revoked)
}

func TestWhatTheStoreFailedToForgetStillConnectsNobody(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	state, code := w.begin(node, ann)
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndDelete && strings.HasPrefix(key, "state_") {
			return errors.New("database is down")
		}
		return nil
	})
	require.NoError(t, node.Disconnect(t.Context(), ann))
	w.kv.Fail(nil)
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.InvalidRequest, err)
	require.Equal(t, filehost.Disconnected, w.state(node, ann))
}
