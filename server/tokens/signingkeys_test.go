package tokens

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// signingNodes are nodes of one plugin that signs.
func (w *world) signingNodes(n int, edits ...func(*Config)) []*Store {
	nodes := make([]*Store, n)
	for i := range nodes {
		nodes[i] = w.node(append([]func(*Config){impatient, func(c *Config) {
			c.Methods = []filehost.Method{filehost.MethodJWTBearer}
			c.OAuth.TokenURL = "https://login.example.com/token"
			c.Issuer = pluginIssuer
		}}, edits...)...)
		quickKeys(nodes[i])
	}
	return nodes
}

// keysOf are the keys of each node after all have been asked at once.
func keysOf(t *testing.T, nodes []*Store, ask func(*keyring) (signingKeys, error)) []signingKeys {
	t.Helper()
	all := make([]signingKeys, len(nodes))
	for _, err := range outcomes(len(nodes), func(i int) (err error) {
		all[i], err = ask(nodes[i].keyring)
		return err
	}) {
		require.NoError(t, err)
	}
	return all
}

func current(k *keyring) (signingKeys, error) { return k.current(context.Background()) }
func renewed(k *keyring) (signingKeys, error) { return k.renew(context.Background()) }

func TestSigningKeysAreMadeOnceAcrossNodes(t *testing.T) {
	w := newWorld(t)
	nodes := w.signingNodes(10)
	w.meet(len(nodes), filehosttest.Get)
	all := keysOf(t, nodes, current)
	for _, keys := range all {
		assert.Equal(t, all[0].Current.jwk.KeyID, keys.Current.jwk.KeyID)
		assert.Equal(t, all[0].Next.jwk.KeyID, keys.Next.jwk.KeyID)
		assert.NotEqual(t, keys.Current.jwk.KeyID, keys.Next.jwk.KeyID)
	}
	assert.Len(t, w.kv.Keys(), 1)
}

func TestSigningKeysRotateEveryThirtyDaysOnceAcrossNodes(t *testing.T) {
	w := newWorld(t)
	nodes := w.signingNodes(10)
	before := keysOf(t, nodes, current)[0]
	w.clock.Advance(signingKeyTime - time.Second)
	assert.Equal(t, before.Current.jwk.KeyID, keysOf(t, nodes, renewed)[0].Current.jwk.KeyID)

	w.clock.Advance(time.Second)
	w.meet(len(nodes), filehosttest.Get)
	all := keysOf(t, nodes, renewed)
	for _, keys := range all {
		assert.Equal(t, before.Next.jwk.KeyID, keys.Current.jwk.KeyID, "what was published signs")
		assert.Equal(t, all[0].Next.jwk.KeyID, keys.Next.jwk.KeyID)
		assert.Equal(t, before.Current.jwk.KeyID, keys.Previous.jwk.KeyID)
	}
	assert.NotContains(t, []string{before.Current.jwk.KeyID, before.Next.jwk.KeyID}, all[0].Next.jwk.KeyID)
}

func TestAKeyIsPublishedLongBeforeItSignsAndAfterIt(t *testing.T) {
	w := newWorld(t)
	node := w.signingNodes(1)[0]
	_, err := node.keyring.current(t.Context())
	require.NoError(t, err)
	published := map[time.Time][]string{}
	for range 24 * 70 { // 70 days, hour by hour
		keys, err := node.keyring.renew(t.Context())
		require.NoError(t, err)
		now := w.clock.Now()
		published[now] = keyIDs(t, node)
		if then, ok := published[now.Add(-publishedAhead)]; ok {
			require.Contains(t, then, keys.Current.jwk.KeyID, "who keeps the key set for a day has the key that signs")
		}
		if age := now.Sub(keys.Since); keys.Previous != nil {
			require.Equal(t, age < publishedAhead, slices.Contains(published[now], keys.Previous.jwk.KeyID), "%s after a rotation", age)
		}
		w.clock.Advance(time.Hour)
	}
}

