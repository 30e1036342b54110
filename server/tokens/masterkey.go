package tokens

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	masterKeyKey   = "master_key"
	masterKeyBytes = 32
	masterKeyReads = 50
	masterKeyPause = 100 * time.Millisecond
)

// MasterKey returns the key that the plugin keeps in the store itself, for admins who set none. The first call creates
// it; nodes that start at once all get the same.
func MasterKey(ctx context.Context, kv filehost.KV, clock clockwork.Clock) (filehost.Secret, error) {
	fresh := make([]byte, masterKeyBytes)
	_, _ = rand.Read(fresh) // never fails: crypto/rand
	candidate := base64.RawURLEncoding.EncodeToString(fresh)
	for range masterKeyReads {
		stored, err := kv.Get(ctx, masterKeyKey)
		if err != nil {
			return filehost.Secret{}, storeFailed(err)
		}
		if len(stored) > 0 {
			return filehost.NewSecret(string(stored)), nil
		}
		created, err := kv.CompareAndSet(ctx, masterKeyKey, nil, []byte(candidate), 0)
		if err != nil {
			return filehost.Secret{}, storeFailed(err)
		}
		if created {
			return filehost.NewSecret(candidate), nil
		}
		// Another node was first, and this node's replica doesn't show it yet.
		select {
		case <-ctx.Done():
			return filehost.Secret{}, storeFailed(ctx.Err())
		case <-clock.After(masterKeyPause):
		}
	}
	return filehost.Secret{}, filehost.E(filehost.Internal, "Mattermost's key-value store neither shows nor takes the encryption key.", nil)
}
