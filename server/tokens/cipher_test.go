package tokens

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func newTestCipher(t *testing.T, keys ...string) *Cipher {
	t.Helper()
	var secrets []filehost.Secret
	for _, key := range keys {
		secrets = append(secrets, filehost.NewSecret(key))
	}
	cipher, err := NewCipher(secrets[0], secrets[1:]...)
	require.NoError(t, err)
	return cipher
}

func TestARecordIsAVersionedEnvelope(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	raw, err := w.kv.Get(t.Context(), node.key("conn_", ann))
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(raw, &members))
	require.Equal(t, []string{"ciphertext", "kid", "nonce", "user", "v"}, slices.Sorted(maps.Keys(members)))
	require.EqualValues(t, 1, members["v"])
	require.Equal(t, ann, members["user"])
}

func TestKeysOfTheStoreAreShortAndTellNothing(t *testing.T) {
	w := newWorld(t)
	node := w.node(func(c *Config) { c.Host.ID = strings.Repeat("long", 20) })
	for _, prefix := range []string{"conn_", "used_", "held_", "page_", "state_"} {
		key := node.key(prefix, ann)
		require.LessOrEqual(t, len(key), 50)
		require.NotContains(t, key, ann)
		require.NotEqual(t, key, node.key(prefix, bob))
	}
	require.LessOrEqual(t, len(masterKeyKey), 50)
}

func TestAValueDecryptsOnlyWhereItBelongs(t *testing.T) {
	cipher := newTestCipher(t, "key")
	home := place{Purpose: connectionPurpose, User: ann, Host: "default", Kind: "nextcloud"}
	raw, err := cipher.encryptJSON(home, "value")
	require.NoError(t, err)
	var value string
	require.NoError(t, cipher.decryptJSON(home, raw, &value))
	require.Equal(t, "value", value)
	for name, edit := range map[string]func(*place){
		"another user":    func(p *place) { p.User = bob },
		"another host":    func(p *place) { p.Host = "second" },
		"another kind":    func(p *place) { p.Kind = "owncloud" },
		"another purpose": func(p *place) { p.Purpose = heldPurpose },
		"the same letters": func(p *place) {
			p.User, p.Host = p.User+p.Host[:1], p.Host[1:]
		},
	} {
		t.Run(name, func(t *testing.T) {
			away := home
			edit(&away)
			for _, owner := range []string{home.User, away.User, ""} { // what the envelope says is not what counts
				require.ErrorIs(t, cipher.decryptJSON(away, claimedBy(t, raw, owner), &value), errForged, owner)
			}
		})
	}
}

// claimedBy returns an envelope that says to be another's.
func claimedBy(t *testing.T, raw []byte, user string) []byte {
	t.Helper()
	var sealed envelope
	require.NoError(t, json.Unmarshal(raw, &sealed))
	sealed.User = user
	claimed, err := json.Marshal(sealed)
	require.NoError(t, err)
	return claimed
}

func TestEachPurposeHasAKeyOfItsOwn(t *testing.T) {
	cipher := newTestCipher(t, "key")
	home := place{Purpose: connectionPurpose}
	sealed, err := cipher.encrypt(home, []byte("value"))
	require.NoError(t, err)
	for purpose, opens := range map[purpose]bool{connectionPurpose: true, urlPurpose: false} {
		aead, err := cipher.current.aead(purpose)
		require.NoError(t, err)
		_, err = aead.Open(nil, sealed.Nonce, sealed.Ciphertext, home.associated())
		require.Equal(t, opens, err == nil)
	}
}

func TestARecordCopiedToAnotherUserIsNotHis(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	raw := w.raw(node.key("conn_", ann))
	for _, owner := range []string{ann, bob, ""} { // the envelope's own word
		w.kv.Put(node.key("conn_", bob), claimedBy(t, raw, owner))
		_, err := node.For(t.Context(), bob)
		requireKind(t, filehost.NotConnected, err)
		require.Equal(t, filehost.Reconnect, w.state(node, bob))
		require.NoError(t, node.Disconnect(t.Context(), bob))
	}
	w.credential(node, ann)
}

func TestADamagedRecordAsksToReconnect(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	raw, err := w.kv.Get(t.Context(), node.key("conn_", ann))
	require.NoError(t, err)
	var whole envelope
	require.NoError(t, json.Unmarshal(raw, &whole))
	damage := map[string]func(e envelope) envelope{
		"version":    func(e envelope) envelope { e.Version++; return e },
		"nonce":      func(e envelope) envelope { e.Nonce = flipped(e.Nonce); return e },
		"no nonce":   func(e envelope) envelope { e.Nonce = nil; return e },
		"ciphertext": func(e envelope) envelope { e.Ciphertext = flipped(e.Ciphertext); return e },
		"cut off":    func(e envelope) envelope { e.Ciphertext = e.Ciphertext[:8]; return e },
		"key id":     func(e envelope) envelope { e.KeyID = "0123456789abcdef"; return e },
		"owner":      func(e envelope) envelope { e.User = bob; return e },
	}
	for name, change := range damage {
		t.Run(name, func(t *testing.T) {
			damaged, err := json.Marshal(change(whole))
			require.NoError(t, err)
			w.kv.Put(node.key("conn_", ann), damaged)
			_, err = node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			still, err := w.kv.Get(t.Context(), node.key("conn_", ann))
			require.NoError(t, err)
			require.Equal(t, damaged, still, "nothing is deleted")
		})
	}
}

