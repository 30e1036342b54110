package filehost_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// namedRemote sees for whom the host is called.
type namedRemote struct {
	filehost.Remote
	users []string
}

func (n *namedRemote) List(ctx context.Context, credential filehost.Credential, folder filehost.Path, each func(filehost.Entry) error) (filehost.Entry, error) {
	n.users = append(n.users, credential.UserID)
	return n.Remote.List(ctx, credential, folder, each)
}

func TestTheHostIsCalledInAUsersName(t *testing.T) {
	w := newWorld()
	remote := &namedRemote{Remote: w.remote}
	w.Remote = remote
	w.remote.Accept("2")
	_, err := w.Browse(t.Context(), alice, filehost.Listing{})
	require.NoError(t, err)
	require.Equal(t, []string{alice, alice}, remote.users, "with the renewed credential as well")
}
