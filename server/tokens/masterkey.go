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
