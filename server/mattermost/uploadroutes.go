package mattermost

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"
)

const (
	// probeTimeout bounds the question whether a route leads to this server. Two routes fit into a health check's time.
	probeTimeout = 3 * time.Second
	// idleTimeout is shorter than the server's own (60 s by default): an upload that meets a connection which is just
	// being closed can't be repeated.
	idleTimeout = 20 * time.Second
)

// uploadRoute is a way to the server's own REST API.
type uploadRoute struct {
	setting string // of Mattermost, as its System Console shows it, that the way follows from
	base    string // scheme, host and subpath of the site
	at      string // the address to dial; "" = that of base
	client  *http.Client
}

// routeError is what was met on a way that leads nowhere.
type routeError struct {
	*uploadRoute
	error
}

// Error implements error: the end of the sentence "the plugin can't reach it".
func (e *routeError) Error() string {
	return fmt.Sprintf("by “%s” (%s): %v", e.setting, cmp.Or(e.at, e.base), e.error)
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *routeError) Unwrap() error { return e.error }

// uploadRoutes remembers the routes for as long as the configuration they were made of stays the same, and which of
// them has last been seen to lead to this server.
type uploadRoutes struct {
	mu    sync.Mutex
	key   routeKey
	all   []*uploadRoute
	known *uploadRoute
}

// routeKey is the part of the server's configuration that routes follow from.
type routeKey struct{ siteURL, listen, security, certificate string }

func keyOf(config *model.Config) routeKey {
	settings := config.ServiceSettings
	return routeKey{value(settings.SiteURL), value(settings.ListenAddress), value(settings.ConnectionSecurity), value(settings.TLSCertFile)}
}

// current returns the routes that follow from the configuration, and the one of them that is known to work, if any.
func (r *uploadRoutes) current(key routeKey) (known *uploadRoute, all []*uploadRoute) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key != r.key {
		r.key, r.known, r.all = key, nil, key.routes()
	}
	return r.known, r.all
}

// remember keeps what a search found, unless the configuration has changed since.
func (r *uploadRoutes) remember(key routeKey, found *uploadRoute) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key == r.key {
		r.known = found
	}
}

// route returns a route that has been seen to lead to this very server, or an error that says what each try met.
func (s *Server) route(ctx context.Context) (*uploadRoute, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	if known, _ := s.routes.current(keyOf(config)); known != nil {
		return known, nil
	}
	return s.findRoute(ctx)
}

// findRoute tries all routes anew, without holding up the uploads that use the one found before.
func (s *Server) findRoute(ctx context.Context) (*uploadRoute, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	key, diagnosticID := keyOf(config), s.API.GetDiagnosticId()
	if diagnosticID == "" {
		return nil, errors.New("this server has no diagnostic id to know it by")
	}
	_, all := s.routes.current(key)
	var met []string
	for _, route := range all {
		err := route.leadsTo(ctx, diagnosticID)
		if err == nil {
			s.routes.remember(key, route)
			return route, nil
		}
		met = append(met, (&routeError{route, err}).Error())
	}
	s.routes.remember(key, nil)
	if len(met) == 0 {
		return nil, errors.New("neither is set")
	}
	return nil, errors.New(strings.Join(met, "; "))
}

// routes lists the ways to try: first the server's own listener, where no proxy is in between, then the site's address.
func (k routeKey) routes() []*uploadRoute {
	site, err := url.Parse(strings.TrimSuffix(k.siteURL, "/"))
	if err != nil || site.Host == "" {
		site = &url.URL{Scheme: "http"}
	}
	var routes []*uploadRoute
	if address, ok := listenerAddress(k.listen, k.security); ok {
		local := *site
		local.Scheme = "http"
		if k.security == model.ConnSecurityTLS {
			local.Scheme = "https"
		}
		if local.Host == "" {
			local.Host = address
		}
		routes = append(routes, &uploadRoute{"Web Server Listen Address", local.String(), address, newClient(address, k.certificate)})
	}
	if site.Host != "" {
		routes = append(routes, &uploadRoute{"Site URL", site.String(), "", newClient("", "")})
	}
	return routes
}

// listenerAddress turns ListenAddress into an address to dial from the same machine.
func listenerAddress(listen, security string) (string, bool) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", false
	}
	if port == "" {
		port = "http"
		if security == model.ConnSecurityTLS {
			port = "https"
		}
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if address, err := netip.ParseAddr(host); err == nil && address.IsUnspecified() {
		host = "127.0.0.1"
		if address.Is6() {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port), true
}

// newClient returns a client without proxies and redirects. With an address it dials that, whatever host the URL names;
// certificates are still verified for the URL's host, and the server's own certificate file is trusted.
func newClient(address, certificate string) *http.Client {
	dialer := &net.Dialer{Timeout: probeTimeout}
	transport := &http.Transport{
		TLSHandshakeTimeout: probeTimeout,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trust(certificate)},
		IdleConnTimeout:     idleTimeout,
		MaxIdleConnsPerHost: 8,
		DialContext: func(ctx context.Context, network, asked string) (net.Conn, error) {
			if address != "" {
				asked = address
			}
			conn, err := dialer.DialContext(ctx, network, asked)
			if err != nil {
				return nil, err
			}
			return wideConn{conn}, nil
		},
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func trust(certificate string) *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if pem, err := os.ReadFile(certificate); err == nil { //nolint:gosec // the server's own certificate, by its own configuration
		pool.AppendCertsFromPEM(pem)
	}
	return pool
}

// leadsTo tells whether the route ends at the server with this diagnostic id: a session must be shown to no other.
func (r *uploadRoute) leadsTo(ctx context.Context, diagnosticID string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/api/v4/config/client?format=old", nil)
	if err != nil {
		return errors.New("the address can't be called")
	}
	response, err := r.client.Do(request)
	if err != nil {
		return withoutURL(err)
	}
	defer func() { _ = response.Body.Close() }()
	var config struct{ DiagnosticId string } //nolint:revive // the server's spelling
	if response.StatusCode != http.StatusOK {
		return errors.Errorf("answers with status %d", response.StatusCode)
	}
	if err = json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&config); err != nil {
		return errors.New("answers with something else than Mattermost does")
	}
	if config.DiagnosticId != diagnosticID {
		return errors.New("is another server")
	}
	return nil
}

// withoutURL is the cause of a call that failed, without the address that the reader knows.
func withoutURL(err error) error {
	var call *url.Error
	switch {
	case !errors.As(err, &call):
		return err
	case call.Timeout():
		return errors.New("no answer in time")
	}
	return call.Err
}
