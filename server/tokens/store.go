// Package tokens is the runtime-side token exchange: it gives each Mattermost user credentials of his own at the file
// host, keeps them encrypted in the store that all nodes share, and renews them once, whichever node needs them first.
// One file is one grant (authorization_code.go, password.go); the rest is what the grants share.
package tokens

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/sync/singleflight"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Method is how users sign in.
type Method string

// The methods.
const (
	MethodOAuth    Method = "oauth"    // authorization code with PKCE (RFC 6749 4.1, RFC 7636)
	MethodPassword Method = "password" // user name and app password
)

// OAuth is the plugin's registration at the sign-in server. What is empty is derived from the kind of host, or read from
// the metadata of Issuer.
type OAuth struct {
	ClientID      string
	ClientSecret  filehost.Secret // empty for a public client
	Issuer        string          // RFC 8414 2
	AuthorizeURL  string
	TokenURL      string
	RevocationURL string // RFC 7009
	Scopes        []string
}

// Config is what a Store works with.
type Config struct {
	Host        filehost.Host
	Method      Method
	OAuth       OAuth  // MethodOAuth only
	RedirectURI string // MethodOAuth only: the callback route of this host
	AllowHTTP   bool   // the admin lets plain http through

	KV     filehost.KV
	Cipher *Cipher
	Client *http.Client // filters addresses; must follow no redirect
	// Account asks the host who a credential belongs to: "" where the host can't tell, CredentialRejected when it
	// doesn't accept the credential.
	Account func(ctx context.Context, credential filehost.Credential) (string, error)
	// Revoke lets a credential that the host itself has made end itself; Forbidden = it is none. nil = the host can't.
	Revoke func(ctx context.Context, credential filehost.Credential) error

	// Bot tells whether a Mattermost user is a bot: the one who goes on using an app password when people sign in with
	// OAuth. nil = nobody is.
	Bot func(ctx context.Context, userID string) (bool, error)

	Pending  *Pending        // the node's own
	Lifetime context.Context // the plugin's own
	Node     string          // names this process among the nodes
	Clock    clockwork.Clock
	Log      *slog.Logger // nil = discard
	// Changed is called when CheckTokenEndpoint has another story to tell of the last exchange. nil = nobody asks.
	Changed func()
}

// Store implements filehost.Tokens and filehost.Connections for one host. It is safe for concurrent use.
type Store struct {
	config   Config
	provider *provider
	flights  singleflight.Group
	used     lastUses
	rest     rest

	exchanges exchanges
}

var (
	_ filehost.Tokens      = (*Store)(nil)
	_ filehost.Connections = (*Store)(nil)
)

// New returns a Store. It calls no one. It fails with NotConfigured, and a message for the admin, when a URL of the
// configuration can't be used.
func New(config Config) (*Store, error) {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Changed == nil {
		config.Changed = func() {}
	}
	client := *config.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	config.Client = &client

	store := &Store{config: config, used: lastUses{byUser: map[string]time.Time{}}}
	if config.Method == MethodPassword {
		return store, nil
	}
	provider, err := newProvider(config)
	if err != nil {
		return nil, err
	}
	store.provider = provider
	return store, nil
}

// Format implements fmt.Formatter: a Store holds secrets and prints none.
func (s *Store) Format(state fmt.State, _ rune) {
	_, _ = fmt.Fprintf(state, "tokens.Store(%s)", s.config.Host.ID)
}

// withTimeout is context.WithTimeout on the injected clock.
func (s *Store) withTimeout(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := s.config.Clock.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}
}

func (s *Store) pause(ctx context.Context, about time.Duration) error {
	return pause(ctx, s.config.Clock, about)
}

// pause waits for half of about to one and a half times about, so that nodes don't move in step.
func pause(ctx context.Context, clock clockwork.Clock, about time.Duration) error {
	timer := clock.NewTimer(about/2 + rand.N(about)) //nolint:gosec // jitter, no secret
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.Chan():
		return nil
	}
}
