package tokens

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func isBot(bot string) func(*Config) {
	return func(c *Config) {
		c.Identify = func(_ context.Context, userID string) (filehost.Identity, error) {
			return filehost.Identity{UserID: userID, Bot: userID == bot, Active: true}, nil
		}
	}
}

func byPassword(c *Config) { c.Methods, c.OAuth = []filehost.Method{filehost.MethodPassword}, OAuth{} }

func TestAnAppPasswordIsKeptAfterTheHostAcceptedIt(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"as the method of all":  byPassword,
		"of a bot beside OAuth": isBot(ann),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			node := w.node(edit)
			require.NoError(t, node.ConnectWithPassword(t.Context(), ann, "Älice", filehost.NewSecret("canary-app-password")))
			w.expire()
			credential := w.credential(w.node(edit), ann)
			require.Equal(t, filehost.Basic, credential.Scheme)
			require.Equal(t, "Älice", credential.Username)
			require.Equal(t, "canary-app-password", credential.Secret.Reveal())
			require.Equal(t, "alice-as-the-host-says", credential.Account)
			connection, err := node.Connection(t.Context(), ann)
			require.NoError(t, err)
			require.Equal(t, "password", connection.Grant)
			require.Zero(t, w.server.tokenCalls())
			require.NoError(t, node.Disconnect(t.Context(), ann))
			require.Empty(t, w.kv.Keys())
		})
	}
}

func TestAppPasswordsThatAreNotKept(t *testing.T) {
	const good = "canary-app-password"
	tests := map[string]struct {
		username, password string
		field              string
		asked              bool
	}{
		"wrong":                         {"alice", "canary-wrong", "password", true},
		"no user name":                  {"", good, "username", false},
		"no password":                   {"alice", "", "password", false},
		"a line break in the user name": {"alice\r\nX: y", good, "username", false},
		"a colon in the user name":      {"al:ice", good, "username", false},
		"a NUL in the password":         {"alice", good + "\x00", "password", false},
		"a user name that is no UTF-8":  {"\xff", good, "username", false},
		"a user name without end":       {strings.Repeat("a", 256), good, "username", false},
		"a password without end":        {"alice", strings.Repeat("a", 1025), "password", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			asked := false
			host := w.account
			w.account = func(c filehost.Credential) (string, error) { asked = true; return host(c) }
			node := w.node(byPassword)
			err := node.ConnectWithPassword(t.Context(), ann, test.username, filehost.NewSecret(test.password))
			requireKind(t, filehost.InvalidRequest, err)
			var invalid *filehost.Error
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, test.field, invalid.Field)
			require.Equal(t, test.asked, asked)
			require.NotContains(t, err.Error(), "canary")
			require.NotContains(t, w.kv.Keys(), node.key("conn_", ann))
		})
	}
}

func TestAHostThatIsDownSaysNothingAboutAPassword(t *testing.T) {
	w := newWorld(t)
	w.account = func(filehost.Credential) (string, error) {
		return "", filehost.E(filehost.HostUnavailable, "down", nil)
	}
	node := w.node(byPassword)
	err := node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password"))
	requireKind(t, filehost.HostUnavailable, err)
	require.Empty(t, w.kv.Keys())
}

