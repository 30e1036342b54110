package tokens

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	maxUsernameBytes = 255
	maxPasswordBytes = 1024
)

// ConnectWithPassword implements filehost.Connections. It works whatever the configured method is: who may use it is
// the caller's to decide.
func (s *Store) ConnectWithPassword(ctx context.Context, userID, username string, password filehost.Secret) error {
	if err := checkText("username", username, maxUsernameBytes); err != nil {
		return err
	}
	if strings.Contains(username, ":") { // RFC 7617 2
		return filehost.Invalid("username", "The user name must not hold a colon.")
	}
	if err := checkText("password", password.Reveal(), maxPasswordBytes); err != nil {
		return err
	}
	credential := filehost.Credential{Scheme: filehost.Basic, Username: username, Secret: password, UserID: userID}
	account, err := s.tryPassword(ctx, credential)
	if err != nil {
		return err
	}
	fresh := record{Grant: passwordGrant, Account: account, Username: username, Password: password}
	fresh.Scheme = s.provenScheme(ctx, fresh.credential())
	if s.config.AppTokens != nil {
		if err := s.mayConnect(ctx, userID); err != nil {
			return err // to look for a token among its user's takes long
		}
		// As well as it can: without it the host's refusal tells.
		fresh.UsableUntil, _ = s.config.AppTokens.AppTokenExpiry(ctx, credential)
	}
	return s.save(ctx, userID, fresh)
}

// tryPassword sends a password that its user has typed, and returns the account that it is good for. One that the host has
// refused lately is not sent again.
func (s *Store) tryPassword(ctx context.Context, typed filehost.Credential) (account string, err error) {
	name := s.config.Host.Name
	fingerprint, err := s.config.Cipher.fingerprint(attemptsPurpose, typed.UserID, s.config.Host.Origin(), typed.Username, typed.Secret.Reveal())
	if err != nil {
		return "", filehost.E(filehost.Internal, "The sign-in could not be prepared.", err)
	}
	refused, err := s.wasRefused(ctx, typed.UserID, fingerprint)
	switch {
	case err != nil:
		return "", err
	case refused:
		return "", filehost.Invalid("password", name+" did not accept this user name and password a short while ago, so they were not sent again. Enter others, or try again in half an hour.")
	}
	err = s.attempt(ctx, typed.UserID, func() (err error) {
		account, err = s.config.Account(ctx, typed)
		return err
	})
	if filehost.KindOf(err) == filehost.CredentialRejected {
		s.noteRefused(ctx, typed.UserID, fingerprint)
		return "", filehost.Invalid("password", name+" did not accept this user name and password.")
	}
	return account, err
}

// provenScheme returns how a password goes to the host from now on: as a bearer token where the host takes it so. There a
// throttle for failed sign-ins, which may be another user's from the same address, does not stop it. What was proved is
// the way to the files; a host that can't be asked just now gets it by Basic.
func (s *Store) provenScheme(ctx context.Context, accepted filehost.Credential) filehost.Scheme {
	if !profiles[s.config.Host.Kind].bearsPassword || s.config.Probe == nil {
		return filehost.Basic
	}
	accepted.Scheme = filehost.Bearer
	if s.config.Probe(ctx, accepted) != nil {
		return filehost.Basic
	}
	return filehost.Bearer
}

// checkText says what is wrong with a field, without a word of it.
func checkText(field, text string, limit int) error {
	switch {
	case text == "":
		return filehost.Invalid(field, "The "+field+" is empty.")
	case len(text) > limit:
		return &filehost.Error{Kind: filehost.InvalidRequest, Field: field, Message: "The " + field + " is too long.", Limit: int64(limit)}
	case !utf8.ValidString(text), strings.ContainsFunc(text, unicode.IsControl):
		return filehost.Invalid(field, "The "+field+" holds a control character.")
	}
	return nil
}
