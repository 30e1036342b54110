package tokens

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func TestAMissingMasterKeyIsCreatedOnceForAllNodes(t *testing.T) {
	w := newWorld(t)
	keys := make([]string, 20)
	for _, err := range outcomes(len(keys), func(i int) error {
		key, err := MasterKey(t.Context(), w.kv, w.clock)
		keys[i] = key.Reveal()
		return err
	}) {
		require.NoError(t, err)
	}
	require.GreaterOrEqual(t, len(keys[0]), 43, "256 bits")
	for _, key := range keys {
		require.Equal(t, keys[0], key)
	}
	again, err := MasterKey(t.Context(), w.kv, w.clock)
	require.NoError(t, err)
	require.Equal(t, keys[0], again.Reveal())
}

func TestAMasterKeyThatAReplicaDoesNotShowYetIsNotReplaced(t *testing.T) {
	w := newWorld(t)
	replica := w.kv.Replica(3)
	_, err := replica.Get(t.Context(), masterKeyKey) // sees that there is none
	require.NoError(t, err)
	first, err := MasterKey(t.Context(), w.kv, w.clock)
	require.NoError(t, err)
	got := make(chan string)
	go func() {
		key, _ := MasterKey(t.Context(), replica, w.clock)
		got <- key.Reveal()
	}()
	for range 3 {
		require.NoError(t, w.clock.BlockUntilContext(t.Context(), 1))
		w.clock.Advance(2 * contestPause)
	}
	require.Equal(t, first.Reveal(), <-got)
}

func TestAMasterKeyIsNotMadeUpWhenTheStoreFails(t *testing.T) {
	w := newWorld(t)
	for _, broken := range []filehosttest.Op{filehosttest.Get, filehosttest.CompareAndSet} {
		w.kv.Fail(func(op filehosttest.Op, _ string) error {
			if op == broken {
				return errors.New("database is down")
			}
			return nil
		})
		_, err := MasterKey(t.Context(), w.kv, w.clock)
		requireKind(t, filehost.Internal, err)
	}
}
