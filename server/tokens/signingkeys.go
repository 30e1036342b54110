package tokens

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	signingKeyBits = 3072 // good beyond 2030 (NIST SP 800-57 part 1, 5.6.1)
	// signingKeyTime is how long a key signs.
	signingKeyTime = 30 * 24 * time.Hour
	// publishedAhead is how long a key is published at least before it signs, less than signingKeyTime and longer than any
	// relying party keeps a copy of the key set. For as long it stays published afterwards, longer than the last assertion
	// is good for.
	publishedAhead = 24 * time.Hour
	// signingKeysRead is how long a node uses what it has read of the keys.
	signingKeysRead = time.Minute
	// signingKeysOutlast is how long it uses them while the store fails: keys stay good for longer after a rotation.
	signingKeysOutlast = time.Hour
	// signingKeysKept is how long the store keeps keys that no node replaces any more: of a relying party that is no longer
	// configured, or encrypted with a key that is lost.
	signingKeysKept = 3 * signingKeyTime
	// keyWatch is how often a node looks whether the keys are due, and keyWatchRetry how soon after a failure.
	keyWatch      = time.Hour
	keyWatchRetry = time.Minute
)

// signingKey is a key pair, or of a key that signs no more the public half. It encodes as nothing: see plainKeys.
type signingKey struct{ jwk jose.JSONWebKey }

// Format implements fmt.Formatter without the key.
func (k signingKey) Format(out fmt.State, _ rune) {
	_, _ = fmt.Fprintf(out, "signingKey(%s)", k.jwk.KeyID)
}

func (k signingKey) public() signingKey { return signingKey{k.jwk.Public()} }

// signingKeys are the keys of one relying party. All nodes share them in the store.
type signingKeys struct {
	Previous *signingKey // nil = there was none; its private half is gone
	Current  signingKey  // signs since Since
	Next     signingKey  // published since Since, too
	Since    time.Time
}

// plainKeys are signing keys spelled out. They exist only between signingKeys and the cipher.
type plainKeys struct {
	Previous *jose.JSONWebKey `json:"previous,omitempty"`
	Current  jose.JSONWebKey  `json:"current"`
	Next     jose.JSONWebKey  `json:"next"`
	Since    time.Time        `json:"since"`
}

// Format implements fmt.Formatter without the keys.
func (p plainKeys) Format(out fmt.State, _ rune) {
	_, _ = fmt.Fprintf(out, "plainKeys(%s)", p.Current.KeyID)
}

func (k signingKeys) plain() plainKeys {
	plain := plainKeys{Current: k.Current.jwk, Next: k.Next.jwk, Since: k.Since}
	if k.Previous != nil {
		plain.Previous = &k.Previous.jwk
	}
	return plain
}

func (p plainKeys) keys() signingKeys {
	keys := signingKeys{Current: signingKey{p.Current}, Next: signingKey{p.Next}, Since: p.Since}
	if p.Previous != nil {
		keys.Previous = &signingKey{*p.Previous}
	}
	return keys
}

// due tells whether the next key is to take over.
func (k signingKeys) due(now time.Time) bool {
	return now.Sub(k.Since) >= signingKeyTime
}

// published is the key set for everybody (RFC 7517 5): public halves only.
func (k signingKeys) published(now time.Time) jose.JSONWebKeySet {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{k.Current.public().jwk, k.Next.public().jwk}}
	if k.Previous != nil && now.Sub(k.Since) < publishedAhead {
		set.Keys = append(set.Keys, k.Previous.public().jwk)
	}
	return set
}

// rotated are the keys after a rotation that makes fresh the next one.
func (k signingKeys) rotated(fresh signingKey, now time.Time) signingKeys {
	previous := k.Current.public()
	return signingKeys{Previous: &previous, Current: k.Next, Next: fresh, Since: now.UTC()}
}

// newSigningKey makes a key that is named by its thumbprint (RFC 7638).
func newSigningKey() (signingKey, error) {
	private, err := rsa.GenerateKey(rand.Reader, signingKeyBits)
	if err != nil {
		return signingKey{}, err
	}
	key := jose.JSONWebKey{Key: private, Algorithm: string(jose.RS256), Use: "sig"}
	thumbprint, err := key.Thumbprint(crypto.SHA256)
	key.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	return signingKey{key}, err
}

// keyring is a node's view of the signing keys of its relying party: one sign-in server of one host. No other party's
// assertions are signed with them, so that none that is sent to one of them is good at another.
type keyring struct {
	store    *Store
	generate func() (signingKey, error)

	mu     sync.Mutex
	last   *signingKeys
	readAt time.Time
}

const signingKeysLost = "The keys that the plugin signs with can't be read, since its encryption key has changed. Ask your admin to restore it, or to replace the signing keys."

var errNoSigningKeys = errors.New("there are no signing keys yet")

func (r *keyring) key() string  { return r.store.key("sign_", r.store.provider.binding) }
func (r *keyring) place() place { return r.store.place(signingPurpose, r.store.provider.binding) }

// current returns the keys to sign with. It makes them when there are none yet.
func (r *keyring) current(ctx context.Context) (signingKeys, error) {
	keys, err := r.read(ctx)
	if errors.Is(err, errNoSigningKeys) {
		return r.renew(ctx)
	}
	return keys, err
}

