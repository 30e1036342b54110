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
	var account string
	err := s.attempt(ctx, userID, func() (err error) {
		account, err = s.config.Account(ctx, filehost.Credential{Scheme: filehost.Basic, Username: username, Secret: password, UserID: userID})
		return err
	})
	switch {
	case filehost.KindOf(err) == filehost.CredentialRejected:
		return filehost.Invalid("password", s.config.Host.Name+" did not accept this user name and password.")
	case err != nil:
		return err
	}
	return s.save(ctx, userID, record{Grant: passwordGrant, Account: account, Username: username, Password: password})
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
