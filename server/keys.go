package main

import (
	"context"
	"slices"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/tokens"
)

// newCipher encrypts with the admin's key or, where he has set none, with one that the plugin makes; it opens what any of
// those that are configured or kept have encrypted. It also returns the keys that are in force. The caller holds the lock.
func (p *Plugin) newCipher(kv filehost.KV, keys config.Keys) (*tokens.Cipher, []filehost.Secret, error) {
	ctx, cancel := context.WithTimeout(p.lifetime, keyTimeout)
	defer cancel()
	known, err := p.inForce(ctx, kv, keys)
	if err != nil {
		return nil, nil, &storeError{err}
	}
	var secrets []filehost.Secret
	for _, key := range known {
		secrets = append(secrets, key.Secret)
	}
	if known, err = p.keepReplacedKeys(ctx, kv, known); err != nil {
		return nil, nil, &storeError{err}
	}
	if known[0].Origin != tokens.Made {
		taken, err := tokens.TakeMadeKey(ctx, kv, p.clock, known...)
		if err != nil {
			return nil, nil, &storeError{err}
		}
		known = append(known, taken...)
	}
	kept, err := tokens.FormerKeys(ctx, kv, p.clock, known...)
	if err != nil {
		return nil, nil, &storeError{err}
	}
	cipher, err := tokens.CipherOf(known[0], append(known[1:], kept...)...)
	return cipher, secrets, err
}

// inForce are the keys that the admin has configured, the current one first. Where that is missing it is the plugin's own.
func (p *Plugin) inForce(ctx context.Context, kv filehost.KV, keys config.Keys) ([]tokens.Key, error) {
	current := tokens.Key{Secret: keys.Current.Secret, Source: keys.Current.Source}
	if current.Secret.IsEmpty() {
		made, err := tokens.MasterKey(ctx, kv, p.clock)
		if err != nil {
			return nil, err
		}
		current = tokens.Key{Secret: made, Origin: tokens.Made}
	}
	known := []tokens.Key{current}
	for _, former := range keys.Former {
		if !former.Secret.IsEmpty() {
			known = append(known, tokens.Key{Secret: former.Secret, Source: former.Source})
		}
	}
	return known, nil
}

// keepReplacedKeys keeps the keys that were in force until now and aren't any more, so that what they have encrypted still
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
