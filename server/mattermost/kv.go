package mattermost

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/pkg/errors"
)

// listPage is how many keys of the store one call lists.
const listPage = 1000

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

// List implements filehost.KV. Mattermost pages by offset: a key that goes moves all after it to the front, one of them
// out of the next page, and a key that comes moves them back. Reading the pages in both directions misses none that was
// there all the time, unless keys come and go on either side of it in just these moments.
func (kv KV) List(ctx context.Context, prefix string) ([]string, error) {
	found := map[string]bool{}
	read := func(page int) (full bool, err error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		keys, appErr := kv.API.KVList(page, listPage)
		if appErr != nil {
			return false, errors.Wrap(appErr, "list the key-value store")
		}
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				found[key] = true
			}
		}
		return len(keys) == listPage, nil
	}
	last := 0
	for ; ; last++ {
		if full, err := read(last); err != nil {
			return nil, err
		} else if !full {
			break
		}
	}
	for page := last - 1; page >= 0; page-- {
		if _, err := read(page); err != nil {
			return nil, err
		}
	}
	return slices.Collect(maps.Keys(found)), nil
}
