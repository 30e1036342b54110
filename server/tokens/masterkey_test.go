package tokens

import (
	"errors"
	"testing"

	"github.com/jonboulle/clockwork"
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
		w.waiting(1)
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

// own is an admin's key.
func own(secret string) Key { return Key{Secret: filehost.NewSecret(secret)} }

func (w *world) takeMade(kv filehost.KV, known ...Key) (taken []string) {
	w.t.Helper()
	keys, err := TakeMadeKey(w.t.Context(), kv, clockwork.NewRealClock(), known...)
	require.NoError(w.t, err)
	for _, key := range keys {
		taken = append(taken, key.Secret.Reveal())
	}
	return taken
}

func TestTheMadeKeyIsTakenOnceAndGoesWhenItIsGivenUp(t *testing.T) {
	w := newWorld(t)
	made, err := MasterKey(t.Context(), w.kv, w.clock)
	require.NoError(t, err)
	taken, err := TakeMadeKey(t.Context(), w.kv, w.clock, own("first"))
	require.NoError(t, err)
	require.Len(t, taken, 1)
	require.True(t, taken[0].Secret.Equal(made))
	require.Equal(t, Kept, taken[0].Origin)
	require.Equal(t, []string{made.Reveal()}, w.former("first"))
	require.Empty(t, w.takeMade(w.kv, own("first")))
	require.Contains(t, w.kv.Keys(), masterKeyKey, "for nodes that have no other key yet")

	w.clock.Advance(formerKeyTime)
	require.NoError(t, newTestCipher(t, "first").dropFormerKeys(t.Context(), w.kv, w.clock, func(string) bool { return true }))
	require.Empty(t, w.former("first"))
	require.NotContains(t, w.kv.Keys(), masterKeyKey)

	w.kv.Put(masterKeyKey, []byte("of who can write to the store"))
	require.Empty(t, w.takeMade(w.kv, own("first")))
	require.Empty(t, w.takeMade(w.kv, own("second"), own("first")), "with a key that has replaced the first")
	require.Empty(t, w.takeMade(w.kv, own("second")), "and goes on without it")
	w.keepFormer("second", "another")
	w.clock.Advance(formerKeyTime)
	require.NoError(t, newTestCipher(t, "second").dropFormerKeys(t.Context(), w.kv, w.clock, func(string) bool { return true }))
	require.Contains(t, w.kv.Keys(), masterKeyKey, "it is none of those that were given up")
}

func TestAMadeKeyThatWasGivenUpIsNotTakenFromAStaleReplica(t *testing.T) {
	w := newWorld(t)
	_, err := MasterKey(t.Context(), w.kv, w.clock)
	require.NoError(t, err)
	first := newTestCipher(t, "first")
	replica := w.kv.Replica(3)
	for _, key := range []string{masterKeyKey, formerKeysKey(first.current.id)} { // has seen the one and not the other
		_, err := replica.Get(t.Context(), key)
		require.NoError(t, err)
	}
	_, err = TakeMadeKey(t.Context(), w.kv, w.clock, own("first"))
	require.NoError(t, err)
	w.clock.Advance(formerKeyTime)
	require.NoError(t, first.dropFormerKeys(t.Context(), w.kv, w.clock, func(string) bool { return true }))
	require.Empty(t, w.takeMade(replica, own("first")))
	require.Empty(t, w.former("first"))
}

func TestTheMadeKeyIsNotTakenWhileTheStoreFails(t *testing.T) {
	w := newWorld(t)
	_, err := MasterKey(t.Context(), w.kv, w.clock)
	require.NoError(t, err)
	for _, broken := range []filehosttest.Op{filehosttest.Get, filehosttest.CompareAndSet} {
		w.kv.Fail(func(op filehosttest.Op, _ string) error {
			if op == broken {
				return errors.New("database is down")
			}
			return nil
		})
		_, err := TakeMadeKey(t.Context(), w.kv, w.clock, own("first"), own("second"))
		requireKind(t, filehost.Internal, err)
	}
	w.kv.Fail(nil)
	require.Len(t, w.takeMade(w.kv, own("first")), 1)
}
