package tokens

import (
	"context"
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

// with gives a node these keys, the current one first, as an admin would configure them.
func with(t *testing.T, keys ...string) func(*Config) {
	t.Helper()
	known := make([]Key, len(keys))
	for i, key := range keys {
		known[i] = Key{Secret: filehost.NewSecret(key), Source: "the setting " + key}
	}
	cipher, err := CipherOf(known[0], known[1:]...)
	require.NoError(t, err)
	return func(c *Config) { c.Cipher = cipher }
}

// look has a node look through the store once, and remember it as Reencrypt does.
func (w *world) look(node *Store) keyUse {
	w.t.Helper()
	use := node.look(w.t.Context())
	node.rotation.set(use)
	return use
}

func (w *world) raw(key string) []byte {
	w.t.Helper()
	raw, err := w.kv.Get(w.t.Context(), key)
	require.NoError(w.t, err)
	return raw
}

// keyOf names the key that a value of the store is encrypted with.
func (w *world) keyOf(key string, known ...string) string {
	w.t.Helper()
	id := keyIDOf(w.raw(key))
	for _, name := range known {
		if newTestCipher(w.t, name).current.id == id {
			return name
		}
	}
	return id
}

func TestTheJobPutsEveryLongLivedValueUnderTheCurrentKey(t *testing.T) {
	w := newWorld(t)
	old := w.node(with(t, "old"))
	credentials := map[string]filehost.Credential{ann: w.connect(old, ann), bob: w.connect(old, bob)}
	both := w.node(with(t, "new", "old"), impatient)
	before := both.KeyNote()
	require.Contains(t, before, "is not known yet: leave it there")

	use := w.look(both)
	require.Equal(t, 4, use.moved, "two records and two last uses")
	require.Zero(t, use.waiting)
	alone := w.node(with(t, "new"))
	for user, credential := range credentials {
		require.Equal(t, credential, w.credential(alone, user))
		connection, err := alone.Connection(t.Context(), user)
		require.NoError(t, err)
		require.Equal(t, w.clock.Now().UTC().Truncate(time.Hour), connection.LastUsed)
	}
	require.Zero(t, w.look(both).moved)
	require.Contains(t, both.KeyNote(), "None uses the key of the setting old any more: when every node says so, it can be removed.")
	require.Contains(t, both.KeyNote(), "The encryption key is that of the setting new.")
}

func TestARecordThatIsReadIsPutUnderTheCurrentKey(t *testing.T) {
	w := newWorld(t)
	credential := w.connect(w.node(with(t, "old")), ann)
	both := w.node(with(t, "new", "old"))
	key := both.key("conn_", ann)
	require.Equal(t, credential, w.credential(both, ann))
	require.Equal(t, "new", w.keyOf(key, "old", "new"))
	require.Equal(t, credential, w.credential(w.node(with(t, "new")), ann))
}

func TestARecordOfBeforeItSaidWhoseItIsIsPutUnderTheCurrentKeyWhenItIsRead(t *testing.T) {
	w := newWorld(t)
	old := w.node(with(t, "old"))
	credential := w.connect(old, ann)
	key := old.key("conn_", ann)
	var sealed envelope
	require.NoError(t, json.Unmarshal(w.raw(key), &sealed))
	sealed.User = ""
	nameless, err := json.Marshal(sealed)
	require.NoError(t, err)
	w.kv.Put(key, nameless)

	both := w.node(with(t, "new", "old"), impatient)
	require.Equal(t, map[string]int{sealed.KeyID: 1}, w.look(both).left)
	require.Equal(t, credential, w.credential(both, ann))
	require.Equal(t, ann, ownerOf(w.raw(key)))
	require.Empty(t, w.look(both).left)
}

func TestEncryptingAnewLosesNoChangeThatHappensMeanwhile(t *testing.T) {
	w := newWorld(t)
	old := w.node(with(t, "old"))
	w.connect(old, ann)
	key := old.key("conn_", ann)
	both := w.node(with(t, "new", "old"), impatient)
	changed := false
	w.kv.Fail(func(op filehosttest.Op, at string) error {
		if op == filehosttest.CompareAndSet && at == key && !changed {
			changed = true
			require.NoError(t, old.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
		}
		return nil
	})
	allow := func(c *Config) { c.Methods = []filehost.Method{filehost.MethodPassword} }
	old = w.node(with(t, "old"), allow)
	use := w.look(both)
	require.Equal(t, 1, use.waiting)
	require.Equal(t, "canary-app-password", w.credential(w.node(with(t, "new", "old"), allow), ann).Secret.Reveal())
}

// TestALeaseKeepsItsBytesUntilItIsSettled runs the job while a refresh is under way: whoever holds the lease, and whoever
// watches it, compares its bytes.
func TestALeaseKeepsItsBytesUntilItIsSettled(t *testing.T) {
	w := newWorld(t)
	old := w.node(with(t, "old"))
	w.connect(old, ann)
	w.expire()
	both := w.node(with(t, "new", "old"), impatient)
	key := old.key("conn_", ann)
	var leased []byte
	w.server.set(func(s *signInServer) {
		s.beforeToken = func() {
			leased = w.raw(key)
			require.Equal(t, 1, w.look(both).waiting)
			require.Equal(t, filehost.Connected, w.state(both, ann), "who only reads it leaves it alone, too")
			require.Equal(t, leased, w.raw(key))
		}
	})
	renewed := w.credential(old, ann)
	require.NotEmpty(t, leased)
	require.Equal(t, renewed, w.credential(both, ann))
	require.Equal(t, "new", w.keyOf(key, "old", "new"))
}

func TestATombstoneIsNotGivenALongerLife(t *testing.T) {
	w := newWorld(t)
	old := w.node(with(t, "old"))
	w.connect(old, ann)
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndDelete && strings.HasPrefix(key, "conn_") {
			return errors.New("killed")
		}
		return nil
	})
	require.Error(t, old.Disconnect(t.Context(), ann))
	w.kv.Fail(nil)
	both := w.node(with(t, "new", "old"), impatient)
	require.Equal(t, 1, w.look(both).waiting)
	require.Equal(t, "old", w.keyOf(both.key("conn_", ann), "old", "new"))
	w.clock.Advance(ownTombstone)
	w.look(both)
	require.NotContains(t, w.kv.Keys(), both.key("conn_", ann))
}