// A clock that was wrong, or settings of another version, could have a key due at once.
func TestAKeyThatWasJustPublishedNeverSigns(t *testing.T) {
	now := time.Now()
	for age, want := range map[time.Duration]bool{-time.Hour: false, 0: false, publishedAhead: false, signingKeyTime: true} {
		assert.Equal(t, want, signingKeys{Since: now.Add(-age)}.due(now), age)
	}
	assert.Greater(t, signingKeyTime, publishedAhead)
	assert.Greater(t, publishedAhead, time.Hour+signingKeysRead+clockSkew+assertionLife, "whoever keeps the keys for the hour that he may")
}

// TOKENS 33.
func TestTheKeySetHoldsNoPrivatePart(t *testing.T) {
	w := newWorld(t)
	node := w.signingNodes(1)[0]
	first, err := node.keyring.current(t.Context())
	require.NoError(t, err)
	w.clock.Advance(signingKeyTime)
	second, err := node.keyring.renew(t.Context())
	require.NoError(t, err)
	published, err := node.JWKS(t.Context())
	require.NoError(t, err)
	var set struct {
		Keys []map[string]any `json:"keys"`
	}
	require.NoError(t, json.Unmarshal(published, &set))
	require.Len(t, set.Keys, 3, "previous, current, next")
	for _, key := range set.Keys {
		assert.Equal(t, []string{"alg", "e", "kid", "kty", "n", "use"}, slices.Sorted(maps.Keys(key)))
		assert.Equal(t, "RS256 RSA sig", fmt.Sprint(key["alg"], " ", key["kty"], " ", key["use"]))
	}
	for _, key := range []signingKey{first.Current, second.Current, second.Next} {
		private := key.jwk.Key.(*rsa.PrivateKey)
		for _, part := range append([]*big.Int{private.D, private.Precomputed.Dp, private.Precomputed.Dq, private.Precomputed.Qinv}, private.Primes...) {
			assert.NotContains(t, string(published), base64.RawURLEncoding.EncodeToString(part.Bytes()))
		}
	}
	assert.True(t, second.Previous.jwk.IsPublic(), "who signs no more is only checked")
}

func TestToReadTheKeySetChangesNothing(t *testing.T) {
	w := newWorld(t)
	node := w.signingNodes(1)[0]
	_, err := node.JWKS(t.Context())
	requireKind(t, filehost.NotFound, err)
	assert.Empty(t, w.kv.Keys())
	_, err = node.keyring.current(t.Context())
	require.NoError(t, err)
	before := keyIDs(t, node)
	w.clock.Advance(signingKeyTime + time.Hour)
	w.kv.Fail(func(op filehosttest.Op, _ string) error {
		if op != filehosttest.Get {
			t.Errorf("%s by a reader", op)
		}
		return nil
	})
	assert.Equal(t, before, keyIDs(t, node))
}

func TestNothingIsPublishedWhereNothingIsSigned(t *testing.T) {
	w := newWorld(t)
	byActor := func(c *Config) {
		c.Methods, c.Exchange.Subject = []filehost.Method{filehost.MethodTokenExchange}, SubjectTokenZitadelUserID
	}
	for _, node := range []*Store{w.node(), w.signingNodes(1, byActor)[0]} {
		_, err := node.JWKS(t.Context())
		requireKind(t, filehost.NotFound, err)
		node.KeepSigningKeys(t.Context()) // returns
	}
	assert.Empty(t, w.kv.Keys())
}

