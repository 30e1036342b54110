package tokens

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	signInTime    = 10 * time.Minute
	maxStateBytes = 128
)

// signIn is an authorization code grant that a user has begun. It is stored under the hash of its state.
type signIn struct {
	UserID      string    `json:"user_id"`
	Key         string    `json:"key"` // under which it is stored
	StateHash   []byte    `json:"state_hash"`
	Verifier    string    `json:"verifier"` // RFC 7636 4.1
	RedirectURI string    `json:"redirect_uri"`
	Origin      string    `json:"origin"`
	ClientID    string    `json:"client_id"`
	Server      string    `json:"server"`
	Scopes      []string  `json:"scopes,omitempty"` // what is asked for
	Nonce       string    `json:"nonce,omitempty"`  // of the ID token; "" = none is asked for
	Deadline    time.Time `json:"deadline"`
}

// Format implements fmt.Formatter without the verifier and the nonce.
func (b signIn) Format(out fmt.State, _ rune) { _, _ = fmt.Fprintf(out, "signIn(%s)", b.UserID) }

// beginSignIn keeps a fresh sign-in and returns it with its state. State and nonce have 130 random bits each.
func (s *Store) beginSignIn(ctx context.Context, userID string, scopes []string) (signIn, string, error) {
	state := rand.Text()
	hash := sha256.Sum256([]byte(state))
	key := s.key("state_", state)
	begun := signIn{
		UserID:      userID,
		Key:         key,
		StateHash:   hash[:],
		Verifier:    oauth2.GenerateVerifier(),
		RedirectURI: s.config.RedirectURI,
		Origin:      s.config.Host.Origin(),
		ClientID:    s.config.OAuth.ClientID,
		Server:      s.provider.binding,
		Scopes:      scopes,
		Deadline:    s.config.Clock.Now().Add(signInTime).UTC(),
	}
	if slices.Contains(scopes, oidc.ScopeOpenID) {
		begun.Nonce = rand.Text()
	}
	raw, err := s.config.Cipher.encryptJSON(s.place(signInPurpose, key), begun)
	if err != nil {
		return signIn{}, "", filehost.E(filehost.Internal, "The sign-in could not be encrypted.", err)
	}
	if err := s.enlist(ctx, begun); err != nil {
		return signIn{}, "", err
	}
	won, err := s.config.KV.CompareAndSet(ctx, key, nil, raw, signInTime)
	if err != nil || !won {
		return signIn{}, "", storeFailed(err)
	}
	return begun, state, nil
}

// findSignIn returns the sign-in of a state, with a function that consumes it: of several calls one succeeds.
func (s *Store) findSignIn(ctx context.Context, state string) (begun signIn, consume func() error, err error) {
	unknown := filehost.Invalid("state", "This sign-in was used already or took too long. Begin again in Mattermost.")
	if state == "" || len(state) > maxStateBytes {
		return signIn{}, nil, unknown
	}
	key := s.key("state_", state)
	raw, err := s.config.KV.Get(ctx, key)
	if err != nil {
		return signIn{}, nil, storeFailed(err)
	}
	if raw == nil || s.config.Cipher.decryptJSON(s.place(signInPurpose, key), raw, &begun) != nil {
		return signIn{}, nil, unknown
	}
	hash := sha256.Sum256([]byte(state))
	if subtle.ConstantTimeCompare(hash[:], begun.StateHash) != 1 ||
		!s.config.Clock.Now().Before(begun.Deadline) || !s.begunHere(begun) {
		return signIn{}, nil, unknown
	}
	return begun, func() error {
		won, err := s.config.KV.CompareAndDelete(ctx, key, raw)
		switch {
		case err != nil:
			return storeFailed(err)
		case !won:
			return unknown
		}
		return nil
	}, nil
}

// begunHere tells whether a sign-in was begun with what is configured now.
func (s *Store) begunHere(begun signIn) bool {
	return begun.Origin == s.config.Host.Origin() &&
		begun.ClientID == s.config.OAuth.ClientID &&
		begun.Server == s.provider.binding
}
