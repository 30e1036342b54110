package tokens

import (
	"context"
	"errors"
	"fmt"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// errRefusals means that a method that needs no act of the users has refused several of them.
var errRefusals = errors.New("users are refused one after another")

// signingRemedy is the error of a health check for keys that nobody can sign with; nil = there is nothing to be signed, or
// all is well. A store that fails is another check's concern.
func (s *Store) signingRemedy(ctx context.Context) error {
	if s.keyring == nil {
		return nil
	}
	_, err := s.keyring.read(ctx)
	if !errors.Is(err, errUnknownKey) && !errors.Is(err, errForged) {
		return nil
	}
	return filehost.E(filehost.NotConfigured, "the keys that the plugin signs with can't be read, so that nobody is vouched for: restore the encryption key that they were made under (“"+
		filehost.LabelPreviousKey+"”), or replace them (DELETE /admin/signing-keys).", err)
}

// declinedRemedy is the error of a health check for settings under which the sign-in server gives nobody a token by a
// grant that the plugin makes itself. It names the setting that the error code is about. What one user alone has met may
// be about him: it is a warning.
func (s *Store) declinedRemedy(declined finding) error {
	failed := declined.failed
	tell := func(what string) error {
		if !declined.counts() {
			return &filehost.Degraded{Err: failed, Remedy: fmt.Sprintf(
				"the sign-in server (%s) declined one user's request for a token (%s): if others fail as well, %s If not, it has something against this user there.",
				s.provider.server, failed.Code, what)}
		}
		return filehost.E(filehost.NotConfigured, fmt.Sprintf(
			"the sign-in server (%s) declined the last users' requests for a token (%s): %s It is tried again after five minutes, or at once with new settings.",
			s.provider.server, failed.Code, what), failed)
	}
	switch {
	case failed.aboutActor:
		return tell("enter a token that is valid there, of an account that may act for others, as “" + filehost.LabelActorToken + "”.")
	case failed.Code == "invalid_scope":
		return tell("correct “" + filehost.LabelOAuthScopes + "”, or allow the plugin's client there to have them.")
	case failed.Code == "invalid_target":
		return tell("correct “" + filehost.LabelExchangeAudience + "” and “" + filehost.LabelExchangeResource + "”, or allow the plugin's client there to ask for them.")
	case failed.Code == "request_not_supported":
		return tell("choose another “" + filehost.LabelExchangeSubject + "”: Dex wants an ID token.")
	}
	return tell("allow the plugin's client there the grant that “" + filehost.LabelSignIn + "” needs, or choose another method.")
}

// refusalsRemedy is the error of a health check for users who were refused, several in a row or the first ones; nil = there
// are none. They may all be without an account there; but so it also looks when the sign-in server trusts the plugin not
// at all, or the host the tokens.
func (s *Store) refusalsRemedy(name string, refused refusals) error {
	if !refused.counts() || s.config.Clock.Since(refused.at) >= refusalTime {
		return nil
	}
	if refused.code == "" {
		return &filehost.Degraded{Err: errRefusals, Remedy: fmt.Sprintf(
			"%s refused the last users' tokens, which %s gives: let it accept them (whom they are for is set by “%s” or “%s”), or make accounts for these users there.",
			s.config.Host.Name, name, filehost.LabelExchangeAudience, filehost.LabelOAuthScopes)}
	}
	check := fmt.Sprintf("that it knows the plugin as the issuer %s, with the keys at %s/jwks.json, that “%s” is right, ", s.config.Issuer, s.config.Issuer, filehost.LabelAssertion)
	switch {
	case s.keyring == nil:
		check = fmt.Sprintf("that the account of “%s” may act for these users, ", filehost.LabelActorToken)
	case s.config.Methods[0] == filehost.MethodTokenExchange:
		check += fmt.Sprintf("and “%s” as well, ", filehost.LabelConnectorID)
	}
	return &filehost.Degraded{Err: errRefusals, Remedy: fmt.Sprintf(
		"%s refused the last users (%s): check %sand that “%s” names them as they are known or linked there.", name, refused.code, check, filehost.LabelSubjectClaim)}
}
