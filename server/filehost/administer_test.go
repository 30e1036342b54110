package filehost_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const admin = "admin"

// keeper is a keeper of given connections, in their order.
type keeper struct {
	filehost.Connections
	kept []filehost.Kept
	fail error // after them
}

func (c keeper) Kept(_ context.Context, after string) iter.Seq2[filehost.Kept, error] {
	return func(yield func(filehost.Kept, error) bool) {
		for _, kept := range c.kept {
			if kept.Position > after && !yield(kept, nil) {
				return
			}
		}
		if c.fail != nil {
			yield(filehost.Kept{}, c.fail)
		}
	}
}

func keptOf(user string, state filehost.ConnectionState, grant, position string) filehost.Kept {
	return filehost.Kept{UserID: user, Position: position, Connection: filehost.Connection{State: state, Grant: grant}}
}

func users(page filehost.KeptPage) (ids []string) {
	for _, kept := range page.Connections {
		ids = append(ids, kept.UserID)
	}
	return ids
}

func TestAnAdminReplacesTheSigningKeysAndTheAuditLogSaysSo(t *testing.T) {
	w := newWorld()
	assert.Equal(t, filehost.NotFound, kindOf(w.ReplaceSigningKeys(t.Context(), admin)))
	w.tokens.Keys = `{"keys":[{}]}`
	assert.Equal(t, filehost.Forbidden, kindOf(w.ReplaceSigningKeys(t.Context(), alice)))
	assert.Empty(t, w.audit.Events())
	require.NoError(t, w.ReplaceSigningKeys(t.Context(), admin))
	assert.Equal(t, []filehost.AuditEvent{{Action: filehost.AuditReplaceKeys, Outcome: filehost.AuditSuccess, ActingUserID: admin, HostID: w.Host.ID}}, w.audit.Events())
	assert.JSONEq(t, `{"keys":[]}`, w.tokens.Keys)
}

func TestAnAdminSeesWhoseAccessIsKeptPageByPage(t *testing.T) {
	w := newWorld()
	w.Connections = keeper{Connections: w.tokens, kept: []filehost.Kept{
		keptOf(alice, filehost.Connected, "password", "1"), keptOf(bob, filehost.Reconnect, "password", "2"),
		keptOf("", filehost.Reconnect, "", "3"), keptOf("stranger", filehost.Connected, "authorization_code", "4"),
	}}
	for name, test := range map[string]struct {
		query filehost.KeptQuery
		users []string
		next  string
	}{
		"all":             {filehost.KeptQuery{Limit: 10}, []string{alice, bob, "stranger"}, ""},
		"the first two":   {filehost.KeptQuery{Limit: 2}, []string{alice, bob}, "2"},
		"what is left":    {filehost.KeptQuery{Limit: 2, After: "2"}, []string{"stranger"}, ""},
		"one of the rest": {filehost.KeptQuery{Limit: 1, After: "1"}, []string{bob}, "2"},
		"a state":         {filehost.KeptQuery{Limit: 1, State: filehost.Reconnect}, []string{bob}, ""},
		"a grant":         {filehost.KeptQuery{Limit: 1, Grant: "password"}, []string{alice}, "1"},
		"both":            {filehost.KeptQuery{Limit: 9, Grant: "password", State: filehost.Connected}, []string{alice}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := w.KeptConnections(t.Context(), admin, test.query)
			require.NoError(t, err)
			assert.Equal(t, test.users, users(page))
			assert.Equal(t, test.next, page.Next)
			if test.query.After != "" {
				assert.Nil(t, page.Counts)
				return
			}
			assert.Equal(t, &filehost.KeptCounts{Total: 4,
				ByState: map[filehost.ConnectionState]int{filehost.Connected: 2, filehost.Reconnect: 2},
				ByGrant: map[string]int{"password": 2, "authorization_code": 1}}, page.Counts)
		})
	}
	page, err := w.KeptConnections(t.Context(), admin, filehost.KeptQuery{Limit: 10})
	require.NoError(t, err)
	assert.Equal(t, []string{"alice", "bob", ""}, []string{page.Connections[0].Username, page.Connections[1].Username, page.Connections[2].Username})
}

