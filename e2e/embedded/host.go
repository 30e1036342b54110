// Package embedded is a small but real file host for tests and for trying the plugin out: WebDAV
// over a folder per user, behind passwords and behind the access tokens of its own OAuth 2.0 and
// OpenID Connect server. Everything lives in one process on one loopback listener.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// User is an account of the host. His files lie in the folder of his name below Config.Root.
type User struct {
	Name     string
	Password string
}

// Config says where the host serves from and which OAuth client may use it.
type Config struct {
	// Root holds one folder per user; missing folders are created.
	Root string
	// Users may sign in.
	Users []User
	// ClientID and ClientSecret are the one confidential OAuth client.
	ClientID, ClientSecret string
	// RedirectURIs are those that the client may name, compared byte by byte.
	RedirectURIs []string
	// TokenLife is how long an access token lasts; zero means an hour.
	TokenLife time.Duration
}

// Host is a running file host.
type Host struct {
	root     string
	users    map[string]User
	listener net.Listener
	server   *http.Server
	storage  *storage
	faults   faults
	counters counters
}

// Start listens on a free loopback port and serves until Close; ctx is for the start alone.
func Start(ctx context.Context, cfg Config) (*Host, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("file host: %w", err)
	}
	host := &Host{root: cfg.Root, users: map[string]User{}, listener: listener}
	for _, user := range cfg.Users {
		host.users[user.Name] = user
		if err := os.MkdirAll(host.Dir(user.Name), 0o755); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	if host.storage, err = newStorage(cfg, host); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	provider, err := newProvider(host.Issuer(), host.storage)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("/dav/", host.dav(provider.Crypto()))
	mux.Handle("/oidc/login", host.login(provider))
	mux.Handle("/oidc/", http.StripPrefix("/oidc", provider))
	host.server = &http.Server{
		Handler:           host.counters.count(mux),
		ReadHeaderTimeout: 10 * time.Second,
		// What goes wrong on purpose is nothing to report.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = host.server.Serve(listener) }()
	return host, nil
}

// Close ends all connections, those held by a fault included.
func (h *Host) Close() error {
	h.faults.clear()
	return h.server.Close()
}

// Origin is scheme, address and port, without a slash at the end.
func (h *Host) Origin() string { return "http://" + h.listener.Addr().String() }

// URL is the WebDAV root; each user sees his own folder there.
func (h *Host) URL() string { return h.Origin() + "/dav/" }

// Issuer is the OpenID Connect issuer; discovery lies below it.
func (h *Host) Issuer() string { return h.Origin() + "/oidc" }

// Dir is where the files of a user lie on disk.
func (h *Host) Dir(user string) string { return filepath.Join(h.root, user) }