// TestOnlyWhatHasNoEndIsEncryptedAnew shows it for each state of a record: to write one anew would put off its end.
func TestOnlyWhatHasNoEndIsEncryptedAnew(t *testing.T) {
	for name, test := range map[string]struct {
		record record
		moves  bool
	}{
		"connected":                 {record{State: active, Grant: codeGrant}, true},
		"dead":                      {record{State: dead, Grant: codeGrant}, true},
		"declined by the user":      {record{State: declined}, true},
		"being refreshed":           {record{State: refreshing, Grant: codeGrant, Lease: &lease{}}, false},
		"being disconnected":        {record{State: disconnecting}, false},
		"refused":                   {record{State: refused, Grant: string(filehost.MethodTokenExchange)}, false},
		"connected without a click": {record{State: active, Grant: string(filehost.MethodTokenExchange)}, false},
		"dead without a click":      {record{State: dead, Grant: string(filehost.MethodServiceAccount)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, won, err := w.node(with(t, "old")).swap(t.Context(), ann, entry{}, test.record)
			require.NoError(t, err)
			require.True(t, won)
			use := w.look(w.node(with(t, "new", "old"), impatient))
			require.Equal(t, test.moves, use.moved == 1)
			require.Equal(t, !test.moves, use.waiting == 1)
		})
	}
}

// TestACallerWhoseRecordIsEncryptedAnewStillRefreshes lets the job come between the reading of a record and the lease.
func TestACallerWhoseRecordIsEncryptedAnewStillRefreshes(t *testing.T) {
	w := newWorld(t)
	w.connect(w.node(with(t, "old")), ann)
	w.expire()
	job := w.node(with(t, "new", "old"), impatient)
	caller := w.node(with(t, "old", "new"), impatient) // has not heard of the new key being the current one
	key := job.key("conn_", ann)
	came := false
	w.kv.Fail(func(op filehosttest.Op, at string) error {
		if op == filehosttest.CompareAndSet && at == key && !came {
			came = true
			require.Equal(t, "old", w.keyOf(key, "old", "new"))
			require.Positive(t, w.look(job).moved)
		}
		return nil
	})
	before := w.server.tokenCalls()
	w.credential(caller, ann)
	require.True(t, came)
	require.Equal(t, 1, w.server.tokenCalls()-before)
}

