package filehosttest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func get(t *testing.T, kv filehost.KV, key string) string {
	t.Helper()
	value, err := kv.Get(t.Context(), key)
	require.NoError(t, err)
	return string(value)
}

func set(t *testing.T, kv filehost.KV, key, old, value string) bool {
	t.Helper()
	var expected []byte
	if old != "" {
		expected = []byte(old)
	}
	won, err := kv.CompareAndSet(t.Context(), key, expected, []byte(value), time.Minute)
	require.NoError(t, err)
	return won
}

func TestOnlyWhoKnowsTheValueReplacesIt(t *testing.T) {
	kv := filehosttest.NewKV(clockwork.NewFakeClock())
	require.False(t, set(t, kv, "key", "guess", "a"))
	require.True(t, set(t, kv, "key", "", "a"))
	require.False(t, set(t, kv, "key", "", "b"))
	require.True(t, set(t, kv, "key", "a", "b"))
	deleted, err := kv.CompareAndDelete(t.Context(), "key", []byte("a"))
	require.NoError(t, err)
	require.False(t, deleted)
	require.Equal(t, "b", get(t, kv, "key"))
	deleted, err = kv.CompareAndDelete(t.Context(), "key", []byte("b"))
	require.NoError(t, err)
	require.True(t, deleted)
	require.Empty(t, kv.Keys())
}

func TestAValueExpiresByTheClock(t *testing.T) {
	clock := clockwork.NewFakeClock()
	kv := filehosttest.NewKV(clock)
	require.True(t, set(t, kv, "key", "", "a"))
	clock.Advance(time.Minute - 1)
	require.Equal(t, "a", get(t, kv, "key"))
	clock.Advance(1)
	require.Empty(t, kv.Keys())
	require.True(t, set(t, kv, "key", "", "b"))
}

func TestAReplicaLagsBehindItsReadsButNotItsWrites(t *testing.T) {
	kv := filehosttest.NewKV(clockwork.NewFakeClock())
	require.True(t, set(t, kv, "key", "", "a"))
	replica := kv.Replica(2)
	require.Equal(t, "a", get(t, replica, "key"))
	require.True(t, set(t, kv, "key", "a", "b"))
	require.Equal(t, "a", get(t, replica, "key"))
	require.False(t, set(t, replica, "key", "a", "c"))
	require.Equal(t, "a", get(t, replica, "key"))
	require.Equal(t, "b", get(t, replica, "key"))
}

func TestFailuresAreInjected(t *testing.T) {
	kv := filehosttest.NewKV(clockwork.NewFakeClock())
	down := errors.New("down")
	kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.Get && key == "key" {
			return down
		}
		return nil
	})
	_, err := kv.Get(t.Context(), "key")
	require.ErrorIs(t, err, down)
	require.True(t, set(t, kv, "key", "", "a"))
	kv.Fail(nil)
	require.Equal(t, "a", get(t, kv, "key"))
}

func TestKeysAreListedByTheirPrefix(t *testing.T) {
	clock := clockwork.NewFakeClock()
	kv := filehosttest.NewKV(clock)
	require.True(t, set(t, kv, "a_1", "", "a"))
	require.True(t, set(t, kv, "a_2", "", "a"))
	require.True(t, set(t, kv, "b_1", "", "a"))
	keys, err := kv.List(t.Context(), "a_")
	require.NoError(t, err)
	require.Equal(t, []string{"a_1", "a_2"}, keys)
	clock.Advance(time.Minute)
	keys, err = kv.List(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, keys)
	down := errors.New("down")
	kv.Fail(func(filehosttest.Op, string) error { return down })
	_, err = kv.List(t.Context(), "")
	require.ErrorIs(t, err, down)
}
