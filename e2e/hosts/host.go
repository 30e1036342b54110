// Package hosts is what the file hosts of the end-to-end tests have in common: what a test can see
// of a host, change on it and break.
package hosts

import (
	"context"
	"time"

	"github.com/jonboulle/clockwork"
)

// User is an account of a host. His files lie in the folder of his name below Config.Root.
type User struct {
	Name     string
	Password string
	// LoginName is another name that he may sign in by, as the users of a company's directory do; empty means none.
	LoginName string
	// DisplayName is what others see; empty means Name.
	DisplayName string
	// Email is empty where the account has none. OpenCloud's accounts always have one.
	Email string
	// Admin may administer the host's accounts.
	Admin bool
}

// Config says where a host serves from and which OAuth client may use it.
type Config struct {
	// Root holds one folder per user; missing folders are created.
	Root string
	// Users may sign in.
	Users []User
	// ClientID and ClientSecret are the one confidential OAuth client.
	ClientID, ClientSecret string
	// RedirectURIs are those that the client may name, compared byte by byte. The first is the
	// registered one of hosts that know only one.
	RedirectURIs []string
	// TokenLife is how long an access token lasts; zero means what the host does by itself.
	TokenLife time.Duration
	// Verify tells whose access token of another sign-in server this is; nil means that the host takes its own. Only the
	// embedded host can do without its own.
	Verify func(ctx context.Context, accessToken string) (user string, ok bool)
	// PersonalSpace is what OpenCloud calls each user's own space; empty means his display name.
	PersonalSpace string
	// Clock tells a double the time; nil means the real one. The embedded host always goes by the real one.
	Clock clockwork.Clock
}

// Traits are the promises in which hosts differ.
type Traits struct {
	// Kind is the plugin's name of the kind of host.
	Kind string
	// Home is what the top-level folder of a user's own files is called; empty means that they lie at the top.
	Home string
	// Revokes tells whether a client can end what its user has allowed it.
	Revokes bool
	// Pages tells whether the host gives a listing page by page.
	Pages bool
}

// Host is a running file host.
type Host interface {
	Traits() Traits
	// Settings configure the plugin for the host, with sign-in by OAuth.
	Settings() map[string]any
	// Origin is scheme, address and port, without a slash at the end.
	Origin() string
	// URL is the address of the host that the plugin is given.
	URL() string
	// Issuer is the OpenID Connect issuer; empty where there is none.
	Issuer() string
	// Dir is where the files of a user lie on disk.
	Dir(user string) string
	// Takes tells whether a file or folder can have this name. The host shows no other.
	Takes(name string) bool
	// Fault breaks what it describes until the function that it returns is called.
	Fault(f Fault) (lift func())
	// Counts reads all counters.
	Counts() Counts
	// Secrets gives everything secret that the host has handed out or been shown: codes, tokens,
	// the client's secret, users' passwords.
	Secrets() []string
	// Surprises are the requests that no client of such a host should send.
	Surprises() []string
	// SetTokenLife says how long access tokens issued from now on last.
	SetTokenLife(life time.Duration)
	// ExpireAccessTokens ends the access tokens of a user; his refresh tokens stay good.
	ExpireAccessTokens(user string)
	// RevokeGrants ends everything that a user has allowed, as an administrator would.
	RevokeGrants(user string)
	// Grants tells how many live refresh tokens a user has out.
	Grants(user string) int
	// Close ends all connections, those held by a fault included.
	Close() error
}
