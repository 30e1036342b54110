package filehost

import "slices"

// Method is how users get access to the file host, as the settings and the API name it.
type Method string

// The methods. Each has a file of its own in server/tokens.
const (
	MethodOAuth          Method = "oauth"           // authorization code with PKCE (RFC 6749 4.1, RFC 7636)
	MethodLoginFlow      Method = "login_flow"      // Nextcloud's Login Flow v2
	MethodPassword       Method = "password"        // user name and app password
	MethodTokenExchange  Method = "token_exchange"  // RFC 8693
	MethodJWTBearer      Method = "jwt_bearer"      // RFC 7523 2.1
	MethodAppToken       Method = "app_token"       // an app token of OpenCloud, made by an account that may impersonate
	MethodServiceAccount Method = "service_account" // one credential for all
)

// InteractiveMethods are those in which a user signs in himself.
var InteractiveMethods = []Method{MethodOAuth, MethodLoginFlow, MethodPassword}

// AutomaticMethods are those that need no act of the user. Each gives the plugin power over the accounts of all whom the
// admin lets use it.
var AutomaticMethods = []Method{MethodTokenExchange, MethodJWTBearer, MethodAppToken, MethodServiceAccount}

// GrantAuthorizationCode is the grant that MethodOAuth makes. Every other grant has the name of its method.
const GrantAuthorizationCode = "authorization_code"

// Grants are all that a connection may have come by.
func Grants() []string {
	grants := []string{GrantAuthorizationCode}
	for _, method := range Methods() {
		if method != MethodOAuth {
			grants = append(grants, string(method))
		}
	}
	return grants
}

// Methods are all that there are.
func Methods() []Method { return slices.Concat(InteractiveMethods, AutomaticMethods) }

// MethodNames are methods as the settings and the API name them.
func MethodNames(methods []Method) []string {
	names := make([]string, len(methods))
	for i, method := range methods {
		names[i] = string(method)
	}
	return names
}

// Automatic tells whether a method needs no act of the user.
func (m Method) Automatic() bool { return slices.Contains(AutomaticMethods, m) }

// Automatic tells whether the connection comes about without an act of the user: not where he has disconnected it, or where the
// method has refused him.
func (c Connection) Automatic() bool {
	return len(c.Methods) > 0 && c.Methods[0].Automatic() && c.Refused == nil && !c.Declined
}

// UsesSignInServer tells whether a method works with a sign-in server. None of them can do without Mattermost's own address:
// sign-ins come back to it, and whoever trusts the plugin's tokens knows it by that.
func (m Method) UsesSignInServer() bool {
	return m == MethodOAuth || m == MethodTokenExchange || m == MethodJWTBearer
}

// Identity is what Mattermost vouches for of a user: what an automatic method may tell others about him.
type Identity struct {
	UserID        string // immutable
	Username      string
	Email         string
	EmailVerified bool
	AuthService   string // the single sign-on that the user logs in with, such as "saml"; "" = a password of Mattermost's
	AuthData      string // his id there
	Bot           bool
	Active        bool
}

// Directories are the single sign-ons (AuthService) whose user names Mattermost takes over as they are, or not at all. To a
// name of another that is taken it appends digits, so that it may be somebody else's there.
var Directories = []string{"ldap", "saml"}

// Refusal says why an automatic method gives a user no access.
type Refusal struct {
	Method Method
	Reason string // one sentence for the user
}