func flipped(b []byte) []byte {
	b = slices.Clone(b)
	b[len(b)-1] ^= 1
	return b
}

func TestThePreviousKeyStillReadsAndTheCurrentOneWrites(t *testing.T) {
	w := newWorld(t)
	with := func(keys ...string) func(*Config) {
		return func(c *Config) { c.Cipher = newTestCipher(t, keys...) }
	}
	old := w.connect(w.node(with("old")), ann)
	both := w.node(with("new", "", "old"))
	require.Equal(t, old, w.credential(both, ann))
	w.expire()
	renewed := w.credential(both, ann)
	require.Equal(t, renewed, w.credential(w.node(with("new")), ann))
}

func TestAnUnknownKeyRefusesAndDeletesNothing(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	old := w.connect(node, ann)
	lost := w.node(func(c *Config) { c.Cipher = newTestCipher(t, "another key") })
	_, err := lost.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	require.ErrorContains(t, err, "encryption key")
	_, err = lost.Renew(t.Context(), ann, old)
	requireKind(t, filehost.NotConnected, err)
	require.NoError(t, lost.Reject(t.Context(), ann, old))
	require.Equal(t, filehost.Reconnect, w.state(lost, ann))
	requireKind(t, filehost.NotConfigured, lost.Disconnect(t.Context(), ann))
	require.Equal(t, old, w.credential(node, ann), "the key is back, and so is the connection")
	w.connect(lost, ann) // or the user signs in again
}

func TestSealedTextOpensOnlyWithItsAssociatedDataAndIsURLSafe(t *testing.T) {
	cipher := newTestCipher(t, "key")
	sealed, err := cipher.Seal("cursor of ann", []byte("plain \x00\xff"))
	require.NoError(t, err)
	require.Regexp(t, `^[A-Za-z0-9_-]+$`, sealed)
	plain, err := cipher.Open("cursor of ann", sealed)
	require.NoError(t, err)
	require.Equal(t, "plain \x00\xff", string(plain))

	again, err := cipher.Seal("cursor of ann", []byte("plain \x00\xff"))
	require.NoError(t, err)
	require.NotEqual(t, sealed, again)
	plain, err = newTestCipher(t, "new", "key").Open("cursor of ann", sealed)
	require.NoError(t, err)
	require.Equal(t, "plain \x00\xff", string(plain))

	_, err = cipher.Open("cursor of bob", sealed)
	require.ErrorIs(t, err, errForged)
	_, err = newTestCipher(t, "new").Open("cursor of ann", sealed)
	require.ErrorIs(t, err, errUnknownKey)
	for _, bad := range []string{"", "AA", sealed + "=", sealed + "AAAA", "!" + sealed, sealed[:len(sealed)-4]} {
		_, err = cipher.Open("cursor of ann", bad)
		require.Error(t, err, bad)
	}
}

func TestAnEmptyKeyIsNoKey(t *testing.T) {
	_, err := NewCipher(filehost.Secret{}, filehost.NewSecret("previous"))
	requireKind(t, filehost.NotConfigured, err)
}

func FuzzOpenNeverOpensWhatWasNotSealed(f *testing.F) {
	cipher, err := NewCipher(filehost.NewSecret("key"))
	require.NoError(f, err)
	sealed, err := cipher.Seal("a", []byte("plain"))
	require.NoError(f, err)
	f.Add(sealed)
	f.Add("")
	f.Add(base64.RawURLEncoding.EncodeToString(make([]byte, 64)))
	f.Fuzz(func(t *testing.T, text string) {
		// Another process of the fuzzer has sealed the same under another nonce.
		if plain, err := cipher.Open("a", text); err == nil && string(plain) != "plain" {
			t.Fatalf("opened %q as %q", text, plain)
		}
	})
}

func FuzzDecryptNeverPanics(f *testing.F) {
	cipher, err := NewCipher(filehost.NewSecret("key"))
	require.NoError(f, err)
	f.Add([]byte(`{"v":1,"kid":"","nonce":"","ciphertext":""}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var record plainRecord
		require.Error(t, cipher.decryptJSON(place{}, raw, &record))
	})
}
