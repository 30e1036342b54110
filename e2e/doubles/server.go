package doubles

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // the checksum that the real hosts have
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

// server is what the doubles have in common.
type server struct {
	traits   hosts.Traits
	config   hosts.Config
	clock    clockwork.Clock
	users    map[string]hosts.User
	disk     disk
	grants   *grants
	shares   *shares
	faults   hosts.Faults
	counters hosts.Counters
	listener net.Listener
	http     *http.Server

	mu        sync.Mutex
	surprises []string
	uploads   map[uint64]string // SHA-1 of what was uploaded here, by file id
	disabled  map[string]bool   // users who may not sign in any more
	emails    map[string]string // of users
}

// newServer listens on a free loopback port and serves nothing yet.
func newServer(ctx context.Context, cfg hosts.Config, takes func(name string) bool) (*server, error) {
	if len(cfg.RedirectURIs) == 0 || cfg.ClientID == "" || cfg.ClientSecret == "" {
		return nil, errors.New("a file host needs an OAuth client with a redirect URI")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("file host: %w", err)
	}
	clock := cfg.Clock
	if clock == nil {
		clock = clockwork.NewRealClock()
	}
	s := &server{
		config: cfg, clock: clock, listener: listener, users: map[string]hosts.User{},
		disk:    disk{root: cfg.Root, takes: takes},
		grants:  newGrants(clock, cfg.TokenLife),
		shares:  newShares(clock),
		uploads: map[uint64]string{}, disabled: map[string]bool{}, emails: map[string]string{},
	}
	for _, user := range cfg.Users {
		user.DisplayName = cmp.Or(user.DisplayName, user.Name)
		s.users[user.Name], s.emails[user.Name] = user, user.Email
		if err := os.MkdirAll(s.Dir(user.Name), 0o755); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	return s, nil
}

// serve answers every request by handler until Close.
func (s *server) serve(handler http.Handler) {
	s.http = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.counters.Request(r)
			handler.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: 10 * time.Second,
		// What goes wrong on purpose is nothing to report.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = s.http.Serve(s.listener) }()
}

// Traits implements hosts.Host.
func (s *server) Traits() hosts.Traits { return s.traits }

// Origin implements hosts.Host.
func (s *server) Origin() string { return "http://" + s.listener.Addr().String() }

// URL implements hosts.Host.
func (s *server) URL() string { return s.Origin() }

// Issuer implements hosts.Host.
func (s *server) Issuer() string { return "" }

// Settings implements hosts.Host.
func (s *server) Settings() map[string]any {
	return map[string]any{"hostkind": s.traits.Kind, "hosturl": s.URL(), "oauthissuer": "", "oauthscopes": ""}
}

// Dir implements hosts.Host.
func (s *server) Dir(user string) string { return s.disk.dir(user) }

// Takes implements hosts.Host.
func (s *server) Takes(name string) bool { return s.disk.takes(name) }

// Fault implements hosts.Host.
func (s *server) Fault(f hosts.Fault) (lift func()) { return s.faults.Fault(f) }

// Counts implements hosts.Host.
func (s *server) Counts() hosts.Counts { return s.counters.Counts() }

// Secrets implements hosts.Host.
func (s *server) Secrets() []string {
	secrets := append(s.grants.everIssued(), s.config.ClientSecret)
	for _, user := range s.users {
		secrets = append(secrets, user.Password)
	}
	return secrets
}

// SetTokenLife implements hosts.Host.
func (s *server) SetTokenLife(life time.Duration) { s.grants.setLife(life) }

// ExpireAccessTokens implements hosts.Host.
func (s *server) ExpireAccessTokens(user string) { s.grants.expire(user) }

// RevokeGrants implements hosts.Host.
func (s *server) RevokeGrants(user string) { s.grants.revokeAll(user) }

// Grants implements hosts.Host.
func (s *server) Grants(user string) int { return s.grants.count(user) }

// Close implements hosts.Host.
func (s *server) Close() error {
	s.faults.Clear()
	return s.http.Close()
}

// Surprises implements hosts.Host.
func (s *server) Surprises() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.surprises)
}

// surprise remembers a request that no client of such a host should send.
func (s *server) surprise(r *http.Request, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.surprises = append(s.surprises, r.Method+" "+r.URL.EscapedPath()+": "+why)
}

// unknown answers what was never seen of the real host, and can't be right therefore.
func (s *server) unknown(w http.ResponseWriter, r *http.Request) {
	s.surprise(r, "it is not known what the host answers")
	http.Error(w, "not known", http.StatusNotImplemented)
}

// Disable keeps a user out from now on, or lets him in again.
func (s *server) Disable(user string, disabled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disabled[user] = disabled
}

// SetEmail changes the address of an account, as its user does in his settings: nobody checks that it is his.
func (s *server) SetEmail(user, email string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emails[user] = email
}

func (s *server) email(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emails[user]
}

func (s *server) isDisabled(user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.disabled[user]
}

// tokenRequest counts a request to the token endpoint and gives its grant_type. A method that no client of one uses is
// answered, and ok is false.
func (s *server) tokenRequest(w http.ResponseWriter, r *http.Request) (grantType string, ok bool) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return "", false
	}
	s.counters.TokenRequests.Add(1)
	grantType = r.PostFormValue("grant_type")
	if grantType == "refresh_token" {
		s.counters.Refreshes.Add(1)
	}
	return grantType, true
}

func (s *server) passwordMatches(name, password string) bool {
	user, ok := s.users[name]
	return ok && sameSecret(password, user.Password)
}

func sameSecret(given, want string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

// bearer gives the token that a request carries.
func bearer(r *http.Request) (string, bool) {
	return strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
}

// keepChecksum remembers the checksum of an upload. Files that came to the disk by another way have none.
func (s *server) keepChecksum(n node, content []byte) {
	sum := sha1.Sum(content) //nolint:gosec // see above
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uploads[n.id()] = hex.EncodeToString(sum[:])
}

func (s *server) checksum(n node) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.uploads[n.id()]
}

// count counts a WebDAV request.
func (s *server) count(r *http.Request) {
	switch r.Method {
	case "PROPFIND":
		s.counters.Propfinds.Add(1)
	case http.MethodGet:
		s.counters.Gets.Add(1)
	}
}

// redirect sends the browser on. Where to was checked against what is registered.
func redirect(w http.ResponseWriter, status int, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(status)
}

// writeXML writes what is escaped already.
func writeXML(w http.ResponseWriter, document string) {
	_, _ = io.WriteString(w, document) //nolint:gosec // not HTML, and escaped where it was put together
}