func TestEachRelyingPartyHasKeysOfItsOwn(t *testing.T) {
	w := newWorld(t)
	here := w.signingNodes(1)[0]
	there := w.signingNodes(1, func(c *Config) { c.OAuth.TokenURL = "https://elsewhere.example.com/token" })[0]
	otherHost := w.signingNodes(1, func(c *Config) { c.Host.ID = "second" })[0]
	seen := map[string]bool{}
	for _, node := range []*Store{here, there, otherHost} {
		_, err := node.keyring.current(t.Context())
		require.NoError(t, err)
		for _, id := range keyIDs(t, node) {
			assert.False(t, seen[id])
			seen[id] = true
		}
	}

	raw, err := w.kv.Get(t.Context(), here.keyring.key())
	require.NoError(t, err)
	old, err := w.kv.Get(t.Context(), there.keyring.key())
	require.NoError(t, err)
	won, err := w.kv.CompareAndSet(t.Context(), there.keyring.key(), old, raw, 0)
	require.NoError(t, err)
	require.True(t, won)
	w.clock.Advance(signingKeysRead)
	_, err = there.keyring.current(t.Context())
	requireKind(t, filehost.NotConfigured, err)
	require.ErrorIs(t, err, errForged, "keys that were copied from another party don't decrypt")
}

// TOKENS 23.
func TestSigningKeysOfALostMasterKeyAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	node := w.signingNodes(1)[0]
	_, err := node.keyring.current(t.Context())
	require.NoError(t, err)
	before, err := w.kv.Get(t.Context(), node.keyring.key())
	require.NoError(t, err)
	cipher, err := NewCipher(filehost.NewSecret("another"))
	require.NoError(t, err)
	other := w.signingNodes(1, func(c *Config) { c.Cipher = cipher })[0]
	w.clock.Advance(signingKeyTime)
	for _, ask := range []func(*keyring) (signingKeys, error){current, renewed} {
		_, err = ask(other.keyring)
		requireKind(t, filehost.NotConfigured, err)
		require.ErrorIs(t, err, errUnknownKey)
	}
	err = other.signingRemedy(t.Context())
	requireKind(t, filehost.NotConfigured, err)
	require.ErrorContains(t, err, "“Previous encryption key”")
	require.NoError(t, node.signingRemedy(t.Context()))
	after, err := w.kv.Get(t.Context(), node.keyring.key())
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestSigningKeysOutlastAStoreThatFails(t *testing.T) {
	w := newWorld(t)
	node := w.signingNodes(1)[0]
	first, err := node.keyring.current(t.Context())
	require.NoError(t, err)
	w.kv.Fail(func(filehosttest.Op, string) error { return errors.New("database is down") })
	w.clock.Advance(signingKeysOutlast - time.Second)
	again, err := node.keyring.current(t.Context())
	require.NoError(t, err)
	assert.Equal(t, first.Current.jwk.KeyID, again.Current.jwk.KeyID)
	w.clock.Advance(time.Second)
	_, err = node.keyring.current(t.Context())
	requireKind(t, filehost.Internal, err)
}

// A node that has not seen a rotation signs with the key before it for a minute at most: that key is published for a day.
func TestANodeSeesARotationWithinAMinute(t *testing.T) {
	w := newWorld(t)
	nodes := w.signingNodes(2)
	keysOf(t, nodes, current)
	w.clock.Advance(signingKeyTime)
	before, err := nodes[1].keyring.current(t.Context())
	require.NoError(t, err)
	rotated, err := nodes[0].keyring.renew(t.Context())
	require.NoError(t, err)
	late, err := nodes[1].keyring.current(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before.Current.jwk.KeyID, late.Current.jwk.KeyID)
	assert.Contains(t, keyIDs(t, nodes[0]), late.Current.jwk.KeyID)
	w.clock.Advance(signingKeysRead)
	seen, err := nodes[1].keyring.current(t.Context())
	require.NoError(t, err)
	assert.Equal(t, rotated.Current.jwk.KeyID, seen.Current.jwk.KeyID)
}

func TestKeepSigningKeysMakesRetriesAndRotates(t *testing.T) {
	w := newWorld(t)
	node := w.signingNodes(1, func(c *Config) { c.Clock = w.clock })[0]
	w.kv.Fail(func(filehosttest.Op, string) error { return errors.New("database is down") })
	ctx, stop := context.WithCancel(t.Context())
	var kept sync.WaitGroup
	kept.Go(func() { node.KeepSigningKeys(ctx) })
	require.NoError(t, w.clock.BlockUntilContext(ctx, 1))
	assert.Contains(t, w.log.String(), "signing keys could not be made")
	w.kv.Fail(nil)
	w.clock.Advance(2 * keyWatchRetry)
	require.NoError(t, w.clock.BlockUntilContext(ctx, 1))
	before := keyIDs(t, node)
	assert.Len(t, before, 2)
	w.clock.Advance(signingKeyTime)
	require.NoError(t, w.clock.BlockUntilContext(ctx, 1))
	assert.Len(t, keyIDs(t, node), 3)
	assert.Subset(t, keyIDs(t, node), before)
	stop()
	kept.Wait()
}

