package tokens

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	keysLifetime = metadataLifetime // a key that the server has withdrawn is trusted no longer than this
	keysPause    = 10 * time.Second // between two requests for the keys, whatever wants them
	maxKeys      = 100

	minRSABits = 2048 // RFC 7518 3.3; go-jose takes 8192 at most
)

// providerKeys remembers the keys that the sign-in server signs ID tokens with.
type providerKeys struct {
	mu   sync.Mutex
	seen seenKeys
}

// seenKeys are the keys of one document (RFC 7517 5), as last read.
type seenKeys struct {
	address string
	keys    []jose.JSONWebKey
	readAt  time.Time // when they came; zero = never
	askedAt time.Time // when the document was asked for last
	failure error     // of that request; nil = it brought keys
}

// keysError means that there is no telling about a signature: the keys can't be had at the moment.
type keysError struct{ cause error }

// Error implements error.
func (e *keysError) Error() string { return "the keys of ID tokens can't be had: " + e.cause.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *keysError) Unwrap() error { return e.cause }

// errNoKeys means a document of keys without one that an ID token could be checked with.
var errNoKeys = errors.New("there is no key in it that can be used")

func (k *providerKeys) of(address string) seenKeys {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seen.address != address {
		return seenKeys{address: address}
	}
	return k.seen
}

func (k *providerKeys) put(seen seenKeys) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen = seen
}

// providerKeys returns the keys that the server publishes at an address, read no longer ago than maxAge. Callers of one
// moment share a request, and however often they want newer keys, it is one in keysPause: what key id a token names is
// the server's to say. It fails with keysError.
func (s *Store) providerKeys(ctx context.Context, address string, maxAge time.Duration) (seenKeys, error) {
	cache := &s.provider.keys
	if seen := cache.of(address); !seen.readAt.IsZero() && s.config.Clock.Since(seen.readAt) < maxAge {
		return seen, nil
	}
	seen, err := shared(ctx, s, "keys of "+address, func(ctx context.Context) (seenKeys, error) {
		seen, now := cache.of(address), s.config.Clock.Now()
		if !seen.askedAt.IsZero() && now.Sub(seen.askedAt) < keysPause {
			return seen, seen.failure
		}
		keys, err := s.readKeys(ctx, address)
		seen.askedAt, seen.failure = now, err
		if err == nil {
			seen.keys, seen.readAt = keys, now
		}
		cache.put(seen)
		return seen, err
	})
	if err != nil {
		return seenKeys{}, &keysError{err}
	}
	return seen, nil
}

// readKeys asks for a document of keys and returns those that ID tokens can be checked with. The others may be there for
// other uses and other clients (RFC 7517 5).
func (s *Store) readKeys(ctx context.Context, address string) ([]jose.JSONWebKey, error) {
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.getJSON(ctx, address, filehost.Secret{}, &document); err != nil {
		return nil, err
	}
	keys := usableKeys(document.Keys)
	if len(keys) == 0 {
		return nil, errNoKeys
	}
	return keys, nil
}

func usableKeys(published []json.RawMessage) []jose.JSONWebKey {
	var keys []jose.JSONWebKey
	for _, raw := range published[:min(len(published), maxKeys)] {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && usableKey(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func usableKey(key jose.JSONWebKey) bool {
	if key.Use != "" && key.Use != "sig" || key.Algorithm != "" && !slices.Contains(idTokenAlgorithms, key.Algorithm) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false // a private key, or one that both sides know
}

// signatureCheck implements oidc.KeySet for one ID token, and tells afterwards how the check went.
type signatureCheck struct {
	store   *Store
	address string // of the keys
	// lenient lets a signature pass while the keys can't be had: the token came over TLS from the token endpoint
	// (OpenID Connect Core 3.1.3.7, 6), and more would be lost than is at stake.
	lenient bool

	passed bool
	failed *keysError // why there is no telling
}

var errSignature = errors.New("no key of the server has made this signature")

// VerifySignature implements oidc.KeySet. The verifier has checked the algorithm. A signature that no known key has made
// is checked with newer ones as well: servers replace keys, some without a new key id.
func (c *signatureCheck) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, signatureAlgorithms(idTokenAlgorithms))
	if err != nil {
		return nil, err
	}
	begun := c.store.config.Clock.Now()
	for _, maxAge := range []time.Duration{keysLifetime, 0} {
		seen, err := c.store.providerKeys(ctx, c.address, maxAge)
		if err != nil {
			return c.untold(signed, err)
		}
		if payload, ok := verifiedBy(seen.keys, signed); ok {
			c.passed = true
			return payload, nil
		}
		if maxAge == 0 && seen.readAt.Before(begun) {
			return c.untold(signed, &keysError{errKeysSpared})
		}
	}
	return nil, errSignature
}

// errKeysSpared means that a key is unknown, and that newer ones were read so lately that they are not asked for again.
var errKeysSpared = errors.New("the key is unknown, and the server was asked for its keys a few seconds ago")

func (c *signatureCheck) untold(signed *jose.JSONWebSignature, err error) ([]byte, error) {
	errors.As(err, &c.failed)
	if !c.lenient {
		return nil, err
	}
	c.passed = true
	return signed.UnsafePayloadWithoutVerification(), nil
}

func verifiedBy(keys []jose.JSONWebKey, signed *jose.JSONWebSignature) ([]byte, bool) {
	id := signed.Signatures[0].Header.KeyID
	for _, key := range keys {
		if id != "" && key.KeyID != "" && key.KeyID != id {
			continue
		}
		if payload, err := signed.Verify(key.Key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

func signatureAlgorithms(names []string) []jose.SignatureAlgorithm {
	algorithms := make([]jose.SignatureAlgorithm, len(names))
	for i, name := range names {
		algorithms[i] = jose.SignatureAlgorithm(name)
	}
	return algorithms
}
