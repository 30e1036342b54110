package tokens

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// expiryMargin is taken off a token's lifetime, but never more than half of it: for the way to the host, and for its
// clock.
const expiryMargin = 45 * time.Second

// maxAccountBytes is the longest account that is kept. A longer one counts as not said, and so does one that can't be
// shown to people.
const maxAccountBytes = 1024

// tokenErrorCodes are the codes of RFC 6749 5.2, and what else servers answer to a token exchange: RFC 8693 2.2.2, Dex and
// Zitadel. Only these are repeated: a server may put anything into its answer.
var tokenErrorCodes = []string{
	"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
	"invalid_target", "access_denied", "request_not_supported",
}

// tokenError is a failed call of the token endpoint. It holds nothing of the request, and of the answer only the status
// and a known error code.
type tokenError struct {
	Status int    // 0 = no answer
	Code   string // one of tokenErrorCodes, in an answer of 400 or 401; or ""
	Err    error  // why there is no answer, or none that can be read

	denied     bool // an answer of 403 with one of tokenErrorCodes, which is how Zitadel says access_denied
	aboutActor bool // it blames the actor_token by that name (RFC 8693 2.1)
	client     bool // this server says it of the plugin's client
	noUser     bool // this server misses the user, whose grant is good for all that
}

// Error implements error.
func (e *tokenError) Error() string {
	switch {
	case e.Status == 0:
		return fmt.Sprintf("token endpoint: %v", e.Err)
	case e.Code == "":
		return fmt.Sprintf("token endpoint: status %d without a known error code", e.Status)
	}
	return fmt.Sprintf("token endpoint: status %d, %s", e.Status, e.Code)
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *tokenError) Unwrap() error { return e.Err }

// failedWith tells whether a call failed with one of these codes.
func failedWith(err error, codes ...string) bool {
	var failed *tokenError
	return errors.As(err, &failed) && failed.Code != "" && slices.Contains(codes, failed.Code)
}

func failedWithStatus(err error, status int) bool {
	var failed *tokenError
	return errors.As(err, &failed) && failed.Status == status
}

// issued is what a token endpoint gave (RFC 6749 5.1).
type issued struct {
	AccessToken  filehost.Secret
	RefreshToken filehost.Secret // the one sent where the answer has none
	UsableUntil  time.Time       // zero = until it is rejected
	Account      string          // "" = the answer names no user
	Username     string          // the token goes with it as a password does (RFC 7617); "" = as a bearer token
	Scope        []string        // nil = the answer names no scope
	IDToken      filehost.Secret // as it came (OpenID Connect Core 3.1.3.3); empty = there is none
	TokenType    string          // as it came (RFC 6749 7.1)
	IssuedType   string          // of the access token, in answers to a token exchange (RFC 8693 2.2.1)
}

// redeem exchanges a code (RFC 6749 4.1.3, RFC 7636 4.5). It makes one request.
func (s *Store) redeem(ctx context.Context, at endpoints, begun signIn, code string) (issued, error) {
	return s.askTokens(filehost.ForUser(ctx, begun.UserID), begun.UserID, func(ctx context.Context) (*oauth2.Token, error) {
		return s.client(at, begun.RedirectURI).Exchange(ctx, code, oauth2.VerifierOption(begun.Verifier))
	})
}

// spend exchanges a refresh token (RFC 6749 6). It makes one request.
func (s *Store) spend(ctx context.Context, at endpoints, refreshToken filehost.Secret) (issued, error) {
	return s.askTokens(ctx, "", func(ctx context.Context) (*oauth2.Token, error) {
		return s.client(at, "").TokenSource(ctx, &oauth2.Token{RefreshToken: refreshToken.Reveal()}).Token()
	})
}

// askTokens makes a call with a user's code, or with a refresh token where codeOf is "".
func (s *Store) askTokens(ctx context.Context, codeOf string, call func(context.Context) (*oauth2.Token, error)) (issued, error) {
	if err := s.resting(codeOf); err != nil {
		return issued{}, err
	}
	answer, failed := s.callTokenEndpoint(ctx, call)
	s.restAfter(failed, s.noteExchange(failed, codeOf))
	if failed != nil {
		return issued{}, failed
	}
	return answer, nil
}

// callTokenEndpoint makes a call within its time and reads the answer.
func (s *Store) callTokenEndpoint(ctx context.Context, call func(context.Context) (*oauth2.Token, error)) (issued, *tokenError) {
	ctx, cancel := s.withTimeout(ctx, exchangeLimit)
	defer cancel()
	token, err := call(context.WithValue(ctx, oauth2.HTTPClient, s.config.Client))
	switch {
	case err != nil:
		return issued{}, s.provider.profile.read(tokenCallFailed(ctx, err))
	case !strings.EqualFold(token.Type(), string(filehost.Bearer)) || !sendable(token.AccessToken):
		return issued{}, &tokenError{Err: fmt.Errorf("%w: the token is not one that can be used as a bearer token", errUnreadable)}
	}
	result := issued{
		AccessToken:  filehost.NewSecret(token.AccessToken),
		RefreshToken: filehost.NewSecret(token.RefreshToken),
		UsableUntil:  usableUntil(s.config.Clock.Now(), lifetime(token)),
		TokenType:    token.TokenType,
	}
	result.IssuedType, _ = token.Extra("issued_token_type").(string)
	if account, _ := token.Extra("user_id").(string); usableAccount(account) {
		result.Account = account
	}
	if idToken, _ := token.Extra("id_token").(string); idToken != "" {
		result.IDToken = filehost.NewSecret(idToken)
	}
	if scope, _ := token.Extra("scope").(string); scope != "" {
		result.Scope = strings.Fields(scope)
	}
	return result, nil
}