func TestASigningKeyIsNamedByItsThumbprintAndLong(t *testing.T) {
	key, err := newSigningKey()
	require.NoError(t, err)
	assert.Equal(t, 3072, key.jwk.Key.(*rsa.PrivateKey).N.BitLen())
	assert.Len(t, key.jwk.KeyID, 43, "SHA-256, base64url")
	keys := signingKeys{Current: key, Next: key, Previous: &key}
	secret := key.jwk.Key.(*rsa.PrivateKey).D
	var seen report
	seen.add(key, &key, keys, &keys, &keyring{last: &keys})
	_, _ = fmt.Fprintf(&seen, "%v %+v %#v", keys.plain(), keys.plain(), keys.plain())
	assert.NotContains(t, seen.String(), secret.String())
	assert.NotContains(t, seen.String(), base64.RawURLEncoding.EncodeToString(secret.Bytes()))
	assert.Contains(t, fmt.Sprint(keys), key.jwk.KeyID)
}

// TOKENS 23: a new master key takes the signing keys along.
func TestSigningKeysAreBroughtUnderANewMasterKey(t *testing.T) {
	w := newWorld(t)
	old := w.signingNodes(1)[0]
	before, err := old.keyring.current(t.Context())
	require.NoError(t, err)
	cipher, err := NewCipher(filehost.NewSecret("canary-new-key"), filehost.NewSecret("canary-encryption-key"))
	require.NoError(t, err)
	node := w.signingNodes(1, func(c *Config) { c.Cipher = cipher })[0]
	require.Equal(t, 1, node.look(t.Context()).moved)

	alone, err := NewCipher(filehost.NewSecret("canary-new-key"))
	require.NoError(t, err)
	after, err := w.signingNodes(1, func(c *Config) { c.Cipher = alone })[0].keyring.current(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before.Current.jwk.KeyID, after.Current.jwk.KeyID)
	assert.Equal(t, before.Next.jwk.KeyID, after.Next.jwk.KeyID)
}

// Whether somebody knows the old keys or nobody can read them any more.
func TestReplacedSigningKeysAreNotTrustedAnyMore(t *testing.T) {
	w := newWorld(t)
	nodes := w.signingNodes(2)
	keysOf(t, nodes, current)
	w.clock.Advance(signingKeyTime)
	keysOf(t, nodes, renewed)
	before := keyIDs(t, nodes[0])
	require.Len(t, before, 3)
	require.NoError(t, nodes[0].ReplaceKeys(t.Context()))
	assert.Len(t, keyIDs(t, nodes[0]), 2, "the previous key is gone as well")
	w.clock.Advance(signingKeysRead)
	for _, node := range nodes {
		for _, id := range keyIDs(t, node) {
			assert.NotContains(t, before, id)
		}
	}

	cipher, err := NewCipher(filehost.NewSecret("another"))
	require.NoError(t, err)
	lost := w.signingNodes(1, func(c *Config) { c.Cipher = cipher })[0]
	_, err = lost.keyring.current(t.Context())
	requireKind(t, filehost.NotConfigured, err)
	require.NoError(t, lost.ReplaceKeys(t.Context()))
	_, err = lost.keyring.current(t.Context())
	require.NoError(t, err)

	requireKind(t, filehost.NotFound, w.node().ReplaceKeys(t.Context()))
	w.kv.Fail(func(filehosttest.Op, string) error { return errors.New("database is down") })
	requireKind(t, filehost.Internal, nodes[0].ReplaceKeys(t.Context()))
}
