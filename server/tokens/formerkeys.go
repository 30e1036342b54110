package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// formerKeyTime is how long a former key is kept although nothing uses it any more: a node that runs on with it for a
// while may still write, and values that end by themselves do so within a day of their last use.
const formerKeyTime = 48 * time.Hour

// formerKeys are the keys that one key has replaced, as the store has them: encrypted with that key, so that a dump of
// the database opens no more than without them.
type formerKeys struct {
	Keys []formerKey `json:"keys"`
}

// Format implements fmt.Formatter without the keys.
func (f formerKeys) Format(out fmt.State, _ rune) {
	_, _ = fmt.Fprintf(out, "formerKeys(%d)", len(f.Keys))
}

// formerKey is spelled out: it exists only beside the cipher.
type formerKey struct {
	Key      string    `json:"key"`
	Replaced time.Time `json:"replaced"`
}

// Format implements fmt.Formatter without the key.
func (f formerKey) Format(out fmt.State, _ rune) {
	_, _ = fmt.Fprintf(out, "formerKey(%s)", f.Replaced)
}

// KeptKey is a former key that the plugin keeps.
func KeptKey(secret filehost.Secret) Key {
	return Key{Secret: secret, Source: "the former key, which the plugin keeps encrypted with the present one", Origin: Kept}
}

func formerKeysKey(id string) string { return "former_" + id }

func formerKeysPlace(id string) place { return place{Purpose: formerKeysPurpose, User: id} }

// FormerKeys returns the keys that the plugin has kept when the admin replaced them by one of known, or by one that it
// has kept itself. All of them are kept for the first of known from then on: a key may be given up whose own predecessor
// is still used.
func FormerKeys(ctx context.Context, kv filehost.KV, clock clockwork.Clock, known ...Key) ([]Key, error) {
	kept, err := formerKeysOf(ctx, kv, known)
	if err != nil {
		return nil, err
	}
	for _, key := range kept {
		if key.Secret.Equal(known[0].Secret) {
			continue
		}
		if err := KeepFormerKey(ctx, kv, clock, known[0].Secret, key.Secret); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

func formerKeysOf(ctx context.Context, kv filehost.KV, known []Key) ([]Key, error) {
	var kept []Key
	seen := map[string]bool{}
	for todo := slices.Clone(known); len(todo) > 0; todo = todo[1:] {
		if todo[0].Secret.IsEmpty() {
			continue
		}
		cipher, err := CipherOf(todo[0])
		if err != nil {
			return nil, err
		}
		if seen[cipher.current.id] {
			continue
		}
		seen[cipher.current.id] = true
		_, former, err := loadFormerKeys(ctx, kv, cipher)
		if err != nil {
			return nil, err
		}
		for _, key := range former.Keys {
			found := KeptKey(filehost.NewSecret(key.Key))
			kept, todo = append(kept, found), append(todo, found)
		}
	}
	return kept, nil
}

func loadFormerKeys(ctx context.Context, kv filehost.KV, cipher *Cipher) (raw []byte, former formerKeys, err error) {
	id := cipher.current.id
	if raw, err = kv.Get(ctx, formerKeysKey(id)); err != nil {
		return nil, formerKeys{}, storeFailed(err)
	}
	if raw != nil {
		err = cipher.decryptJSON(formerKeysPlace(id), raw, &former)
	}
	if err != nil { // damaged, or forged: whatever stood there opens nothing
		return raw, formerKeys{}, nil //nolint:nilerr // see above
	}
	return raw, former, nil
}

// KeepFormerKey keeps a key that current has replaced, so that what it encrypted still opens. Nodes that do so at once
// keep it once.
func KeepFormerKey(ctx context.Context, kv filehost.KV, clock clockwork.Clock, current, former filehost.Secret) error {
	cipher, err := NewCipher(current)
	if err != nil {
		return err
	}
	return cipher.changeFormerKeys(ctx, kv, clock, func(kept *formerKeys) bool {
		if slices.ContainsFunc(kept.Keys, func(k formerKey) bool { return filehost.NewSecret(k.Key).Equal(former) }) {
			return false
		}
		kept.Keys = append(kept.Keys, formerKey{former.Reveal(), clock.Now().UTC()})
		return true
	})
}

// changeFormerKeys changes what is kept for the current key, under compare-and-set: change may be called again. It tells
// whether there is something to be written.
func (c *Cipher) changeFormerKeys(ctx context.Context, kv filehost.KV, clock clockwork.Clock, change func(*formerKeys) bool) error {
	return contest(ctx, clock, func() (bool, error) {
		raw, kept, err := loadFormerKeys(ctx, kv, c)
		if err != nil || !change(&kept) {
			return true, err
		}
		return c.putFormerKeys(ctx, kv, raw, kept)
	})
}

// putFormerKeys writes what is kept for the current key in the place of what was read.
func (c *Cipher) putFormerKeys(ctx context.Context, kv filehost.KV, read []byte, kept formerKeys) (won bool, err error) {
	plain, err := json.Marshal(kept)
	if err != nil {
		return false, errors.New("the former keys can't be written down")
	}
	next, err := c.wrap(formerKeysPlace(c.current.id), plain)
	if err != nil {
		return false, err
	}
	if won, err = kv.CompareAndSet(ctx, formerKeysKey(c.current.id), read, next, 0); err != nil {
		return false, storeFailed(err)
	}
	return won, nil
}

// dropFormerKeys gives up former keys that nothing uses any more, by their ids, and what was kept for them.
func (c *Cipher) dropFormerKeys(ctx context.Context, kv filehost.KV, clock clockwork.Clock, unused func(id string) bool) error {
	now := clock.Now()
	var dropped []*masterKey
	var secrets []filehost.Secret
	err := c.changeFormerKeys(ctx, kv, clock, func(kept *formerKeys) bool {
		dropped, secrets = nil, nil
		kept.Keys = slices.DeleteFunc(kept.Keys, func(k formerKey) bool {
			key, err := newMasterKey(Key{Secret: filehost.NewSecret(k.Key)})
			if err != nil || now.Sub(k.Replaced) < formerKeyTime || !unused(key.id) {
				return false
			}
			dropped, secrets = append(dropped, key), append(secrets, filehost.NewSecret(k.Key))
			return true
		})
		return len(dropped) > 0
	})
	if err != nil {
		return err
	}
	for i, key := range dropped {
		raw, readErr := kv.Get(ctx, formerKeysKey(key.id))
		if readErr == nil && raw != nil {
			_, readErr = kv.CompareAndDelete(ctx, formerKeysKey(key.id), raw)
		}
		err = errors.Join(err, readErr, forgetMadeKey(ctx, kv, secrets[i]))
	}
	return err
}
