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
	if known, err = p.keepReplacedKeys(ctx, kv, known); err != nil {
		return nil, &storeError{err}
	}
	kept, err := tokens.FormerKeys(ctx, kv, p.clock, known...)
	if err != nil {
		return nil, &storeError{err}
	}
	return tokens.CipherOf(current, append(known[1:], kept...)...)
}

// keepReplacedKeys keeps the keys that were configured until now and aren't any more, so that what they have encrypted still
// opens, after the next start as well: a key that was replaced, and a previous one that was removed too early. It does so
// before the new key encrypts anything, and not in the settings: saving those would undo what another admin saves at the
// same moment. The first of known is the key that comes into force; all that are known from now on are returned.
func (p *Plugin) keepReplacedKeys(ctx context.Context, kv filehost.KV, known []tokens.Key) ([]tokens.Key, error) {
	previous := p.current.Load()
	if previous == nil {
		return known, nil
	}
	current := known[0].Secret
	for _, secret := range previous.keys {
		if slices.ContainsFunc(known, func(k tokens.Key) bool { return k.Secret.Equal(secret) }) {
			continue
		}
		if err := tokens.KeepFormerKey(ctx, kv, p.clock, current, secret); err != nil {
			return nil, err
		}
		known = append(known, tokens.KeptKey(secret)) // a replica may not show it yet
	}
	return known, nil
}

// secretsOf are the keys that the admin has configured.
func secretsOf(keys config.Keys) []filehost.Secret {
	var secrets []filehost.Secret
	for _, key := range append([]config.Key{keys.Current}, keys.Former...) {
		if !key.Secret.IsEmpty() {
			secrets = append(secrets, key.Secret)
		}
	}
	return secrets
}
