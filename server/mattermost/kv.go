package mattermost

import (
	"context"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/pkg/errors"
)

// KV implements filehost.KV on the plugin's key-value store, with raw bytes.
type KV struct{ API plugin.API }

// Get implements filehost.KV.
func (kv KV) Get(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	value, appErr := kv.API.KVGet(key)
	if appErr != nil {
		return nil, errors.Wrap(appErr, "read from the key-value store")
	}
	return value, nil
}

// CompareAndSet implements filehost.KV.
func (kv KV) CompareAndSet(ctx context.Context, key string, old, value []byte, ttl time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	options := model.PluginKVSetOptions{Atomic: true, OldValue: old, ExpireInSeconds: int64((ttl + time.Second - 1) / time.Second)}
	set, appErr := kv.API.KVSetWithOptions(key, value, options)
	if appErr != nil {
		return false, errors.Wrap(appErr, "write to the key-value store")
	}
	return set, nil
}

// CompareAndDelete implements filehost.KV.
func (kv KV) CompareAndDelete(ctx context.Context, key string, old []byte) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	deleted, appErr := kv.API.KVCompareAndDelete(key, old)
	if appErr != nil {
		return false, errors.Wrap(appErr, "delete from the key-value store")
	}
	return deleted, nil
}
