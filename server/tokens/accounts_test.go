package tokens

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func TestAccountsAreOfThoseWhoAreConnectedByThemselves(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.connect(node, bob)
	credential := w.credential(node, bob)
	require.NoError(t, node.Reject(t.Context(), bob, credential))
	accounts, err := node.AccountsOf(t.Context(), []string{ann, bob, "stranger"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{ann: w.credential(node, ann).Account}, accounts, "an ended connection is none, and its account may be another's by now")
	assert.NotEmpty(t, accounts[ann])

	w.kv.Fail(func(filehosttest.Op, string) error { return errors.New("down") })
	_, err = node.AccountsOf(t.Context(), []string{ann})
	requireKind(t, filehost.Internal, err)
}

func TestTheAccountOfAllIsNobodysOwn(t *testing.T) {
	w := newWorld(t)
	who := &chosen{}
	who.in.Store(true)
	w.shares()
	node := automaticNodes(w, who.choose)["service_account"]
	credential, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, "service_account", credential.Grant)
	accounts, err := node.AccountsOf(t.Context(), []string{ann})
	require.NoError(t, err)
	assert.Empty(t, accounts)
}