// read returns the keys as they were at most a minute ago, or while the store fails an hour, without changing anything.
func (r *keyring) read(ctx context.Context) (signingKeys, error) {
	r.mu.Lock()
	last, age := r.last, r.store.config.Clock.Since(r.readAt)
	r.mu.Unlock()
	if last != nil && age < signingKeysRead {
		return *last, nil
	}
	keys, raw, err := r.load(ctx)
	if err != nil && raw == nil && !errors.Is(err, errNoSigningKeys) && last != nil && age < signingKeysOutlast {
		return *last, nil
	}
	return keys, err
}

// load reads the keys from the store, with the bytes that a compare-and-set needs.
func (r *keyring) load(ctx context.Context) (keys signingKeys, raw []byte, err error) {
	raw, err = r.store.config.KV.Get(ctx, r.key())
	switch {
	case err != nil:
		return signingKeys{}, nil, storeFailed(err)
	case raw == nil:
		return signingKeys{}, nil, errNoSigningKeys
	}
	var plain plainKeys
	if err := r.store.config.Cipher.decryptJSON(r.place(), raw, &plain); err != nil {
		return signingKeys{}, raw, filehost.E(filehost.NotConfigured, signingKeysLost, err)
	}
	keys = plain.keys()
	r.remember(keys)
	return keys, raw, nil
}

func (r *keyring) remember(keys signingKeys) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.readAt = &keys, r.store.config.Clock.Now()
}

// renew makes the keys when there are none, and rotates them when they are due: of nodes that do so at once one does, and
// all get the same.
func (r *keyring) renew(ctx context.Context) (keys signingKeys, err error) {
	var fresh []signingKey // made once, however often the compare-and-set is lost
	err = r.store.contest(ctx, func() (bool, error) {
		read, raw, err := r.load(ctx)
		now := r.store.config.Clock.Now()
		missing := errors.Is(err, errNoSigningKeys)
		if err != nil && !missing || err == nil && !read.due(now) {
			keys = read
			return true, err
		}
		needed := 1
		if missing {
			needed = 2
		}
		if fresh, err = r.make(needed, fresh); err != nil {
			return false, err
		}
		if missing {
			keys = signingKeys{Current: fresh[0], Next: fresh[1], Since: now.UTC()}
		} else {
			keys = read.rotated(fresh[0], now)
		}
		return r.put(ctx, raw, keys)
	})
	return keys, err
}

func (r *keyring) put(ctx context.Context, read []byte, keys signingKeys) (bool, error) {
	value, err := r.store.config.Cipher.encryptJSON(r.place(), keys.plain())
	if err != nil {
		return false, filehost.E(filehost.Internal, "The signing keys could not be encrypted.", err)
	}
	won, err := r.store.config.KV.CompareAndSet(ctx, r.key(), read, value, signingKeysKept)
	if err != nil {
		return false, storeFailed(err)
	}
	if won {
		r.remember(keys)
	}
	return won, nil
}

// replace puts new keys in the place of whatever there is. Nodes that have read the old ones sign with them for a minute.
func (r *keyring) replace(ctx context.Context) error {
	fresh, err := r.make(2, nil)
	if err != nil {
		return err
	}
	return r.store.contest(ctx, func() (bool, error) {
		raw, err := r.store.config.KV.Get(ctx, r.key())
		if err != nil {
			return false, storeFailed(err)
		}
		return r.put(ctx, raw, signingKeys{Current: fresh[0], Next: fresh[1], Since: r.store.config.Clock.Now().UTC()})
	})
}

// make adds keys to those that were made already, until there are enough.
func (r *keyring) make(count int, made []signingKey) ([]signingKey, error) {
	for len(made) < count {
		key, err := r.generate()
		if err != nil {
			return nil, filehost.E(filehost.Internal, "A signing key could not be made.", err)
		}
		made = append(made, key)
	}
	return made, nil
}

// KeepSigningKeys makes the keys that the plugin signs with, and rotates them when they are due, until ctx ends. It
// returns at once where nothing is signed.
func (s *Store) KeepSigningKeys(ctx context.Context) {
	for s.keyring != nil && ctx.Err() == nil {
		wait := keyWatch
		if err := filehost.Recovered(func() error { _, err := s.keyring.renew(ctx); return err }); err != nil && ctx.Err() == nil {
			s.config.Log.Error("The signing keys could not be made or rotated.", "host", s.config.Host.ID, "error", err.Error())
			wait = keyWatchRetry
		}
		_ = s.pause(ctx, wait)
	}
}

// signsNothing is the error of a configuration without keys.
func signsNothing() error {
	return filehost.E(filehost.NotFound, "The plugin signs nothing under its settings.", nil)
}

// ReplaceKeys implements filehost.Issuer.
func (s *Store) ReplaceKeys(ctx context.Context) error {
	if s.keyring == nil {
		return signsNothing()
	}
	return s.keyring.replace(ctx)
}

// JWKS implements filehost.Issuer.
func (s *Store) JWKS(ctx context.Context) ([]byte, error) {
	if s.keyring == nil {
		return nil, signsNothing()
	}
	keys, err := s.keyring.read(ctx)
	if errors.Is(err, errNoSigningKeys) {
		return nil, filehost.E(filehost.NotFound, "The plugin has no signing keys yet. Try again in a minute.", err)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(keys.published(s.config.Clock.Now()))
}