func TestAnUnknownKeyIsCountedAndItsValuesAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	lost := w.node(with(t, "lost"))
	credential := w.connect(lost, ann)
	before := w.raw(lost.key("conn_", ann))
	node := w.node(with(t, "new", "old"), impatient)
	use := w.look(node)
	require.Equal(t, 2, use.unknown)
	require.Zero(t, use.moved)
	require.Contains(t, node.KeyNote(), "2 values were encrypted with a key that is not here.")
	require.Equal(t, before, w.raw(lost.key("conn_", ann)))
	require.Equal(t, filehost.Reconnect, w.state(node, ann))
	require.Equal(t, credential, w.credential(w.node(with(t, "new", "lost")), ann), "the key is back, and so is the connection")
}

func TestValuesThatEndByThemselvesHoldTheKeyUntilThen(t *testing.T) {
	w := newWorld(t)
	old := w.node(with(t, "old"))
	w.begin(old, ann) // a sign-in under way
	sealed, err := old.config.Cipher.Seal("idempotency", []byte("answer"))
	require.NoError(t, err)
	_, err = w.kv.CompareAndSet(t.Context(), "idem_1", nil, []byte(sealed), 24*time.Hour)
	require.NoError(t, err)
	both := w.node(with(t, "new", "old"), impatient)
	use := w.look(both)
	require.Zero(t, use.waiting)
	require.Equal(t, map[string]int{old.config.Cipher.current.id: 3}, use.left)
	require.Contains(t, both.KeyNote(), "3 values still use the key of the setting old: leave it there.")
	w.clock.Advance(time.Hour)
	w.look(both)
	require.Contains(t, both.KeyNote(), "1 value still uses the key of the setting old: leave it there.")
	w.clock.Advance(24 * time.Hour)
	w.look(both)
	require.Contains(t, both.KeyNote(), "None uses the key of the setting old any more")
}

func TestAStoreThatFailsMakesTheJobLookAgainAndSayNothingTooEarly(t *testing.T) {
	w := newWorld(t)
	w.connect(w.node(with(t, "old")), ann)
	both := w.node(with(t, "new", "old"), impatient)
	for _, broken := range []filehosttest.Op{filehosttest.List, filehosttest.Get, filehosttest.CompareAndSet} {
		w.kv.Fail(func(op filehosttest.Op, _ string) error {
			if op == broken {
				return errors.New("database is down")
			}
			return nil
		})
		use := w.look(both)
		require.Positive(t, use.failed, broken)
		require.Contains(t, both.KeyNote(), "leave it there", broken)
	}
	w.kv.Fail(nil)
	require.Equal(t, 2, w.look(both).moved)
}

// lateStore does what it is told and says that it failed.
type lateStore struct{ filehost.KV }

func (s lateStore) CompareAndSet(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	_, _ = s.KV.CompareAndSet(ctx, key, old, value, ttl)
	return false, errors.New("the answer was lost")
}

// TestAJobThatIsCutOffAnywhereLosesNothing kills the job after each of its writes, and loses the answer to each.
func TestAJobThatIsCutOffAnywhereLosesNothing(t *testing.T) {
	w := newWorld(t)
	old := w.node(with(t, "old"))
	credentials := map[string]filehost.Credential{}
	for _, user := range []string{ann, bob, "carol"} {
		credentials[user] = w.connect(old, user)
	}
	ctx, kill := context.WithCancel(t.Context())
	w.kv.Fail(func(op filehosttest.Op, _ string) error {
		if op == filehosttest.CompareAndSet {
			kill()
		}
		return nil
	})
	w.node(with(t, "new", "old"), impatient).Reencrypt(ctx)
	w.kv.Fail(nil)
	w.node(with(t, "new", "old"), impatient, func(c *Config) { c.KV = lateStore{c.KV} }).look(t.Context())
	use := w.look(w.node(with(t, "new", "old"), impatient))
	require.Empty(t, use.left)
	require.Zero(t, use.moved, "the writes were done, though nobody was told")
	alone := w.node(with(t, "new"))
	for user, credential := range credentials {
		require.Equal(t, credential, w.credential(alone, user))
	}
}

func TestSeveralNodesShareTheJobAndEachValueIsMovedOnce(t *testing.T) {
	w := newWorld(t)
	old := w.node(with(t, "old"))
	const users = 20
	for i := range users {
		w.connect(old, ann+string(rune('a'+i)))
	}
	moved := make([]int, 3)
	for _, err := range outcomes(len(moved), func(i int) error {
		moved[i] = w.node(with(t, "new", "old"), impatient).look(t.Context()).moved
		return nil
	}) {
		require.NoError(t, err)
	}
	require.Equal(t, 2*users, moved[0]+moved[1]+moved[2])
	require.Empty(t, w.look(w.node(with(t, "new", "old"), impatient)).left)
}

