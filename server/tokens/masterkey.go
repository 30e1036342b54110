package tokens

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	masterKeyKey   = "master_key"
	masterKeyBytes = 32
)

// MasterKey returns the key that the plugin keeps in the store itself, for admins who set none. The first call creates
// it; nodes that start at once all get the same.
func MasterKey(ctx context.Context, kv filehost.KV, clock clockwork.Clock) (filehost.Secret, error) {
	fresh := make([]byte, masterKeyBytes)
	_, _ = rand.Read(fresh) // never fails: crypto/rand
	candidate := base64.RawURLEncoding.EncodeToString(fresh)
	key := ""
	err := contest(ctx, clock, func() (bool, error) {
		stored, err := kv.Get(ctx, masterKeyKey)
		if err != nil || len(stored) > 0 {
			key = string(stored)
			return true, err
		}
		key = candidate
		return kv.CompareAndSet(ctx, masterKeyKey, nil, []byte(candidate), 0)
	})
	var known *filehost.Error
	switch {
	case errors.As(err, &known):
		return filehost.Secret{}, err
	case err != nil:
		return filehost.Secret{}, storeFailed(err)
	}
	return filehost.NewSecret(key), nil
}

// TakeMadeKey is for who has set a key of his own, the first of known, beside which the plugin's is no more than a former
// key: it is kept as one, encrypted, until nothing uses it. That happens once, when the first of the admin's keys comes
// into force. What lies under the made key's name later is nobody's key: who can write to the store could have put it there. It returns the key
// if it has been taken just now, since a replica may not show it among the former keys yet.
func TakeMadeKey(ctx context.Context, kv filehost.KV, clock clockwork.Clock, known ...Key) (taken []Key, err error) {
	cipher, err := CipherOf(known[0])
	if err != nil {
		return nil, err
	}
	err = contest(ctx, clock, func() (bool, error) {
		taken = nil
		raw, _, err := loadFormerKeys(ctx, kv, cipher)
		if err != nil || raw != nil {
			return true, err
		}
		next := formerKeys{}
		before, err := inForceBefore(ctx, kv, known[1:])
		if err != nil {
			return false, err
		}
		if made, err := kv.Get(ctx, masterKeyKey); err != nil {
			return false, storeFailed(err)
		} else if len(made) > 0 && !before {
			taken = []Key{KeptKey(filehost.NewSecret(string(made)))}
			next.Keys = []formerKey{{string(made), clock.Now().UTC()}}
		}
		return cipher.putFormerKeys(ctx, kv, raw, next)
	})
	return taken, err
}

// inForceBefore tells whether one of these keys has taken the made key's place already.
func inForceBefore(ctx context.Context, kv filehost.KV, keys []Key) (bool, error) {
	for _, key := range keys {
		cipher, err := CipherOf(key)
		if err != nil {
			return false, err
		}
		if raw, _, err := loadFormerKeys(ctx, kv, cipher); err != nil || raw != nil {
			return raw != nil, err
		}
	}
	return false, nil
}

// forgetMadeKey deletes the made key if it is this one, which was given up.
func forgetMadeKey(ctx context.Context, kv filehost.KV, given filehost.Secret) error {
	made, err := kv.Get(ctx, masterKeyKey)
	if err != nil || len(made) == 0 || !filehost.NewSecret(string(made)).Equal(given) {
		return err
	}
	_, err = kv.CompareAndDelete(ctx, masterKeyKey, made)
	return err
}
