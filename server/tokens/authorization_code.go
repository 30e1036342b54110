package tokens

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const maxCodeBytes = 4096

// Authorize implements filehost.Connections (RFC 6749 4.1.1). The code comes back in the query, and every attempt has a
// PKCE challenge of its own, S256 always (RFC 7636 4.2), and a nonce where an ID token is asked for (OpenID Connect Core
// 3.1.2.1).
func (s *Store) Authorize(ctx context.Context, userID string) (string, error) {
	if !s.signsIn() {
		return "", s.noOAuth()
	}
	at, err := s.endpoints(ctx)
	if err != nil {
		return "", err
	}
	if reason := at.refusal(); reason != "" {
		return "", filehost.E(filehost.NotConfigured, "The sign-in server of "+s.config.Host.Name+" "+reason+". Ask your admin to check the server's configuration.", nil)
	}
	begun, state, err := s.beginSignIn(ctx, userID, at.Scopes)
	if err != nil {
		return "", err
	}
	return s.client(at, begun.RedirectURI).AuthCodeURL(state, s.provider.authorizeOptions(begun)...), nil
}

// authorizeOptions are the parameters of an authorize URL that RFC 6749 does not know.
func (p *provider) authorizeOptions(begun signIn) []oauth2.AuthCodeOption {
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(begun.Verifier)}
	if begun.Nonce == "" {
		return options
	}
	options = append(options, oidc.Nonce(begun.Nonce))
	if slices.Contains(begun.Scopes, oidc.ScopeOfflineAccess) && !p.ownConsent() {
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	return options
}

// signsIn tells whether people may sign in by this grant.
func (s *Store) signsIn() bool { return slices.Contains(s.config.Methods, filehost.MethodOAuth) }

func (s *Store) noOAuth() error {
	return filehost.E(filehost.Unsupported, s.config.Host.Name+" is not connected by signing in on its own page.", nil)
}

// Callback implements filehost.Connections (RFC 6749 4.1.2).
func (s *Store) Callback(ctx context.Context, callback filehost.Callback) (filehost.CallbackResult, error) {
	if !s.signsIn() {
		return filehost.CallbackResult{}, s.noOAuth()
	}
	begun, consume, err := s.findSignIn(ctx, callback.State)
	if err != nil {
		return filehost.CallbackResult{}, err
	}
	if callback.UserID != "" && callback.UserID != begun.UserID {
		// The address with the code is in this user's browser now: no one else may finish with it.
		if err := consume(); err != nil {
			return filehost.CallbackResult{}, err
		}
		return filehost.CallbackResult{}, filehost.E(filehost.Forbidden, "Another Mattermost user has begun this sign-in.", nil)
	}
	at, err := s.endpoints(ctx)
	if err != nil {
		return filehost.CallbackResult{}, err // nothing is spent yet: the page can be loaded again
	}
	if err := consume(); err != nil {
		return filehost.CallbackResult{}, err
	}
	if err := s.checkCallback(callback, at); err != nil {
		return filehost.CallbackResult{}, err
	}
	if callback.UserID == "" {
		page, err := s.hold(ctx, begun, callback.Code)
		return filehost.CallbackResult{ConfirmPage: page}, err
	}
	err = s.finish(ctx, at, begun, callback.Code)
	return filehost.CallbackResult{Connected: err == nil}, err
}

// checkCallback refuses an answer of another server (RFC 9207 2.4), an error, and one without a code.
func (s *Store) checkCallback(callback filehost.Callback, at endpoints) error {
	if at.Issuer != "" && callback.Issuer != at.Issuer && (callback.Issuer != "" || at.IssuerSent) {
		return filehost.Invalid("iss", "The answer is not from the sign-in server of "+s.config.Host.Name+". Begin again in Mattermost.")
	}
	if callback.Error != "" {
		return s.authorizeFailed(callback.Error)
	}
	if !sendable(callback.Code) || len(callback.Code) > maxCodeBytes {
		return filehost.Invalid("code", s.config.Host.Name+" sent no usable code. Begin again in Mattermost.")
	}
	return nil
}

// authorizeFailed words an error code of RFC 6749 4.1.2.1 or OpenID Connect Core 3.1.2.6. The code itself is not
// repeated: it is whatever the address of the callback said.
func (s *Store) authorizeFailed(code string) error {
	name := s.config.Host.Name
	switch code {
	case "access_denied", "interaction_required", "login_required", "consent_required", "account_selection_required":
		return filehost.E(filehost.Forbidden, "You did not allow Mattermost to use "+name+".", nil)
	case "invalid_request", "unauthorized_client", "unsupported_response_type", "invalid_scope":
		return filehost.E(filehost.NotConfigured, "The sign-in server of "+name+" refused the plugin's request. Ask your admin to check the OAuth settings.", errors.New(code))
	}
	return filehost.E(filehost.HostUnavailable, "The sign-in server of "+name+" could not sign you in. Try again later.", nil)
}

