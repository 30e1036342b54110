package tokens

import (
	"context"
	"fmt"
	"net/url"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Token types (RFC 8693 3).
const (
	typeAccessToken = "urn:ietf:params:oauth:token-type:access_token"
	typeIDToken     = "urn:ietf:params:oauth:token-type:id_token"
	typeJWT         = "urn:ietf:params:oauth:token-type:jwt"
	typeZitadelUser = "urn:zitadel:params:oauth:token-type:user_id" // not a token: Zitadel's own id of the user
)

// SubjectToken is what a token exchange presents for the user (RFC 8693 2.1).
type SubjectToken string

// The subject tokens.
const (
	SubjectTokenJWT           SubjectToken = "jwt"             // signed by the plugin
	SubjectTokenIDToken       SubjectToken = "id_token"        // the same, called an ID token, as Dex wants it
	SubjectTokenZitadelUserID SubjectToken = "zitadel_user_id" // the user's id at Zitadel; the actor token is what proves the right
)

// signed tells whether the plugin signs it.
func (t SubjectToken) signed() bool { return t != SubjectTokenZitadelUserID }

// Exchange is what a token exchange asks for beside the user's token (RFC 8693 2.1).
type Exchange struct {
	Subject     SubjectToken
	ActorToken  filehost.Secret // an access token of who acts for the user; empty = the plugin's client itself does
	ConnectorID string          // Dex's name for the plugin as an issuer
	Audience    []string
	Resource    []string // URIs (RFC 8707 2)
}

// tokenExchange is the exchange of a token about the user for one of his own (RFC 8693).
type tokenExchange struct{ *Store }

var _ automatic = tokenExchange{}

// issue implements automatic.
func (m tokenExchange) issue(ctx context.Context, who filehost.Identity) (issued, error) {
	return m.vouchedToken(ctx, who, func(at endpoints) (url.Values, error) { return m.request(ctx, who, at) })
}

// request are the parameters of RFC 8693 2.1, but for scope.
func (m tokenExchange) request(ctx context.Context, who filehost.Identity, at endpoints) (url.Values, error) {
	exchange := m.config.Exchange
	form := url.Values{
		"grant_type":           {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"requested_token_type": {typeAccessToken},
	}
	switch exchange.Subject {
	case SubjectTokenZitadelUserID:
		subject, err := m.config.Subject.of(who)
		if err != nil {
			return nil, err
		}
		form.Set("subject_token", subject)
		form.Set("subject_token_type", typeZitadelUser)
	default:
		token, err := m.assert(ctx, who, at, true)
		if err != nil {
			return nil, err
		}
		form.Set("subject_token", token.Reveal())
		form.Set("subject_token_type", typeJWT)
		if exchange.Subject == SubjectTokenIDToken {
			form.Set("subject_token_type", typeIDToken)
		}
	}
	if !exchange.ActorToken.IsEmpty() {
		form.Set("actor_token", exchange.ActorToken.Reveal())
		form.Set("actor_token_type", typeAccessToken)
	}
	if exchange.ConnectorID != "" {
		form.Set("connector_id", exchange.ConnectorID)
	}
	if len(exchange.Audience) > 0 {
		form["audience"] = exchange.Audience
	}
	if len(exchange.Resource) > 0 {
		form["resource"] = exchange.Resource
	}
	return form, nil
}

// checkExchanged tells what is wrong with an answer to an exchange (RFC 8693 2.2.1): it must say that it holds what was
// asked for, an access token to be used as a bearer token. nil = nothing.
func checkExchanged(answer issued) *tokenError {
	if answer.IssuedType != typeAccessToken || answer.TokenType == "" {
		return &tokenError{Err: fmt.Errorf("%w: it does not say that it holds an access token", errUnreadable)}
	}
	return nil
}
