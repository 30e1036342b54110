package filehost

import (
	"context"
	"log/slog"
	"sync"

	"github.com/jonboulle/clockwork"
)

// Settings are the limits that the admin has set.
type Settings struct {
	MaxCopyBytes  int64 // of one file, and of the files of one request together
	MaxFiles      int   // of one post
	CopiesPerNode int   // under way at once
	CopiesPerUser int   // under way at once, on this node
}

// Config is what a Service works with. All of it but Log is required.
type Config struct {
	Host        Host
	Settings    Settings
	Methods     []Method // how people connect: the best first, the others where it is refused
	NoReturn    bool     // Mattermost has no Site URL that a sign-in could come back to
	Tokens      Tokens
	Connections Connections
	Issuer      Issuer
	Remote      Remote
	Mattermost  Mattermost
	Members     Members
	Audience    Audience // of the first method, if it needs no act of the user
	ByUsername  bool     // that method names users to others by their user names
	Audit       Audit
	Reminders   *Reminders
	Sealer      Sealer
	KV          KV
	Clock       clockwork.Clock
	Claims      *Claims
	Copies      *Places
	Listings    *Places
	Pictures    *Places // thumbnails
	Accounts    Accounts
	Log         *slog.Logger // nil = discard
}

// Service holds the use cases for one configured host. It is safe for concurrent use.
type Service struct {
	Config
	pages *pages

	woken   chan string // users whose links can be looked after now
	awaited *sync.Map   // users whose links wait, as last seen
}

// New returns the use cases over the ports of config.
func New(config Config) *Service {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{Config: config, pages: &pages{}, woken: make(chan string, wakes), awaited: &sync.Map{}}
}

// Limits returns the Mattermost server's limits; the routes take their time from it.
func (s *Service) Limits(ctx context.Context) (Limits, error) { return s.Mattermost.Limits(ctx) }

// asUser runs call with the user's credential. When the host rejects it, call runs once more with a renewed one; after a
// second rejection the credential is marked dead and the user has to connect again.
func (s *Service) asUser(ctx context.Context, userID string, call func(Credential) error) error {
	credential, err := s.Tokens.For(ctx, userID)
	if err != nil {
		return err
	}
	callAs := func() error {
		credential.UserID = userID
		if err := recordUse(ctx, credential); err != nil {
			return err
		}
		return call(credential)
	}
	if err = callAs(); KindOf(err) != CredentialRejected {
		return err
	}
	if credential, err = s.Tokens.Renew(ctx, userID, credential); err != nil {
		return err
	}
	if err = callAs(); KindOf(err) != CredentialRejected {
		return err
	}
	if rejectErr := s.Tokens.Reject(ctx, userID, credential); rejectErr != nil {
		return rejectErr
	}
	return E(NotConnected, s.Host.Name+" no longer accepts your sign-in. Connect again.", err)
}
