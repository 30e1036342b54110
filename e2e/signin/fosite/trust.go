package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/go-jose/go-jose/v3"
	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/rfc7523"
	"github.com/ory/fosite/storage"
)

// maxKeysBytes is how long the trusted issuer's document of keys may be.
const maxKeysBytes = 1 << 20

// trust says whose assertions count.
type trust struct {
	*storage.MemoryStore
	settings settings
	client   *http.Client
}

var (
	_ rfc7523.RFC7523KeyStorage = (*trust)(nil)

	errNotTrusted = fmt.Errorf("%w: no key is trusted for this issuer and subject", fosite.ErrNotFound)
)

// GetPublicKey implements rfc7523.RFC7523KeyStorage.
func (t *trust) GetPublicKey(ctx context.Context, issuer, subject, keyID string) (*jose.JSONWebKey, error) {
	keys, err := t.GetPublicKeys(ctx, issuer, subject)
	if err != nil {
		return nil, err
	}
	for _, key := range keys.Key(keyID) {
		if key.IsPublic() && key.Algorithm == string(jose.RS256) {
			return &key, nil
		}
	}
	return nil, errNotTrusted
}

// GetPublicKeys implements rfc7523.RFC7523KeyStorage.
func (t *trust) GetPublicKeys(ctx context.Context, issuer, subject string) (*jose.JSONWebKeySet, error) {
	linked, err := t.linked(subject)
	if err != nil {
		return nil, err
	}
	if issuer != t.settings.Trusted || !linked {
		return nil, errNotTrusted
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.settings.Keys, nil)
	if err != nil {
		return nil, err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer's keys: %s", response.Status)
	}
	var keys jose.JSONWebKeySet
	return &keys, json.NewDecoder(io.LimitReader(response.Body, maxKeysBytes)).Decode(&keys)
}

// GetPublicKeyScopes implements rfc7523.RFC7523KeyStorage.
func (t *trust) GetPublicKeyScopes(context.Context, string, string, string) ([]string, error) {
	return t.settings.Scopes, nil
}

// linked tells whether somebody has linked the subject with an account.
func (t *trust) linked(subject string) (bool, error) {
	content, err := os.ReadFile(t.settings.Links)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var links map[string]string
	if err := json.Unmarshal(content, &links); err != nil {
		return false, err
	}
	return links[subject] != "", nil
}
