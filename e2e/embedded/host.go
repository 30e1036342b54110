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

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/signin"
)

// Host is a running file host.
type Host struct {
	root     string
	users    map[string]hosts.User
	listener net.Listener
	server   *http.Server
	storage  *storage
	signIn   *signin.Front
	verify   func(ctx context.Context, accessToken string) (user string, ok bool)
	faults   hosts.Faults
	counters hosts.Counters
}

var _ hosts.Host = (*Host)(nil)

// Start listens on a free loopback port and serves until Close; ctx is for the start alone.
func Start(ctx context.Context, cfg hosts.Config) (*Host, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("file host: %w", err)
	}
	host := &Host{root: cfg.Root, users: map[string]hosts.User{}, listener: listener, verify: cfg.Verify}
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
	host.signIn = signin.NewFront(http.StripPrefix("/oidc", provider), signin.Paths{
		Token: TokenPath, Revocation: "/oidc/revoke", Keys: "/oidc/keys",
	})
	mux := http.NewServeMux()
	mux.Handle("/dav/", host.dav(provider.Crypto()))
	mux.Handle("/oidc/login", host.login(provider))
	mux.Handle("/oidc/", host.signIn)
	mux.HandleFunc(TokenPath, func(w http.ResponseWriter, r *http.Request) {
		host.faults.Serve(w, r, "", r.URL.Path, host.signIn.ServeHTTP)
	})
	host.server = &http.Server{
		Handler:           host.count(mux),
		ReadHeaderTimeout: 10 * time.Second,
		// What goes wrong on purpose is nothing to report.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { _ = host.server.Serve(listener) }()
	return host, nil
}

// Close ends all connections, those held by a fault included.
func (h *Host) Close() error {
	h.faults.Clear()
	return h.server.Close()
}

// Origin is scheme, address and port, without a slash at the end.
func (h *Host) Origin() string { return "http://" + h.listener.Addr().String() }

// URL is the WebDAV root; each user sees his own folder there.
func (h *Host) URL() string { return h.Origin() + "/dav/" }

// TokenPath is where the host answers token requests, which can be broken there.
const TokenPath = "/oidc/oauth/token"

// Issuer is the OpenID Connect issuer; discovery lies below it.
func (h *Host) Issuer() string { return h.Origin() + "/oidc" }

// SignIn is what stands before its own sign-in server.
func (h *Host) SignIn() *signin.Front { return h.signIn }

// Dir is where the files of a user lie on disk.
func (h *Host) Dir(user string) string { return filepath.Join(h.root, user) }

// Traits implements hosts.Host.
func (h *Host) Traits() hosts.Traits { return hosts.Traits{Kind: "webdav", Revokes: true} }

// Settings implements hosts.Host.
func (h *Host) Settings() map[string]any {
	return map[string]any{
		"hostkind":    "webdav",
		"hosturl":     h.URL(),
		"oauthissuer": h.Issuer(),
		"oauthscopes": "openid offline_access",
	}
}

// Takes implements hosts.Host: what a file system takes, the host takes.
func (h *Host) Takes(string) bool { return true }

// Fault implements hosts.Host.
func (h *Host) Fault(f hosts.Fault) (lift func()) { return h.faults.Fault(f) }

// Counts implements hosts.Host.
func (h *Host) Counts() hosts.Counts { return h.counters.Counts() }

// Surprises implements hosts.Host: a plain WebDAV server expects nothing in particular.
func (h *Host) Surprises() []string { return nil }
