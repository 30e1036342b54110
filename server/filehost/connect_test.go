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
		method              filehost.Method
		byOAuth, byPassword filehost.Kind
	}{
		"a person by OAuth":            {bob, filehost.MethodOAuth, ok, filehost.Unsupported},
		"a person by app password":     {bob, filehost.MethodPassword, filehost.Unsupported, ok},
		"a bot, whatever the method":   {"bot", filehost.MethodOAuth, filehost.Unsupported, ok},
		"a deactivated user, never":    {"gone", filehost.MethodOAuth, filehost.Forbidden, filehost.Forbidden},
		"an unknown user, never":       {"nobody", filehost.MethodPassword, filehost.NotFound, filehost.NotFound},
		"a bot by app password method": {"bot", filehost.MethodPassword, filehost.Unsupported, ok},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.Methods = []filehost.Method{test.method}
			_, err := w.Begin(t.Context(), test.user, "")
			assert.Equal(t, test.byOAuth, kindOf(err))
			err = w.ConnectWithPassword(t.Context(), test.user, "user", filehost.NewSecret("right"))
			assert.Equal(t, test.byPassword, kindOf(err))
		})
	}
}

func TestTheWaysThatAUserHas(t *testing.T) {
	exchange, oauth, password := filehost.MethodTokenExchange, filehost.MethodOAuth, filehost.MethodPassword
	refusal := &filehost.Refusal{Method: exchange, Reason: "You have no account there."}
	byHimself := &filehost.Refusal{Method: oauth, Reason: "That is not your account."}
	for name, test := range map[string]struct {
		user    string
		refused *filehost.Refusal
		want    []filehost.Method
	}{
		"a person":                     {bob, nil, []filehost.Method{exchange, oauth, password}},
		"a person who was refused":     {bob, refusal, []filehost.Method{oauth, password, exchange}},
		"a person who has signed in":   {bob, byHimself, []filehost.Method{password, oauth, exchange}},
		"a bot has only its password":  {"bot", nil, []filehost.Method{password}},
		"a bot that nobody refuses it": {"bot", refusal, []filehost.Method{password}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.Methods = []filehost.Method{exchange, oauth, password}
			if test.refused != nil {
				w.tokens.Refuse(test.user, *test.refused)
			}
			connection, err := w.Connection(t.Context(), test.user)
			require.NoError(t, err)
			assert.Equal(t, test.want, connection.Methods)
			assert.Equal(t, test.refused, connection.Refused)
		})
	}
}

func TestWhatConnectsWithoutAnAct(t *testing.T) {
	exchange, oauth := filehost.MethodTokenExchange, filehost.MethodOAuth
	for name, test := range map[string]struct {
		connection filehost.Connection
		want       bool
	}{
		"by the best method":            {filehost.Connection{Methods: []filehost.Method{exchange, oauth}}, true},
		"not by signing in":             {filehost.Connection{Methods: []filehost.Method{oauth}}, false},
		"not where it was refused":      {filehost.Connection{Methods: []filehost.Method{exchange}, Refused: &filehost.Refusal{Method: exchange}}, false},
		"not who has disconnected":      {filehost.Connection{Methods: []filehost.Method{exchange}, Declined: true}, false},
		"not before the user was known": {filehost.Connection{}, false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, test.connection.Automatic()) })
	}
}

func TestConnectingBeginsByTheBestMethodOrTheOneChosen(t *testing.T) {
	w := newWorld()
	w.Methods = []filehost.Method{filehost.MethodTokenExchange, filehost.MethodLoginFlow, filehost.MethodOAuth}
	begun, err := w.Begin(t.Context(), bob, "")
	require.NoError(t, err)
	assert.True(t, begun.Connected)
	assert.Equal(t, []string{bob}, w.mattermost.Changed(), "his clients are told")

	w.tokens.Refuse(bob, filehost.Refusal{Method: filehost.MethodTokenExchange, Reason: "You have no account there."})
	require.NoError(t, w.Disconnect(t.Context(), bob))
	begun, err = w.Begin(t.Context(), bob, "")
	require.NoError(t, err)
	assert.NotEmpty(t, begun.LoginURL, "the next method takes the place of the one that refused")
	_, err = w.Begin(t.Context(), bob, filehost.MethodTokenExchange)
	assert.Equal(t, filehost.NotConnected, kindOf(err))
	assert.ErrorContains(t, err, "no account there")

	begun, err = w.Begin(t.Context(), bob, filehost.MethodOAuth)
	require.NoError(t, err)
	assert.NotEmpty(t, begun.AuthorizeURL)
	_, err = w.Begin(t.Context(), bob, filehost.MethodJWTBearer)
	assert.Equal(t, filehost.Unsupported, kindOf(err), "not one of his")
}

func TestAnAccountIsConnectedWhenItsUserHasSeenIt(t *testing.T) {
	w := newWorld()
	assert.Equal(t, filehost.NotFound, kindOf(w.Accept(t.Context(), bob, true)), "none waits")
	w.tokens.Offer(bob, filehost.Pending{Account: "robert"})
	connection, err := w.Connection(t.Context(), bob)
	require.NoError(t, err)
	require.NotNil(t, connection.Pending)
	assert.Equal(t, filehost.Disconnected, connection.State)
	require.NoError(t, w.Accept(t.Context(), bob, true))
	connection, err = w.Connection(t.Context(), bob)
	require.NoError(t, err)
	assert.Equal(t, filehost.Connected, connection.State)
	assert.Equal(t, filehost.Forbidden, kindOf(w.Accept(t.Context(), "gone", true)), "a deactivated user")
}

// TestWithoutASiteURL shows that nothing depends on it but signing in, and that an admin is told so.
func TestWithoutASiteURL(t *testing.T) {
	w := newWorld()
	w.NoReturn = true
	_, err := w.Begin(t.Context(), bob, filehost.MethodOAuth)
	assert.Equal(t, filehost.NotConfigured, kindOf(err))
	assert.ErrorContains(t, err, "Site URL")
	require.NoError(t, w.ConnectWithPassword(t.Context(), "bot", "user", filehost.NewSecret("right")))

	var degraded *filehost.Degraded
	configuration := w.Probes(nil, nil, nil, nil)[0]
	require.Equal(t, filehost.CheckConfiguration, configuration.Name)
	require.ErrorAs(t, configuration.Run(t.Context()), &degraded)
	assert.Contains(t, degraded.Remedy, "Site URL")

	for method, needs := range map[filehost.Method]bool{filehost.MethodJWTBearer: true, filehost.MethodTokenExchange: true,
		filehost.MethodLoginFlow: false, filehost.MethodAppToken: false, filehost.MethodServiceAccount: false} {
		w.Methods = []filehost.Method{method}
		assert.Equal(t, needs, configuration.Run(t.Context()) != nil, method)
	}
	w.Methods = []filehost.Method{filehost.MethodPassword}
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