func TestAListThatCannotBeReadToItsEndIsNoList(t *testing.T) {
	w := newWorld()
	w.Connections = keeper{Connections: w.tokens, kept: []filehost.Kept{keptOf(alice, filehost.Connected, "password", "1")}, fail: errors.New("down")}
	page, err := w.KeptConnections(t.Context(), admin, filehost.KeptQuery{Limit: 10})
	require.Error(t, err)
	assert.Empty(t, page)
}

func TestOnlyAnActiveAdminSeesAndEndsOthersConnections(t *testing.T) {
	for _, who := range []string{alice, bob, "bot", "inactive admin", "nobody"} {
		w := newWorld()
		_, err := w.KeptConnections(t.Context(), who, filehost.KeptQuery{Limit: 10})
		require.Error(t, err, who)
		require.Error(t, w.RevokeConnection(t.Context(), who, alice), who)
		if who != "nobody" {
			assert.Equal(t, filehost.Forbidden, kindOf(err), who)
		}
		connection, err := w.Connection(t.Context(), alice)
		require.NoError(t, err)
		assert.Equal(t, filehost.Connected, connection.State, who)
		assert.Empty(t, w.audit.Events())
	}
}

func TestAnAdminEndsAConnectionAndTheUserAndTheAuditLogAreTold(t *testing.T) {
	w := newWorld()
	require.NoError(t, w.RevokeConnection(t.Context(), admin, alice))
	connection, err := w.Connection(t.Context(), alice)
	require.NoError(t, err)
	assert.Equal(t, filehost.Disconnected, connection.State)
	assert.Equal(t, []string{alice}, w.mattermost.Changed())
	assert.Equal(t, []filehost.AuditEvent{{Action: filehost.AuditRevoke, Outcome: filehost.AuditSuccess, ActingUserID: admin, TargetUserID: alice,
		HostID: filehost.DefaultHostID, Grant: "password", Account: "account"}}, w.audit.Events())

	assert.Equal(t, filehost.NotFound, kindOf(w.RevokeConnection(t.Context(), admin, alice)), "he has none any more")
	assert.Equal(t, []string{alice}, w.mattermost.Changed())
	assert.Len(t, w.audit.Events(), 1)
}

func TestTheAccessOfADeactivatedUserEnds(t *testing.T) {
	w := newWorld()
	for range 2 {
		require.NoError(t, w.UserDeactivated(t.Context(), alice), "also when there is none any more")
	}
	connection, err := w.Connection(t.Context(), alice)
	require.NoError(t, err)
	assert.Equal(t, filehost.Disconnected, connection.State)
	require.Len(t, w.audit.Events(), 1)
	event := w.audit.Events()[0]
	assert.Equal(t, filehost.AuditRevoke, event.Action)
	assert.Empty(t, event.ActingUserID)
	assert.Equal(t, alice, event.TargetUserID)
}

func TestASignInUnderWayEndsWithTheAccountOrByAnAdminsWord(t *testing.T) {
	for name, end := range map[string]func(*world) error{
		"deactivated": func(w *world) error { return w.UserDeactivated(t.Context(), bob) },
		"by an admin": func(w *world) error {
			err := w.RevokeConnection(t.Context(), admin, bob)
			assert.Equal(t, filehost.NotFound, kindOf(err), "there is no connection")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.tokens.Offer(bob, filehost.Pending{Account: "bob"})
			require.NoError(t, end(w))
			connection, err := w.Connection(t.Context(), bob)
			require.NoError(t, err)
			assert.Nil(t, connection.Pending)
			assert.Empty(t, w.audit.Events(), "nothing gave him access")
			assert.Empty(t, w.mattermost.Changed())
		})
	}
}
