package tokens

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// clientAuth is how the plugin authenticates itself at the token endpoint (RFC 6749 2.3.1). The kind of host says it, or
// the metadata. Exactly one way is ever tried, so that one failing call is one request.
type clientAuth string

const (
	authInHeader clientAuth = "header" // client_secret_basic
	authInBody   clientAuth = "body"   // client_secret_post
)

// profile is what sets the sign-in of one kind of host apart from the standard.
type profile struct {
	authorizePath string // below the host's address; "" = the settings or the metadata say where
	tokenPath     string
	clientAuth    clientAuth
	deadCode      []string // error codes that mean that the code is used up or expired
	deadRefresh   []string // error codes that mean that the refresh token is
	refusesClient []string // error codes that mean that the client id or secret is, beside those of RFC 6749 5.2
	missesUsers   bool     // says that a user is gone, too, when only its directory can't be asked
	apart         bool     // revoking one grant leaves the same account's others alone
	failures      int      // failed sign-ins in failureTime that the host lets an address have; 0 = no known limit
	loginFlowPath string   // where login flows begin, below the host's address; "" = the host knows none
	bearsPassword bool     // takes an app password as a bearer token, too, and then counts no failed sign-ins
}

// profiles are the hosts that are sign-in servers themselves, by filehost.Host.Kind.
var profiles = map[string]profile{
	"nextcloud": {
		authorizePath: "/index.php/apps/oauth2/authorize",
		tokenPath:     "/index.php/apps/oauth2/api/v1/token",
		clientAuth:    authInBody,
		deadCode:      []string{"invalid_grant", "invalid_request"},
		deadRefresh:   []string{"invalid_grant", "invalid_request"},
		apart:         true,
		failures:      8, // of 10: refused refresh tokens count as well
		loginFlowPath: "/index.php/login/v2",
		bearsPassword: true,
	},
	"owncloud": {
		authorizePath: "/index.php/apps/oauth2/authorize",
		tokenPath:     "/index.php/apps/oauth2/api/v1/token",
		clientAuth:    authInHeader,
		deadCode:      []string{"invalid_grant"},
		deadRefresh:   []string{"invalid_grant"},
		apart:         true,
	},
}

// SignsIn tells whether hosts of a kind are sign-in servers themselves, whose addresses follow from the host's.
func SignsIn(kind string) bool { return profiles[kind].tokenPath != "" }

// builtIn is LibreGraph Connect, which OpenCloud and ownCloud Infinite Scale bring along. Its metadata says where it answers.
var builtIn = profile{
	deadCode:      []string{"invalid_grant"},
	deadRefresh:   []string{"invalid_grant", "invalid_request"}, // it checks a refresh token as part of the request
	refusesClient: []string{"access_denied"},
	missesUsers:   true,
}

// standard is the profile of every other sign-in server (RFC 6749).
var standard = profile{deadCode: []string{"invalid_grant"}, deadRefresh: []string{"invalid_grant"}}

// endpoints are where a sign-in server answers.
type endpoints struct {
	Authorize  string
	Token      string
	Revocation string // "" = the server revokes nothing
	UserInfo   string // "" = it has none (OpenID Connect Core 5.3)
	Keys       string // its keys for ID tokens; "" = it has none
	Issuer     string // "" = unknown
	IssuerSent bool   // callbacks carry iss (RFC 9207 3)
	ClientAuth clientAuth
	Algorithms []string // that it may sign ID tokens with, of those that the plugin takes
	NoS256     bool     // it takes no PKCE challenge that the plugin sends
	Scopes     []string // what to ask for
}

// refusal completes "The sign-in server": why nobody can be sent there; "" = everybody can.
func (e endpoints) refusal() string {
	switch {
	case e.NoS256:
		return "takes no PKCE challenge of the method S256 (code_challenge_methods_supported)"
	case !slices.Contains(e.Scopes, oidc.ScopeOpenID):
		return ""
	case e.Keys == "":
		return "publishes no keys to check ID tokens with (jwks_uri)"
	case len(e.Algorithms) == 0:
		return "signs ID tokens with no algorithm that the plugin takes (id_token_signing_alg_values_supported): " + strings.Join(idTokenAlgorithms, ", ")
	}
	return ""
}

// provider is the configured sign-in server.
type provider struct {
	kind    string // of host
	profile profile
	OAuth   OAuth
	people  bool   // sign in there
	server  string // its origin
	binding string // what credentials are bound to: the issuer and a token URL that was set by hand, or else the origin
	fixed   endpoints
	rule    urlRule

	flights  singleflight.Group
	metadata cachedMetadata
	keys     providerKeys
}

