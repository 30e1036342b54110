package tokens

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	heldTime = 5 * time.Minute
	maxTries = 5 // wrong codes per held sign-in

	confirmLetters  = "23456789ABCDEFGHJKMNPQRSTUVWXYZ" // nothing that is read as something else
	confirmLength   = 8
	maxHandleBytes  = 128
	maxConfirmBytes = 64
)

// heldCode is a code whose callback came without a Mattermost session: from the external browser of a mobile or desktop
// app. It waits, unspent, for the user who began to type what the page shows. A user has one at most, the latest.
type heldCode struct {
	SignIn   signIn    `json:"sign_in"`
	Code     string    `json:"code"` // RFC 6749 4.1.2
	Page     string    `json:"page"` // the handle of the page
	Confirm  string    `json:"confirm"`
	Tries    int       `json:"tries"` // wrong ones so far
	Deadline time.Time `json:"deadline"`
}

// Format implements fmt.Formatter without the codes.
func (h heldCode) Format(out fmt.State, verb rune) { h.SignIn.Format(out, verb) }

// confirmPage leads from the handle of a page to whose held code it shows.
type confirmPage struct {
	UserID string `json:"user_id"`
}

// hold keeps a code for Confirm and returns the handle of the page that shows what to type.
func (s *Store) hold(ctx context.Context, begun signIn, code string) (string, error) {
	confirm, err := newConfirmCode()
	if err != nil {
		return "", filehost.E(filehost.Internal, "No code could be made.", err)
	}
	handle := rand.Text()
	held := heldCode{
		SignIn: begun, Code: code, Page: handle, Confirm: confirm,
		Deadline: s.config.Clock.Now().Add(heldTime).UTC(),
	}
	err = s.contest(ctx, func() (bool, error) {
		old, err := s.config.KV.Get(ctx, s.key("held_", begun.UserID))
		if err != nil {
			return false, storeFailed(err)
		}
		return s.putHeld(ctx, old, held)
	})
	if err != nil {
		return "", err
	}
	key := s.key("page_", handle)
	raw, err := s.config.Cipher.encryptJSON(s.place(pagePurpose, key), confirmPage{begun.UserID})
	if err == nil {
		_, err = s.config.KV.CompareAndSet(ctx, key, nil, raw, heldTime)
	}
	if err != nil {
		return "", storeFailed(err)
	}
	return handle, nil
}

func (s *Store) putHeld(ctx context.Context, old []byte, held heldCode) (bool, error) {
	user := held.SignIn.UserID
	raw, err := s.config.Cipher.encryptJSON(s.place(heldPurpose, user), held)
	if err != nil {
		return false, filehost.E(filehost.Internal, "The sign-in could not be encrypted.", err)
	}
	won, err := s.config.KV.CompareAndSet(ctx, s.key("held_", user), old, raw, held.Deadline.Sub(s.config.Clock.Now()))
	if err != nil {
		return false, storeFailed(err)
	}
	return won, nil
}

// heldOf returns the held code of a user and the bytes it was read from; nil when there is none that can be used.
func (s *Store) heldOf(ctx context.Context, userID string) (*heldCode, []byte, error) {
	raw, err := s.config.KV.Get(ctx, s.key("held_", userID))
	if err != nil {
		return nil, nil, storeFailed(err)
	}
	var held heldCode
	if raw == nil || s.config.Cipher.decryptJSON(s.place(heldPurpose, userID), raw, &held) != nil {
		return nil, nil, nil
	}
	if !s.config.Clock.Now().Before(held.Deadline) || !s.begunHere(held.SignIn) {
		return nil, nil, nil
	}
	return &held, raw, nil
}

// Confirmation implements filehost.Connections.
func (s *Store) Confirmation(ctx context.Context, handle string) (filehost.Confirmation, error) {
	none := filehost.E(filehost.NotFound, "This sign-in took too long or was replaced by another. Begin again in Mattermost.", nil)
	if !s.signsIn() || handle == "" || len(handle) > maxHandleBytes {
		return filehost.Confirmation{}, none
	}
	key := s.key("page_", handle)
	raw, err := s.config.KV.Get(ctx, key)
	if err != nil {
		return filehost.Confirmation{}, storeFailed(err)
	}
	var page confirmPage
	if raw == nil || s.config.Cipher.decryptJSON(s.place(pagePurpose, key), raw, &page) != nil {
		return filehost.Confirmation{}, none
	}
	held, _, err := s.heldOf(ctx, page.UserID)
	if err != nil {
		return filehost.Confirmation{}, err
	}
	if held == nil || subtle.ConstantTimeCompare([]byte(held.Page), []byte(handle)) != 1 {
		return filehost.Confirmation{}, none
	}
	shown := held.Confirm[:confirmLength/2] + "-" + held.Confirm[confirmLength/2:]
	return filehost.Confirmation{BeganBy: page.UserID, Code: shown}, nil
}

// Confirm implements filehost.Connections. Every answer, right or wrong, first wins a compare-and-set, so that guesses
// made at once are counted like guesses made in turn.
func (s *Store) Confirm(ctx context.Context, userID, code string) error {
	if !s.signsIn() {
		return s.noOAuth()
	}
	at, err := s.endpoints(ctx)
	if err != nil {
		return err // before anything is spent
	}
	var confirmed *heldCode
	err = s.contest(ctx, func() (bool, error) {
		held, raw, err := s.heldOf(ctx, userID)
		switch {
		case err != nil:
			return false, err
		case held == nil:
			return false, filehost.Invalid("confirm", "There is no sign-in to confirm. It may have taken too long: begin again.")
		}
		right := subtle.ConstantTimeCompare([]byte(held.Confirm), []byte(normalised(code))) == 1
		held.Tries++
		if !right && held.Tries < maxTries {
			return s.putHeld(ctx, raw, *held)
		}
		won, err := s.config.KV.CompareAndDelete(ctx, s.key("held_", userID), raw)
		if err != nil {
			return false, storeFailed(err)
		}
		if won && right {
			confirmed = held
		}
		return won, nil
	})
	switch {
	case err != nil:
		return err
	case confirmed == nil:
		return filehost.Invalid("confirm", "This is not the code that the page shows. After five wrong ones you have to begin again.")
	}
	return s.finish(ctx, at, confirmed.SignIn, confirmed.Code)
}

// newConfirmCode returns 8 letters and digits, each as likely as any other: 39 bits against five tries.
func newConfirmCode() (string, error) {
	code := make([]byte, confirmLength)
	for i := range code {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(confirmLetters))))
		if err != nil {
			return "", err
		}
		code[i] = confirmLetters[n.Int64()]
	}
	return string(code), nil
}

// normalised is a code as it was made, however it was typed.
func normalised(typed string) string {
	if len(typed) > maxConfirmBytes {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToUpper(typed))
}