func TestAnAppPasswordThatWasRejectedOnceIsNeverSentAgain(t *testing.T) {
	w := newWorld(t)
	node := w.node(byPassword)
	require.NoError(t, node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
	old := w.credential(node, ann)
	require.NoError(t, node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
	newer := w.credential(node, ann)
	require.NotEqual(t, old.Connection, newer.Connection)
	renewed, err := node.Renew(t.Context(), ann, old)
	require.NoError(t, err)
	require.Equal(t, newer, renewed, "the user has connected anew in the meantime")

	_, err = node.Renew(t.Context(), ann, newer)
	requireKind(t, filehost.NotConnected, err)
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	require.Equal(t, filehost.Reconnect, w.state(node, ann))
	found, err := node.load(t.Context(), ann)
	require.NoError(t, err)
	require.True(t, found.Password.IsEmpty())
}

func TestNobodySignsInOnAPageWhereThereIsNone(t *testing.T) {
	w := newWorld(t)
	node := w.node(byPassword)
	_, err := node.Authorize(t.Context(), ann)
	requireKind(t, filehost.Unsupported, err)
	_, err = node.Callback(t.Context(), callback(ann, "state", "code"))
	requireKind(t, filehost.Unsupported, err)
	requireKind(t, filehost.Unsupported, node.Confirm(t.Context(), ann, "AAAA-AAAA"))
	require.NoError(t, node.CheckTokenEndpoint(t.Context()))
}

func TestAPersonsAppPasswordIsNotUsedAfterTheAdminChoseOAuth(t *testing.T) {
	w := newWorld(t)
	before := w.node(byPassword)
	for _, user := range []string{ann, bob} {
		require.NoError(t, before.ConnectWithPassword(t.Context(), user, "alice", filehost.NewSecret("canary-app-password")))
	}
	old := w.credential(before, ann)

	after := w.node(isBot(bob))
	_, err := after.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	require.ErrorContains(t, err, "signing in on its own page")
	_, err = after.Renew(t.Context(), ann, old)
	requireKind(t, filehost.NotConnected, err)
	connection, err := after.Connection(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, filehost.Reconnect, connection.State)
	require.Equal(t, filehost.Basic, w.credential(after, bob).Scheme, "a bot has nothing else")

	require.Equal(t, old, w.credential(before, ann), "nothing is deleted: the admin may choose back")
	require.Equal(t, filehost.Bearer, w.connect(after, ann).Scheme)
}

func TestWhoIsABotMustBeKnownBeforeAPasswordIsUsed(t *testing.T) {
	for want, lookup := range map[filehost.Kind]error{
		filehost.Internal:     filehost.E(filehost.Internal, "database is down", nil),
		filehost.NotConnected: filehost.E(filehost.NotFound, "no such user", nil),
	} {
		w := newWorld(t)
		require.NoError(t, w.node(byPassword).ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
		node := w.node(func(c *Config) {
			c.Identify = func(context.Context, string) (filehost.Identity, error) { return filehost.Identity{Bot: true}, lookup }
		})
		_, err := node.For(t.Context(), ann)
		requireKind(t, want, err)
	}
}

func TestAPasswordThatTheHostHasRefusedIsNotSentTwiceInHalfAnHour(t *testing.T) {
	w := newWorld(t)
	var sent []string
	host := w.account
	w.account = func(c filehost.Credential) (string, error) {
		sent = append(sent, c.UserID+" "+c.Username+" "+c.Secret.Reveal())
		return host(c)
	}
	one, two := w.node(byPassword), w.node(byPassword)
	connect := func(node *Store, user, name, password string) error {
		return node.ConnectWithPassword(t.Context(), user, name, filehost.NewSecret(password))
	}
	requireKind(t, filehost.InvalidRequest, connect(one, ann, "alice", "canary-wrong"))
	for _, node := range []*Store{one, two} {
		err := connect(node, ann, "alice", "canary-wrong")
		requireKind(t, filehost.InvalidRequest, err)
		require.ErrorContains(t, err, "not sent again")
		require.NotContains(t, err.Error(), "canary")
	}
	require.Equal(t, []string{ann + " alice canary-wrong"}, sent)
	requireKind(t, filehost.InvalidRequest, connect(two, ann, "alicia", "canary-wrong"))
	requireKind(t, filehost.InvalidRequest, connect(two, bob, "alice", "canary-wrong"))
	require.Len(t, sent, 3, "by another name, or of another user, it may be right")
	for _, key := range w.kv.Keys() {
		value, err := w.kv.Get(t.Context(), key)
		require.NoError(t, err)
		require.NotContains(t, string(value), "canary")
	}
	require.NoError(t, connect(one, ann, "alice", "canary-app-password"))
	requireKind(t, filehost.InvalidRequest, connect(one, ann, "alice", "canary-wrong"))
	require.Len(t, sent, 4)
	w.clock.Advance(failureTime)
	requireKind(t, filehost.InvalidRequest, connect(one, ann, "alice", "canary-wrong"))
	require.Len(t, sent, 5, "the host has forgotten it, too")
}

func TestAPasswordThatTheHostGaveNoJudgementOnIsSentAgain(t *testing.T) {
	w := newWorld(t)
	host := w.account
	w.account = func(filehost.Credential) (string, error) {
		return "", filehost.E(filehost.HostUnavailable, "down", nil)
	}
	node := w.node(byPassword)
	requireKind(t, filehost.HostUnavailable, node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
	w.account = host
	require.NoError(t, node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
}

func TestATypedAppPasswordGoesAsTheHostHasProvedToTakeIt(t *testing.T) {
	rejected := filehost.E(filehost.CredentialRejected, "no", nil)
	for name, test := range map[string]struct {
		kind  string
		probe error
		asked bool
		want  filehost.Scheme
	}{
		"Nextcloud takes it as a bearer token":       {"nextcloud", nil, true, filehost.Bearer},
		"Nextcloud does not: a user's own":           {"nextcloud", rejected, true, filehost.Basic},
		"Nextcloud can't be asked just now":          {"nextcloud", errDatabase, true, filehost.Basic},
		"another host, where a bearer token differs": {"owncloud", nil, false, filehost.Basic},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.host.Kind = test.kind
			asked := false
			node := w.node(byPassword, func(c *Config) {
				c.Probe = func(_ context.Context, credential filehost.Credential) error {
					asked = true
					require.Equal(t, filehost.Bearer, credential.Scheme)
					require.Equal(t, "alice-as-the-host-says", credential.Account)
					return test.probe
				}
			})
			require.NoError(t, node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
			require.Equal(t, test.asked, asked)
			require.Equal(t, test.want, w.credential(node, ann).Scheme)
			w.revoke = func(c filehost.Credential) error {
				require.Equal(t, test.want, c.Scheme)
				return nil
			}
			require.NoError(t, node.Disconnect(t.Context(), ann))
		})
	}
}
