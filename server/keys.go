package main

import (
	"context"
	"slices"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/tokens"
)

// newCipher encrypts with the admin's key, or with the one that the plugin has made; it opens what any of those that are
// configured or kept have encrypted. The caller holds the lock.
func (p *Plugin) newCipher(kv filehost.KV, keys config.Keys) (*tokens.Cipher, error) {
	ctx, cancel := context.WithTimeout(p.lifetime, keyTimeout)
	defer cancel()
	secret, err := tokens.MasterKey(ctx, kv, p.clock)
	if err != nil {
		return nil, &storeError{err}
	}
	made := tokens.Key{Secret: secret, Origin: tokens.Made}
	current := made
	if !keys.Current.Secret.IsEmpty() {
		current = tokens.Key{Secret: keys.Current.Secret, Source: keys.Current.Source}
	}
	known := []tokens.Key{current}
	for _, former := range keys.Former {
		known = append(known, tokens.Key{Secret: former.Secret, Source: former.Source})
	}
	known = append(known, made)
	if known, err = p.keepReplacedKey(ctx, kv, known); err != nil {
		return nil, &storeError{err}
	}
	kept, err := tokens.FormerKeys(ctx, kv, known...)
	if err != nil {
		return nil, &storeError{err}
	}
	return tokens.CipherOf(current, append(known[1:], kept...)...)
}

// keepReplacedKey keeps the key that was in force until now, if the admin has just replaced it and kept it nowhere
// himself, so that what it encrypted still opens, after the next start as well. It does so before the new key encrypts
// anything, and not in the settings: saving those would undo what another admin saves at the same moment. The first of
// known is the key that comes into force; all that are known from now on are returned.
func (p *Plugin) keepReplacedKey(ctx context.Context, kv filehost.KV, known []tokens.Key) ([]tokens.Key, error) {
	previous := p.current.Load()
	if previous == nil || previous.key.IsEmpty() ||
		slices.ContainsFunc(known, func(k tokens.Key) bool { return k.Secret.Equal(previous.key) }) {
		return known, nil
	}
	if err := tokens.KeepFormerKey(ctx, kv, p.clock, known[0].Secret, previous.key); err != nil {
		return nil, err
	}
	return append(known, tokens.KeptKey(previous.key)), nil // a replica may not show it yet
}
