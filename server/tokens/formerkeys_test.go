package tokens

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func (w *world) keepFormer(current, former string) {
	w.t.Helper()
	require.NoError(w.t, KeepFormerKey(w.t.Context(), w.kv, w.clock, filehost.NewSecret(current), filehost.NewSecret(former)))
}

// former returns the keys that are kept behind the known ones.
func (w *world) former(known ...string) (secrets []string) {
	w.t.Helper()
	var keys []Key
	for _, secret := range known {
		keys = append(keys, Key{Secret: filehost.NewSecret(secret)})
	}
	found, err := FormerKeys(w.t.Context(), w.kv, w.clock, keys...)
	require.NoError(w.t, err)
	for _, key := range found {
		require.Equal(w.t, Kept, key.Origin)
		secrets = append(secrets, key.Secret.Reveal())
	}
	return secrets
}

func TestAReplacedKeyIsKeptOnceWhicheverNodesKeepIt(t *testing.T) {
	w := newWorld(t)
	w.meet(2, filehosttest.CompareAndSet) // both have read that there is none
	for _, err := range outcomes(2, func(int) error {
		return KeepFormerKey(t.Context(), w.kv, eagerClock{w.clock}, filehost.NewSecret("second"), filehost.NewSecret("first"))
	}) {
		require.NoError(t, err)
	}
	require.Equal(t, []string{"first"}, w.former("second"))
}

func TestFormerKeysAreFoundFromKeyToKey(t *testing.T) {
	w := newWorld(t)
	w.keepFormer("second", "first")
	w.keepFormer("third", "second")
	w.keepFormer("first", "third") // and back again
	require.ElementsMatch(t, []string{"second", "first", "third"}, w.former("third", ""))
	require.Empty(t, w.former("another"))
}

func TestAFormerKeyIsReadableByItsSuccessorOnly(t *testing.T) {
	w := newWorld(t)
	w.keepFormer("second", "canary-first")
	for _, key := range w.kv.Keys() {
		raw, err := w.kv.Get(t.Context(), key)
		require.NoError(t, err)
		require.NotContains(t, string(raw), "canary")
		require.NotContains(t, key, "canary")
		require.LessOrEqual(t, len(key), 50)
		cipher := newTestCipher(t, "another")
		require.ErrorIs(t, cipher.decryptJSON(formerKeysPlace(cipher.current.id), raw, &formerKeys{}), errUnknownKey)
	}
	_, found, err := loadFormerKeys(t.Context(), w.kv, newTestCipher(t, "second"))
	require.NoError(t, err)
	require.Len(t, found.Keys, 1)
	printed := fmt.Sprintf("%v %+v %#v %v %#v", found, found, found, found.Keys, found.Keys[0])
	require.NotContains(t, printed, "canary")
}

func TestNoKeyIsGivenUpWhenTheStoreFails(t *testing.T) {
	w := newWorld(t)
	w.keepFormer("second", "first")
	for _, broken := range []filehosttest.Op{filehosttest.Get, filehosttest.CompareAndSet} {
		w.kv.Fail(func(op filehosttest.Op, _ string) error {
			if op == broken {
				return errors.New("database is down")
			}
			return nil
		})
		requireKind(t, filehost.Internal, KeepFormerKey(t.Context(), w.kv, w.clock, filehost.NewSecret("second"), filehost.NewSecret("new")))
	}
	_, err := FormerKeys(t.Context(), w.kv, w.clock, Key{Secret: filehost.NewSecret("second")})
	require.NoError(t, err)
	w.kv.Fail(func(op filehosttest.Op, _ string) error { return errors.New("database is down") })
	_, err = FormerKeys(t.Context(), w.kv, w.clock, Key{Secret: filehost.NewSecret("second")})
	requireKind(t, filehost.Internal, err)
	w.kv.Fail(nil)
	require.Equal(t, []string{"first"}, w.former("second"))
}

func TestAKeptKeyIsGivenUpAfterTwoDaysIfNothingUsesIt(t *testing.T) {
	w := newWorld(t)
	w.keepFormer("second", "used")
	w.keepFormer("second", "unused")
	cipher := newTestCipher(t, "second")
	used, err := newMasterKey(Key{Secret: filehost.NewSecret("used")})
	require.NoError(t, err)
	drop := func() {
		require.NoError(t, cipher.dropFormerKeys(t.Context(), w.kv, w.clock, func(id string) bool { return id != used.id }))
	}
	w.clock.Advance(formerKeyTime - time.Second)
	drop()
	require.ElementsMatch(t, []string{"used", "unused"}, w.former("second"))
	w.clock.Advance(time.Second)
	drop()
	require.Equal(t, []string{"used"}, w.former("second"))
}

// TestAKeyIsStillKeptWhenTheOneThatReplacedItIsGivenUp follows two changes of which the second leaves nothing behind.
func TestAKeyIsStillKeptWhenTheOneThatReplacedItIsGivenUp(t *testing.T) {
	w := newWorld(t)
	w.keepFormer("second", "first")
	w.keepFormer("third", "second")
	require.ElementsMatch(t, []string{"second", "first"}, w.former("third"))
	w.clock.Advance(formerKeyTime)
	first, err := newMasterKey(Key{Secret: filehost.NewSecret("first")})
	require.NoError(t, err)
	require.NoError(t, newTestCipher(t, "third").dropFormerKeys(t.Context(), w.kv, w.clock, func(id string) bool { return id != first.id }))
	require.Equal(t, []string{"first"}, w.former("third"))
	require.Empty(t, w.former("second"), "what was kept for a key goes with it")
}
