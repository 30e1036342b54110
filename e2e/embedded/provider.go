package embedded

import (
	"crypto/rand"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// newProvider makes the OAuth 2.0 and OpenID Connect server over the storage.
func newProvider(issuer string, storage *storage) (*op.Provider, error) {
	config := &op.Config{
		CryptoKeyId:              "embedded",
		CodeMethodS256:           true,
		AuthMethodPost:           true,
		GrantTypeRefreshToken:    true,
		DefaultLogoutRedirectURI: issuer + "/login",
		SupportedClaims:          op.DefaultSupportedClaims,
		SupportedScopes:          []string{oidc.ScopeOpenID, oidc.ScopeProfile, oidc.ScopeEmail, oidc.ScopeOfflineAccess},
	}
	if _, err := rand.Read(config.CryptoKey[:]); err != nil {
		return nil, err
	}
	return op.NewProvider(config, storage, op.StaticIssuer(issuer), op.WithAllowInsecure())
}

// client is the one OAuth client of the host: confidential, with a secret in the body or by Basic.
type client struct {
	id, secret   string
	redirectURIs []string
	login        string
}

var _ op.Client = (*client)(nil)

func (c *client) GetID() string                       { return c.id }
func (c *client) RedirectURIs() []string              { return c.redirectURIs }
func (c *client) PostLogoutRedirectURIs() []string    { return nil }
func (c *client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (c *client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (c *client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}

func (c *client) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}
}
func (c *client) LoginURL(id string) string           { return c.login + "?request=" + id }
func (c *client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeBearer }
func (c *client) IDTokenLifetime() time.Duration      { return time.Hour }

// DevMode lets redirect URIs be plain http.
func (c *client) DevMode() bool { return true }

func (c *client) RestrictAdditionalAccessTokenScopes() func([]string) []string { return sameScopes }
func (c *client) IsScopeAllowed(string) bool                                   { return false }
func (c *client) IDTokenUserinfoClaimsAssertion() bool                         { return true }
func (c *client) ClockSkew() time.Duration                                     { return 0 }

// RestrictAdditionalIdTokenScopes has the name that op.Client wants.
func (c *client) RestrictAdditionalIdTokenScopes() func([]string) []string { return sameScopes } //nolint:revive // see above

func sameScopes(scopes []string) []string { return scopes }