// newProvider checks the settings and derives what they leave out.
func newProvider(config Config) (*provider, error) {
	p := &provider{
		kind: config.Host.Kind, profile: standard, OAuth: config.OAuth, rule: urlRule{config.AllowHTTP},
		people: slices.Contains(config.Methods, filehost.MethodOAuth),
	}
	// An issuer is a sign-in server of its own, beside the host. So is one that trusts the plugin: no host does.
	trusts := config.Methods[0].UsesSignInServer() && config.Methods[0].Automatic()
	known, ok := profiles[config.Host.Kind]
	switch {
	case trusts:
	case ok && config.OAuth.Issuer == "":
		p.profile = known
	case config.Host.Kind == "opencloud" && config.OAuth.Issuer != "" && originOf(config.OAuth.Issuer) == config.Host.Origin():
		p.profile = builtIn
	}
	p.fixed = endpoints{
		Authorize:  cmp.Or(config.OAuth.AuthorizeURL, below(config.Host.BaseURL, p.profile.authorizePath)),
		Token:      cmp.Or(config.OAuth.TokenURL, below(config.Host.BaseURL, p.profile.tokenPath)),
		Revocation: config.OAuth.RevocationURL,
		ClientAuth: p.profile.clientAuth,
		Scopes:     config.OAuth.Scopes,
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	server, err := url.Parse(cmp.Or(config.OAuth.Issuer, p.fixed.Token))
	if err != nil {
		return nil, err
	}
	p.server = filehost.OriginOf(server)
	p.binding = p.server
	if config.OAuth.Issuer != "" {
		p.binding = config.OAuth.Issuer // a realm is a server of its own
	}
	if config.OAuth.Issuer != "" && config.OAuth.TokenURL != "" {
		byHand, err := url.Parse(config.OAuth.TokenURL)
		if err != nil {
			return nil, err
		}
		p.binding += " " + filehost.OriginOf(byHand)
	}
	return p, nil
}

func (p *provider) check() error {
	complain := func(message string) error { return filehost.E(filehost.NotConfigured, message, nil) }
	switch {
	case p.OAuth.ClientID == "":
		return complain("The OAuth client id is empty.")
	case p.OAuth.Issuer == "" && p.fixed.Authorize == "" && p.people:
		return complain("This kind of file host needs an OAuth issuer or an OAuth authorize URL.")
	case p.OAuth.Issuer == "" && p.fixed.Token == "":
		return complain("This kind of file host needs an OAuth issuer or an OAuth token URL.")
	case p.OAuth.Issuer == "" && p.people && slices.Contains(p.OAuth.Scopes, oidc.ScopeOpenID):
		return complain("The scope openid needs an OAuth issuer, whose keys prove who has signed in: enter it, or leave the scope out.")
	}
	for _, setting := range []struct{ name, address string }{
		{"OAuth issuer", p.OAuth.Issuer},
		{"OAuth authorize URL", p.fixed.Authorize},
		{"OAuth token URL", p.fixed.Token},
		{"OAuth revocation URL", p.fixed.Revocation},
	} {
		if reason := p.rule.refusal(setting.address); setting.address != "" && reason != "" {
			return complain("The " + setting.name + " " + reason + ".")
		}
	}
	return nil
}

// kindScopes are what the sign-in servers of some kinds of host want to be asked for.
var kindScopes = map[string][]string{
	// Without the scope profile, its proxy does not find out whose a token is.
	"opencloud": {oidc.ScopeOpenID, "profile", "email", oidc.ScopeOfflineAccess},
}

// ownConsent are the hosts of issuers that give refresh tokens without being told to ask for consent (OpenID Connect
// Core 11). Entra ID, when told, turns away everybody who may not consent himself, also where an admin has for all.
var ownConsent = []string{"login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn"}

func (p *provider) ownConsent() bool {
	issuer, err := url.Parse(p.OAuth.Issuer)
	return err == nil && slices.Contains(ownConsent, issuer.Hostname())
}

// scopes are what to ask for: the settings' or, where they leave it open, what the kind of host or the metadata says.
func (p *provider) scopes(published metadata) []string {
	switch known := kindScopes[p.kind]; {
	case len(p.OAuth.Scopes) > 0:
		return p.OAuth.Scopes
	case len(known) > 0:
		return known
	}
	return published.defaultScopes()
}

// endpoints returns where the server answers. It asks the server itself when the settings leave that to its metadata.
func (s *Store) endpoints(ctx context.Context) (endpoints, error) {
	p := s.provider
	found := p.fixed
	if p.OAuth.Issuer != "" {
		published, err := s.discovered(ctx)
		if err != nil {
			return endpoints{}, err
		}
		found = published.endpoints()
		found.Authorize = cmp.Or(p.fixed.Authorize, found.Authorize)
		found.Token = cmp.Or(p.fixed.Token, found.Token)
		found.Revocation = cmp.Or(p.fixed.Revocation, found.Revocation)
		found.ClientAuth = cmp.Or(p.fixed.ClientAuth, found.ClientAuth)
		found.Scopes = p.scopes(published)
	}
	if p.OAuth.ClientSecret.IsEmpty() {
		found.ClientAuth = authInBody // a public client sends its id alone (RFC 6749 3.2.1)
	}
	return found, nil
}

// client is the registration in the terms of the library. Its auth style is never left to trial and error.
func (s *Store) client(at endpoints, redirectURI string) *oauth2.Config {
	style := oauth2.AuthStyleInHeader
	if at.ClientAuth == authInBody {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID:     s.provider.OAuth.ClientID,
		ClientSecret: s.provider.OAuth.ClientSecret.Reveal(),
		Endpoint:     oauth2.Endpoint{AuthURL: at.Authorize, TokenURL: at.Token, AuthStyle: style},
		RedirectURL:  redirectURI,
		Scopes:       at.Scopes,
	}
}

// urlRule says which URLs a sign-in server may have. Which addresses may be dialled is the client's to decide.
type urlRule struct{ allowHTTP bool }

// refusal completes the sentence "The URL ..."; "" = it is fine.
func (r urlRule) refusal(raw string) string {
	parsed, err := url.Parse(raw)
	switch {
	case err != nil, parsed.Host == "":
		return "is not a URL"
	case parsed.Scheme != "https" && (parsed.Scheme != "http" || !r.allowHTTP):
		return "must start with https://"
	case parsed.User != nil:
		return "must not hold a user name"
	case parsed.Fragment != "":
		return "must not hold a #" // RFC 6749 3.1, 3.2
	}
	return ""
}

// originOf is the origin of an address; "" = it has none.
func originOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return filehost.OriginOf(parsed)
}

func below(base *url.URL, path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimRight(base.String(), "/") + path
}