// finish redeems the code and keeps the connection.
func (s *Store) finish(ctx context.Context, at endpoints, begun signIn, code string) error {
	var fresh record
	err := s.attempt(ctx, begun.UserID, func() (err error) {
		fresh, err = s.redeemed(ctx, at, begun, code)
		return err
	})
	if err == nil {
		err = s.claim(ctx, begun)
	}
	if err == nil {
		err = s.save(ctx, begun.UserID, fresh)
	}
	if err != nil && fresh.Grant != "" {
		s.revokeAll(context.WithoutCancel(ctx), at, fresh) // nobody will ever use them
	}
	return err
}

// redeemed returns what a code is good for. When it fails, the record may still hold tokens.
func (s *Store) redeemed(ctx context.Context, at endpoints, begun signIn, code string) (record, error) {
	answer, err := s.redeem(ctx, at, begun, code)
	if err != nil {
		return record{}, s.redeemFailed(err)
	}
	fresh := record{
		Grant:        codeGrant,
		ClientID:     s.config.OAuth.ClientID,
		Server:       s.provider.binding,
		Nonce:        begun.Nonce,
		AccessToken:  answer.AccessToken,
		RefreshToken: answer.RefreshToken,
		UsableUntil:  answer.UsableUntil,
	}
	if err := s.checkScope(answer, begun.Scopes); err != nil {
		return fresh, err
	}
	who, err := s.signedInAs(ctx, at, begun, answer)
	if err != nil {
		return fresh, err
	}
	fresh.Subject = who.Subject
	fresh.Account, err = s.account(ctx, at, begun.UserID, answer, who)
	return fresh, err
}

func (s *Store) redeemFailed(err error) error {
	name := s.config.Host.Name
	switch {
	case clientRefused(err):
		return filehost.E(filehost.NotConfigured, clientRefusedMessage, err)
	case failedWith(err, s.provider.profile.deadCode...):
		return filehost.E(filehost.InvalidRequest, "The sign-in at "+name+" was used already or took too long. Begin again in Mattermost.", err)
	case failedWith(err, tokenErrorCodes...):
		return filehost.E(filehost.NotConfigured, "The sign-in server of "+name+" refused the plugin's request. Ask your admin to check the OAuth settings.", err)
	}
	if throttled, ok := s.throttled(err); ok {
		return throttled
	}
	return s.signInServerDown(err)
}

// checkScope compares what was granted with what was asked (RFC 6749 3.3). An answer without a scope grants all.
func (s *Store) checkScope(answer issued, asked []string) error {
	if answer.Scope == nil {
		return nil
	}
	var missing []string
	for _, scope := range asked {
		offline := scope == oidc.ScopeOfflineAccess && !answer.RefreshToken.IsEmpty() // granted, whatever the answer calls it
		if !offline && !slices.Contains(answer.Scope, scope) {
			missing = append(missing, scope)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return filehost.E(filehost.Forbidden, s.config.Host.Name+" did not grant what the plugin needs: "+strings.Join(missing, ", ")+".", nil)
}

// account names the user at the host: as the token answer does, or the host itself, or the sign-in server.
func (s *Store) account(ctx context.Context, at endpoints, userID string, answer issued, who idToken) (string, error) {
	if answer.Account != "" {
		return answer.Account, nil
	}
	account, err := s.config.Account(ctx, filehost.Credential{Scheme: filehost.Bearer, Secret: answer.AccessToken, UserID: userID})
	switch {
	case filehost.KindOf(err) == filehost.CredentialRejected:
		return "", filehost.E(filehost.NotConfigured, s.config.Host.Name+" does not accept the tokens of its sign-in server. Ask your admin to check the OAuth settings.", err)
	case err != nil, account != "":
		return account, err
	case at.UserInfo == "":
		return who.Name, nil
	}
	var user userInfo
	if err := s.getJSON(ctx, at.UserInfo, answer.AccessToken, &user); err != nil {
		return "", s.signInServerDown(err)
	}
	if who.Subject != "" && user.Subject != who.Subject { // OpenID Connect Core 5.3.2
		return "", s.notProven(errUserInfo)
	}
	return cmp.Or(user.name(), who.Name), nil
}