// usableAccount tells whether what a sign-in server calls a user is kept: it is shown to people, and some hosts have it in
// the addresses of his files.
func usableAccount(account string) bool {
	_, ok := filehost.Root.Join(account)
	return ok && filehost.Shown(account, maxAccountBytes)
}

// tokenCallFailed strips a library's error, which holds the whole answer, to what may be known of it.
func tokenCallFailed(ctx context.Context, err error) *tokenError {
	var answer *oauth2.RetrieveError
	var transport *url.Error
	switch {
	case errors.As(err, &answer):
		failed := &tokenError{Status: answer.Response.StatusCode}
		// What any other status says comes from an outage, a throttle or a proxy, and is no judgement (RFC 6749 5.2).
		judged := failed.Status == http.StatusBadRequest || failed.Status == http.StatusUnauthorized
		known := slices.Contains(tokenErrorCodes, answer.ErrorCode)
		if judged && known {
			failed.Code = answer.ErrorCode
		}
		failed.denied = failed.Status == http.StatusForbidden && known
		failed.noUser = judged && answer.ErrorDescription == "user not found"
		return failed
	case errors.As(err, &transport):
		return &tokenError{Err: callFailed(ctx, err)}
	}
	return &tokenError{Err: errUnreadable}
}

const clientRefusedMessage = "The sign-in server refused the plugin's client id or secret."

func clientRefused(err error) bool {
	var failed *tokenError
	return failedWith(err, "invalid_client", "unauthorized_client") || errors.As(err, &failed) && failed.client
}

// read takes a failure for what it means at this kind of server.
func (p profile) read(failed *tokenError) *tokenError {
	failed.client = slices.Contains(p.refusesClient, failed.Code)
	failed.noUser = failed.noUser && failed.Code == "invalid_grant" && p.missesUsers
	return failed
}

// userMissing tells whether a call failed as it does for who has no account any more, and while the directory is out.
func userMissing(err error) bool {
	var failed *tokenError
	return errors.As(err, &failed) && failed.noUser
}

// callFailed is the reason of a call that got no answer, without the URL, and with the time-out named as such.
func callFailed(ctx context.Context, err error) error {
	var transport *url.Error
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)
	case errors.As(err, &transport) && quotes(transport.Err):
		return newWordless(transport.Err)
	case errors.As(err, &transport):
		return transport.Err
	}
	return err
}

// wordless stands for an error whose words, and those of its causes, repeat what the server has sent. What an admin can do
// about it is kept.
type wordless struct {
	remedy func(name, setting string) string
}

func newWordless(err error) *wordless {
	return &wordless{func(name, setting string) string { return filehost.WayRemedy(err, name, setting) }}
}

// Error implements error.
func (*wordless) Error() string { return "the answer is not one of HTTP" }

// Remedy says what the error itself would.
func (w *wordless) Remedy(name, setting string) string { return w.remedy(name, setting) }

// quotes tells whether the transport's error repeats what the server has sent, which may be what it was sent itself.
func quotes(err error) bool {
	var header textproto.ProtocolError
	return errors.As(err, &header) || strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), `"`)
}

// lifetime is expires_in; 0 when the server doesn't say.
func lifetime(token *oauth2.Token) time.Duration {
	seconds := token.ExpiresIn
	if seconds == 0 {
		switch given := token.Extra("expires_in").(type) {
		case float64: // which the library does not always hand on
			seconds = int64(max(0, min(given, 1<<31)))
		case int64:
			seconds = given
		case string:
			seconds, _ = strconv.ParseInt(given, 10, 32)
		}
	}
	return time.Duration(max(0, min(seconds, 1<<31))) * time.Second
}

func usableUntil(received time.Time, lifetime time.Duration) time.Time {
	if lifetime == 0 {
		return time.Time{}
	}
	return received.Add(lifetime - min(expiryMargin, lifetime/2)).UTC()
}

// sendable tells whether a token, or a code, is what the standard lets it be, so that it fits into a header (RFC 6749 A.11, A.12).
func sendable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return text != ""
}

// revoke revokes a token as well as it can (RFC 7009 2.1).
func (s *Store) revoke(ctx context.Context, at endpoints, token filehost.Secret, hint string) {
	if token.IsEmpty() || at.Revocation == "" {
		return
	}
	ctx, cancel := s.withTimeout(ctx, callLimit)
	defer cancel()
	form := url.Values{"token": {token.Reveal()}, "token_type_hint": {hint}}
	id, secret := s.provider.OAuth.ClientID, s.provider.OAuth.ClientSecret
	if at.ClientAuth == authInBody {
		form.Set("client_id", id)
		if !secret.IsEmpty() {
			form.Set("client_secret", secret.Reveal())
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.Revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if at.ClientAuth != authInBody {
		request.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret.Reveal())) // RFC 6749 2.3.1
	}
	response, err := s.config.Client.Do(request)
	if err != nil {
		s.config.Log.Warn("A token could not be revoked.", "host", s.config.Host.ID, "error", callFailed(ctx, err).Error())
		return
	}
	_ = response.Body.Close()
	if response.StatusCode/100 != 2 {
		s.config.Log.Warn("A token could not be revoked.", "host", s.config.Host.ID, "status", response.StatusCode)
	}
}
