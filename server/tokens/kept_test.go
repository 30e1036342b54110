package tokens

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func (w *world) kept(node *Store, after string) (all []filehost.Kept) {
	w.t.Helper()
	for kept, err := range node.Kept(w.t.Context(), after) {
		require.NoError(w.t, err)
		all = append(all, kept)
	}
	return all
}

func TestWhatIsKeptIsToldWithoutWhatGivesAccess(t *testing.T) {
	w := newWorld(t)
	node := w.node(w.revoking)
	w.connect(node, ann)
	since := w.clock.Now().UTC()
	w.clock.Advance(90 * time.Minute)
	w.credential(node, ann)
	all := w.kept(node, "")
	require.Len(t, all, 1)
	connection, err := node.Connection(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, filehost.Kept{UserID: ann, Position: all[0].Position, Connection: connection}, all[0])
	require.Equal(t, since, all[0].Since)
	require.Equal(t, w.clock.Now().UTC().Truncate(time.Hour), all[0].LastUsed)
	require.Equal(t, "authorization_code", all[0].Grant)
	printed, err := json.Marshal(all)
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%s %v %#v", printed, all, all), "canary")
}

func TestWhatIsKeptIsListedFromAPositionOn(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	for i := range 5 {
		w.connect(node, fmt.Sprint(ann, i))
	}
	all := w.kept(node, "")
	require.Len(t, all, 5)
	require.True(t, slices.IsSortedFunc(all, func(a, b filehost.Kept) int { return strings.Compare(a.Position, b.Position) }))
	require.Equal(t, all[2:], w.kept(node, all[1].Position))
	require.Empty(t, w.kept(node, all[4].Position))
	for kept, err := range node.Kept(t.Context(), "") { // who stops is asked no further
		require.NoError(t, err)
		require.Equal(t, all[0], kept)
		break
	}
}

func TestEachStateOfARecordIsListedAsItsUserSeesIt(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	credential := w.connect(node, ann)
	require.NoError(t, node.Reject(t.Context(), ann, credential))
	require.Equal(t, filehost.Reconnect, w.kept(node, "")[0].State)

	lost := w.node(func(c *Config) { c.Cipher = newTestCipher(t, "another key") })
	unreadable := w.kept(lost, "")
	require.Len(t, unreadable, 1)
	require.Equal(t, ann, unreadable[0].UserID, "whose it is can be read without the key")
	require.Equal(t, filehost.Reconnect, unreadable[0].State)

	moved := w.node(func(c *Config) { c.OAuth.ClientID = "another" })
	require.Equal(t, filehost.Disconnected, w.kept(moved, "")[0].State)

	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.Empty(t, w.kept(node, ""))
}

func TestARecordThatProvesNotWhoseItIsIsCountedAndAttributedToNobody(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	own := w.raw(node.key("conn_", ann))
	w.kv.Put(node.key("conn_", bob), own) // says it is ann's
	var sealed envelope
	require.NoError(t, json.Unmarshal(own, &sealed))
	sealed.User = bob
	renamed, err := json.Marshal(sealed)
	require.NoError(t, err)
	w.kv.Put(node.key("conn_", "carol"), renamed)
	w.kv.Put(node.key("conn_", "dave"), []byte("nonsense"))
	users := map[string]int{}
	for _, kept := range w.kept(node, "") {
		users[kept.UserID]++
	}
	require.Equal(t, map[string]int{ann: 1, "": 3}, users)
}

func TestAListOfWhatIsKeptFailsWhenTheStoreDoes(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	for _, broken := range []filehosttest.Op{filehosttest.List, filehosttest.Get} {
		w.kv.Fail(func(op filehosttest.Op, _ string) error {
			if op == broken {
				return errors.New("database is down")
			}
			return nil
		})
		var failures []error
		for _, err := range node.Kept(t.Context(), "") {
			failures = append(failures, err)
		}
		require.Len(t, failures, 1)
		requireKind(t, filehost.Internal, failures[0])
	}
}

func TestWhoHasAccessOrOnceHadIsKept(t *testing.T) {
	w := newWorld(t)
	node := w.node(w.revoking)
	keeps := func(node *Store) bool {
		keeps, err := node.Keeps(t.Context(), ann)
		require.NoError(t, err)
		return keeps
	}
	require.False(t, keeps(node))
	credential := w.connect(node, ann)
	require.True(t, keeps(node))
	require.True(t, keeps(w.node(func(c *Config) { c.OAuth.ClientID = "another" })), "of other settings")
	require.True(t, keeps(w.node(func(c *Config) { c.Cipher = newTestCipher(t, "another key") })), "of another key")
	require.NoError(t, node.Reject(t.Context(), ann, credential))
	require.True(t, keeps(node), "dead")
	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.False(t, keeps(node))
}
