package filehost_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestWhoMayConnectHow(t *testing.T) {
	for name, test := range map[string]struct {
		user                string
		method              bool // the sign-in method is the app password
		byOAuth, byPassword filehost.Kind
	}{
		"a person by OAuth":            {bob, false, ok, filehost.Unsupported},
		"a person by app password":     {bob, true, filehost.Unsupported, ok},
		"a bot, whatever the method":   {"bot", false, filehost.Unsupported, ok},
		"a deactivated user, never":    {"gone", false, filehost.Forbidden, filehost.Forbidden},
		"an unknown user, never":       {"nobody", true, filehost.NotFound, filehost.NotFound},
		"a bot by app password method": {"bot", true, filehost.Unsupported, ok},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.Password = test.method
			_, err := w.Authorize(t.Context(), test.user)
			assert.Equal(t, test.byOAuth, kindOf(err))
			err = w.ConnectWithPassword(t.Context(), test.user, "user", filehost.NewSecret("right"))
			assert.Equal(t, test.byPassword, kindOf(err))
		})
	}
}

// TestWithoutASiteURL shows that nothing depends on it but signing in, and that an admin is told so.
func TestWithoutASiteURL(t *testing.T) {
	w := newWorld()
	w.NoReturn = true
	_, err := w.Authorize(t.Context(), bob)
	assert.Equal(t, filehost.NotConfigured, kindOf(err))
	assert.ErrorContains(t, err, "Site URL")
	require.NoError(t, w.ConnectWithPassword(t.Context(), "bot", "user", filehost.NewSecret("right")))

	var degraded *filehost.Degraded
	configuration := w.Probes(nil, nil)[0]
	require.Equal(t, filehost.CheckConfiguration, configuration.Name)
	require.ErrorAs(t, configuration.Run(t.Context()), &degraded)
	assert.Contains(t, degraded.Remedy, "Site URL")

	w.Password = true
	require.NoError(t, configuration.Run(t.Context()))
	require.NoError(t, w.ConnectWithPassword(t.Context(), bob, "user", filehost.NewSecret("right")))
}

// ok stands for no error.
const ok filehost.Kind = -1

func kindOf(err error) filehost.Kind {
	if err == nil {
		return ok
	}
	return filehost.KindOf(err)
}

func TestTheUsersClientsAreToldOfEveryChange(t *testing.T) {
	w := newWorld()
	_, err := w.Callback(t.Context(), filehost.Callback{UserID: bob, HostID: "default", Code: "good"})
	require.NoError(t, err)
	require.NoError(t, w.Disconnect(t.Context(), bob))
	w.tokens.BeginConfirm(bob)
	require.Error(t, w.Confirm(t.Context(), bob, "wrong"))
	require.NoError(t, w.Confirm(t.Context(), bob, "ABCD-EFGH"))
	assert.Equal(t, []string{bob, bob, bob}, w.mattermost.Changed())
}

func TestACallbackOfAnotherHostIsNotFound(t *testing.T) {
	_, err := newWorld().Callback(t.Context(), filehost.Callback{UserID: bob, HostID: "other", Code: "good"})
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
}

func TestACallbackWithoutASessionConnectsNobody(t *testing.T) {
	w := newWorld()
	result, err := w.Callback(t.Context(), filehost.Callback{HostID: "default", Code: "good"})
	require.NoError(t, err)
	assert.False(t, result.Connected)
	assert.Empty(t, w.mattermost.Changed())
}