// TestTheJobRepeatsUntilNothingIsLeftAndThenWatches follows the job by its pauses.
func TestTheJobRepeatsUntilNothingIsLeftAndThenWatches(t *testing.T) {
	w := newWorld(t)
	w.connect(w.node(with(t, "old")), ann)
	audit := &filehosttest.Audit{}
	both := w.node(with(t, "new", "old"), func(c *Config) { c.Audit = audit })
	w.kv.Fail(func(op filehosttest.Op, _ string) error {
		if op == filehosttest.CompareAndSet {
			return errors.New("database is down")
		}
		return nil
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		both.Reencrypt(ctx)
	}()
	step := func(by time.Duration) {
		w.waiting(1)
		w.clock.Advance(by)
	}
	for range 2 {
		step(2 * valuePause)
	}
	w.waiting(1)
	require.Equal(t, 2, both.rotation.get().failed)
	require.Empty(t, audit.Events())
	w.kv.Fail(nil)
	step(2 * firstRepeat)
	for range 2 {
		step(2 * valuePause)
	}
	w.waiting(1)
	require.Equal(t, 2, both.rotation.get().moved)
	require.Equal(t, []filehost.AuditEvent{{Action: filehost.AuditKeyRotation, Outcome: filehost.AuditSuccess, HostID: filehost.DefaultHostID}}, audit.Events())

	w.credential(w.node(with(t, "old", "new")), ann) // a node of before takes it back
	step(2 * nextLook)
	for range 2 {
		step(2 * valuePause)
	}
	w.waiting(1)
	w.credential(w.node(with(t, "new")), ann)
	stop()
	<-ended
}

func TestTheJobEndsWhereThereIsOneKey(t *testing.T) {
	w := newWorld(t)
	w.connect(w.node(with(t, "made")), ann)
	node := w.node(with(t, "made"), impatient)
	node.Reencrypt(t.Context())
	require.True(t, node.rotation.get().looked)
}

func TestTheJobGivesUpKeysThatThePluginKeeps(t *testing.T) {
	w := newWorld(t)
	w.connect(w.node(with(t, "old")), ann)
	w.keepFormer("new", "old")
	kept, err := FormerKeys(t.Context(), w.kv, w.clock, Key{Secret: filehost.NewSecret("new")})
	require.NoError(t, err)
	cipher, err := CipherOf(Key{Secret: filehost.NewSecret("new")}, kept...)
	require.NoError(t, err)
	node := w.node(func(c *Config) { c.Cipher = cipher }, impatient)
	use := w.look(node)
	require.Equal(t, 2, use.moved)
	w.clock.Advance(formerKeyTime)
	node.dropUnused(t.Context(), use)
	require.Empty(t, w.former("new"))
	w.credential(node, ann)
}

func TestTheNoteSaysWhereAMadeKeyLies(t *testing.T) {
	w := newWorld(t)
	cipher, err := CipherOf(Key{Secret: filehost.NewSecret("canary"), Origin: Made})
	require.NoError(t, err)
	note := w.node(func(c *Config) { c.Cipher = cipher }).KeyNote()
	require.Contains(t, note, "keeps it in Mattermost's database")
	require.Contains(t, note, "FILEHOST_ATTACH_KEY_FILE")
	require.NotContains(t, note, "canary")
}

// TestConnectionsDoNotWaitForWhatEndsByItself looks at a store that holds many values of other kinds.
func TestConnectionsDoNotWaitForWhatEndsByItself(t *testing.T) {
	w := newWorld(t)
	old := w.node(with(t, "old"))
	w.connect(old, ann)
	for i := range 50 {
		_, err := w.kv.CompareAndSet(t.Context(), fmt.Sprintf("idem_%d", i), nil, []byte("x"), time.Hour)
		require.NoError(t, err)
	}
	var read []string
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.Get {
			read = append(read, key)
		}
		return nil
	})
	w.look(w.node(with(t, "new", "old"), impatient))
	last := slices.IndexFunc(read, func(key string) bool { return strings.HasPrefix(key, "idem_") })
	require.Positive(t, last)
	require.Contains(t, read[:last], old.key("conn_", ann))
	require.NotContains(t, read[last:], old.key("conn_", ann))
}
