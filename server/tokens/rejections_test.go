package tokens

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// startingWorld has an OpenCloud, which may reject what is good while it starts.
func startingWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.host.Kind = "opencloud"
	return w
}

// typed connects a user by an app token.
func (w *world) typed(node *Store, userID string) filehost.Credential {
	w.t.Helper()
	require.NoError(w.t, node.ConnectWithPassword(w.t.Context(), userID, "alice", filehost.NewSecret("canary-app-password")))
	return w.credential(node, userID)
}

func TestOpenCloudIsGivenAMinuteToStart(t *testing.T) {
	w := startingWorld(t)
	node := w.node(byPassword)
	anns, bobs := w.typed(node, ann), w.typed(node, bob)
	for range 2 {
		_, err := node.Renew(t.Context(), ann, anns)
		requireKind(t, filehost.HostUnavailable, err)
		w.clock.Advance(rejectionTime - time.Second)
		_, err = node.Renew(t.Context(), ann, anns)
		requireKind(t, filehost.HostUnavailable, err)
		require.Equal(t, anns.Secret, w.credential(node, ann).Secret)
		w.clock.Advance(rejectionMemory) // it has worked since: that is another start
	}
	requireKind(t, filehost.HostUnavailable, node.Reject(t.Context(), ann, anns))
	w.clock.Advance(rejectionTime)
	_, err := node.Renew(t.Context(), bob, bobs)
	requireKind(t, filehost.HostUnavailable, err) // another's says nothing of his
	_, err = node.Renew(t.Context(), ann, anns)
	requireKind(t, filehost.NotConnected, err)
	require.Equal(t, filehost.Reconnect, w.state(node, ann))
	require.Equal(t, filehost.Connected, w.state(node, bob))

	again := w.typed(node, ann)
	_, err = node.Renew(t.Context(), ann, again)
	requireKind(t, filehost.HostUnavailable, err)
	other := w.typed(node, ann)
	w.clock.Advance(rejectionTime)
	_, err = node.Renew(t.Context(), ann, other)
	requireKind(t, filehost.HostUnavailable, err) // nor does the former token's
}

func TestARefreshedSignInIsGivenAMinuteAtOpenCloud(t *testing.T) {
	w := newWorld(t)
	w.openID()
	node := w.node(w.ofOpenCloud)
	credential := w.connect(node, ann)
	requireKind(t, filehost.HostUnavailable, node.Reject(t.Context(), ann, credential))
	renewed, err := node.Renew(t.Context(), ann, credential)
	require.NoError(t, err)
	w.clock.Advance(rejectionTime)
	require.NoError(t, node.Reject(t.Context(), ann, renewed), "the connection is the same")
	require.Equal(t, filehost.Reconnect, w.state(node, ann))
}

func TestTheServiceAccountIsGivenAMinuteAtOpenCloud(t *testing.T) {
	w := startingWorld(t)
	host := w.shares()
	node := w.node(sharing, func(c *Config) { c.Methods, c.OAuth = []filehost.Method{filehost.MethodServiceAccount}, OAuth{} })
	credential := w.credential(node, ann)
	host.set(func(h *sharedHost) { h.password = "another" })
	_, err := node.Renew(t.Context(), ann, credential)
	requireKind(t, filehost.HostUnavailable, err)
	require.Error(t, node.CheckServiceAccount(t.Context()))
	host.set(func(h *sharedHost) { h.password = "canary-shared-password" })
	w.clock.Advance(unansweredTime)
	require.NoError(t, node.CheckServiceAccount(t.Context()), "it has started")
	w.credential(node, ann)

	host.set(func(h *sharedHost) { h.password = "another" })
	_, err = node.Renew(t.Context(), ann, credential)
	requireKind(t, filehost.HostUnavailable, err)
	w.clock.Advance(rejectionTime)
	requireKind(t, filehost.NotConfigured, node.CheckServiceAccount(t.Context()))
	asked := host.count()
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	require.Equal(t, asked, host.count(), "it is not sent again")
}

func TestWhoMakesAppTokensIsGivenAMinute(t *testing.T) {
	w := startingWorld(t)
	maker, edit := w.makesTokens()
	node := w.node(edit)
	maker.answer = filehost.E(filehost.CredentialRejected, "no", nil)
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.HostUnavailable, err)
	maker.answer = nil
	require.Equal(t, "alan", w.credential(node, ann).Account, "it has started")

	w.expire()
	maker.answer = filehost.E(filehost.CredentialRejected, "no", nil)
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.HostUnavailable, err)
	w.clock.Advance(rejectionTime)
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.NotConfigured, err)
	made := maker.count()
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.NotConfigured, err)
	require.Equal(t, made, maker.count(), "it is not sent again")
}
