package tokens

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Kept implements filehost.Keeper. A position is what follows the prefix of a record's key in the store.
func (s *Store) Kept(ctx context.Context, after string) iter.Seq2[filehost.Kept, error] {
	return func(yield func(filehost.Kept, error) bool) {
		keys, err := s.config.KV.List(ctx, longLivedConnection.prefix)
		if err != nil {
			yield(filehost.Kept{}, storeFailed(err))
			return
		}
		slices.Sort(keys)
		for _, key := range keys {
			position := strings.TrimPrefix(key, longLivedConnection.prefix)
			if position <= after {
				continue
			}
			kept, there, err := s.keptAt(ctx, key)
			kept.Position = position
			if (err != nil || there) && !yield(kept, err) || err != nil {
				return
			}
		}
	}
}

// keptAt reads the record under a key. It is not there when it has gone meanwhile, or is a tombstone or a note that its
// time has passed.
func (s *Store) keptAt(ctx context.Context, key string) (kept filehost.Kept, there bool, err error) {
	raw, err := s.config.KV.Get(ctx, key)
	if err != nil {
		return filehost.Kept{}, false, storeFailed(err)
	}
	if raw == nil {
		return filehost.Kept{}, false, nil
	}
	owner := ownerOf(raw)
	if owner == "" || s.key(longLivedConnection.prefix, owner) != key {
		return filehost.Kept{Connection: filehost.Connection{State: filehost.Reconnect}}, true, nil
	}
	found, err := s.open(ctx, owner, raw)
	if err != nil || found.State == absent || found.State == disconnecting {
		return filehost.Kept{}, false, err
	}
	connection, err := s.connection(ctx, owner, found)
	return filehost.Kept{Connection: connection, UserID: owner}, err == nil, err
}

// Keeps implements filehost.Keeper.
func (s *Store) Keeps(ctx context.Context, userID string) (bool, error) {
	if _, ok := s.notSaved(userID); ok {
		return true, nil
	}
	found, err := s.load(ctx, userID)
	return !slices.Contains([]state{absent, disconnecting, declined, refused}, found.State), err
}
