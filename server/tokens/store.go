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
	"slices"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/sync/singleflight"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
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
	Methods     []filehost.Method // how people connect: the best first; only the first may be automatic
	OAuth       OAuth             // of the methods that need a sign-in server
	RedirectURI string            // MethodOAuth only: the callback route of this host
	AllowHTTP   bool              // the admin lets plain http through

	// Of the methods that vouch for users.
	Issuer   string  // names the plugin to who trusts its keys: the address of its API
	Subject  Subject // as whom users are named
	Exchange Exchange

	KV     filehost.KV
	Cipher *Cipher
	Client *http.Client // filters addresses; must follow no redirect
	// Account asks the host who a credential belongs to: "" where the host can't tell, CredentialRejected when it
	// doesn't accept the credential.
	Account func(ctx context.Context, credential filehost.Credential) (string, error)
	// Revoke lets a credential that the host itself has made end itself; Forbidden = it is none. nil = the host can't.
	Revoke func(ctx context.Context, credential filehost.Credential) error

	// HostUser asks the host whose a credential is, or fails as Account does. Only login flows need it.
	HostUser func(ctx context.Context, credential filehost.Credential) (filehost.HostUser, error)
	// AppTokens are those of the host; nil = it makes none.
	AppTokens filehost.AppTokens
	// Probe reads the user's top folder with a credential.
	Probe func(ctx context.Context, credential filehost.Credential) error
	// AnyEmail lets a login flow end with an account of another email address than its user's.
	AnyEmail bool

	// Identify tells what Mattermost vouches for of a user, or fails with NotFound.
	Identify func(ctx context.Context, userID string) (filehost.Identity, error)
	// AutomaticFor is whom the admin lets have access without an act of theirs. Members is asked at each use; nil = nobody
	// is let.
	AutomaticFor filehost.Audience
	Members      filehost.Members
	// Audit is told of who is connected so, and of who is not, and of encryption keys that nothing uses any more. nil =
	// nobody asks.
	Audit          filehost.Audit
	ServiceAccount ServiceAccount // MethodServiceAccount; MethodAppToken: the account that makes the tokens

	// Lost is told of each user whose connection has ended by itself, at least once for each. It may block. nil = nobody asks.
	Lost func(ctx context.Context, loss filehost.Loss) error

	Pending  *Pending        // the node's own
	Lifetime context.Context // the plugin's own
	Node     string          // names this process among the nodes
	Clock    clockwork.Clock
	Log      *slog.Logger // nil = discard
	// Notify is called when a login flow has got further by itself. nil = nobody asks.
	Notify func(userID string)
	// Changed is called when CheckTokenEndpoint has another story to tell of the last exchange. nil = nobody asks.
	Changed func()
}

// signs tells whether the plugin vouches for users with keys of its own.
func (c Config) signs() bool {
	return c.Methods[0] == filehost.MethodJWTBearer || c.Methods[0] == filehost.MethodTokenExchange && c.Exchange.Subject.signed()
}

// Store implements filehost.Tokens and filehost.Connections for one host. It is safe for concurrent use.
type Store struct {
	config    Config
	provider  *provider       // nil where no method needs a sign-in server
	automatic automatic       // nil where the first method is interactive, or none of a user's own
	shared    *serviceAccount // nil where the first method is another
	maker     *serviceAccount // of app tokens; nil where the first method is another
	keyring   *keyring        // nil where the plugin signs nothing
	flights   singleflight.Group
	losses    singleflight.Group
	used      lastUses
	denied    lastUses // whom the admin has not chosen, and the audit log knows it
	rest      rest
	flows     flowWatch

	exchanges exchanges
	rotation  rotation
	unasked   unasked

	rejections rejections
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
	if config.Audit == nil {
		config.Audit = noAudit{}
	}
	if config.Changed == nil {
		config.Changed = func() {}
	}
	if config.Notify == nil {
		config.Notify = func(string) {}
	}
	client := *config.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	config.Client = &client
	config.discreet()

	store := &Store{config: config, used: newLastUses(), denied: newLastUses(), unasked: newUnasked(), flows: newFlowWatch()}
	if slices.Contains(config.Methods, filehost.MethodLoginFlow) && store.flowPath() == "" {
		return nil, filehost.E(filehost.NotConfigured, "This kind of file host knows no login flow: choose another sign-in method.", nil)
	}
	if slices.ContainsFunc(config.Methods, filehost.Method.UsesSignInServer) {
		provider, err := newProvider(config)
		if err != nil {
			return nil, err
		}
		store.provider = provider
	}
	if config.signs() {
		store.keyring = &keyring{store: store, generate: newSigningKey}
	}
	switch {
	case config.Methods[0] == filehost.MethodServiceAccount:
		shared, err := newServiceAccount(store)
		if err != nil {
			return nil, err
		}
		store.shared = shared
	case config.Methods[0].Automatic():
		method, err := newAutomatic(store)
		if err != nil {
			return nil, err
		}
		store.automatic = method
	}
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

// jitter is half of about to one and a half times about, so that nodes don't move in step.
func jitter(about time.Duration) time.Duration {
	return about/2 + rand.N(about) //nolint:gosec // no secret
}

// pause waits for about that long.
func pause(ctx context.Context, clock clockwork.Clock, about time.Duration) error {
	timer := clock.NewTimer(jitter(about))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.Chan():
		return nil
	}
}
