package tokens

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// held signs in without a session and returns what the page shows.
func (w *world) held(node *Store, userID string) (handle string, shown filehost.Confirmation) {
	w.t.Helper()
	state, code := w.begin(node, userID)
	result, err := node.Callback(w.t.Context(), callback("", state, code))
	require.NoError(w.t, err)
	require.False(w.t, result.Connected)
	shown, err = node.Confirmation(w.t.Context(), result.ConfirmPage)
	require.NoError(w.t, err)
	require.Equal(w.t, userID, shown.BeganBy)
	return result.ConfirmPage, shown
}

func TestACallbackWithoutSessionWaitsForWhoBeganToTypeItsCode(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	handle, shown := w.held(node, ann)
	require.Regexp(t, `^[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}$`, shown.Code)
	require.Zero(t, w.server.tokenCalls(), "the code is unspent")
	require.Equal(t, filehost.Disconnected, w.state(node, ann))

	requireKind(t, filehost.InvalidRequest, node.Confirm(t.Context(), bob, shown.Code))
	require.Zero(t, w.server.tokenCalls(), "only who began")

	other := w.node() // and on any node, however it is typed
	require.NoError(t, other.Confirm(t.Context(), ann, strings.ToLower(strings.ReplaceAll(shown.Code, "-", " "))))
	require.Equal(t, "alice", w.credential(node, ann).Account)

	_, err := node.Confirmation(t.Context(), handle)
	requireKind(t, filehost.NotFound, err)
	requireKind(t, filehost.InvalidRequest, node.Confirm(t.Context(), ann, shown.Code))
	require.Equal(t, 1, w.server.tokenCalls())
}

func TestAHeldCodeIsUnreadableAndLivesFiveMinutes(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.clock.Advance(signInTime / 2)
	handle, shown := w.held(node, ann)
	secret := append(w.server.sent, handle, shown.Code, strings.ReplaceAll(shown.Code, "-", ""))
	for _, key := range w.kv.Keys() {
		value, err := w.kv.Get(t.Context(), key)
		require.NoError(t, err)
		w.kv.Put(key, value) // a store that forgets to expire
		for _, word := range secret {
			require.NotContains(t, key+string(value), word)
		}
	}
	w.clock.Advance(heldTime - 1)
	_, err := node.Confirmation(t.Context(), handle)
	require.NoError(t, err)
	w.clock.Advance(1)
	_, err = node.Confirmation(t.Context(), handle)
	requireKind(t, filehost.NotFound, err)
	requireKind(t, filehost.InvalidRequest, node.Confirm(t.Context(), ann, shown.Code))
	require.Zero(t, w.server.tokenCalls())
}

func TestASignInNearItsEndStillLeavesFiveMinutesToConfirm(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	state, code := w.begin(node, ann)
	w.clock.Advance(signInTime - 1)
	result, err := node.Callback(t.Context(), callback("", state, code))
	require.NoError(t, err)
	shown, err := node.Confirmation(t.Context(), result.ConfirmPage)
	require.NoError(t, err)
	w.clock.Advance(heldTime - 1)
	require.NoError(t, node.Confirm(t.Context(), ann, shown.Code))
}

func TestFiveWrongCodesEndTheSignIn(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	_, shown := w.held(node, ann)
	for range maxTries - 1 {
		requireKind(t, filehost.InvalidRequest, node.Confirm(t.Context(), ann, "AAAA-AAAA"))
	}
	_, again := w.held(node, ann)
	require.NotEqual(t, shown.Code, again.Code)
	for _, wrong := range []string{"", "AAAA-AAAA", shown.Code, again.Code + "2", strings.Repeat("A", 1<<20)} {
		requireKind(t, filehost.InvalidRequest, node.Confirm(t.Context(), ann, wrong))
	}
	requireKind(t, filehost.InvalidRequest, node.Confirm(t.Context(), ann, again.Code))
	require.Zero(t, w.server.tokenCalls())
}

func TestGuessesMadeAtOnceAreCountedLikeGuessesInTurn(t *testing.T) {
	w := newWorld(t)
	nodes := []*Store{w.node(impatient), w.node(impatient)}
	_, shown := w.held(nodes[0], ann)
	for _, err := range outcomes(50, func(i int) error { return nodes[i%2].Confirm(t.Context(), ann, "AAAA-AAAA") }) {
		require.Error(t, err)
	}
	requireKind(t, filehost.InvalidRequest, nodes[0].Confirm(t.Context(), ann, shown.Code))
	require.Zero(t, w.server.tokenCalls())
}

func TestTheRightCodeTypedTwiceAtOnceIsRedeemedOnce(t *testing.T) {
	w := newWorld(t)
	nodes := []*Store{w.node(impatient), w.node(impatient)}
	_, shown := w.held(nodes[0], ann)
	w.meet(10, filehosttest.CompareAndDelete)
	won := 0
	for _, err := range outcomes(10, func(i int) error { return nodes[i%2].Confirm(t.Context(), ann, shown.Code) }) {
		if err == nil {
			won++
		}
	}
	require.Equal(t, 1, won)
	require.Equal(t, 1, w.server.tokenCalls())
}

func TestALaterSignInReplacesTheHeldOne(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	first, old := w.held(node, ann)
	_, shown := w.held(node, ann)
	_, err := node.Confirmation(t.Context(), first)
	requireKind(t, filehost.NotFound, err)
	requireKind(t, filehost.InvalidRequest, node.Confirm(t.Context(), ann, old.Code))
	require.NoError(t, node.Confirm(t.Context(), ann, shown.Code))
}

func TestAPageThatNobodyWasSentTo(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.held(node, ann)
	for _, handle := range []string{"", "guessed", strings.Repeat("A", 1<<20)} {
		_, err := node.Confirmation(t.Context(), handle)
		requireKind(t, filehost.NotFound, err)
	}
}

func TestAHeldCodeOfOtherSettingsIsNotRedeemed(t *testing.T) {
	for name, edit := range otherSettings() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			handle, shown := w.held(w.node(), ann)
			after := w.node(edit)
			_, err := after.Confirmation(t.Context(), handle)
			require.Error(t, err)
			require.Error(t, after.Confirm(t.Context(), ann, shown.Code))
			require.Zero(t, w.server.tokenCalls())
		})
	}
}
