// Package outbound is the one way out of the plugin: the HTTP client for the file host and for the sign-in server. It
// decides which addresses may be dialled, which URLs may be called, and whom TLS trusts; it follows no redirect.
package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	dialTimeout    = 10 * time.Second
	tlsTimeout     = 10 * time.Second
	keepAlive      = 30 * time.Second
	idleTimeout    = 90 * time.Second
	pingTimeout    = 15 * time.Second
	idlePerHost    = 16
	maxHeaderBytes = 64 << 10
)

// Config says what the client may reach. Its zero value reaches public addresses over https.
type Config struct {
	CA        []byte         // PEM: certificates to trust beside the system's
	Allowed   []netip.Prefix // addresses to let through that are blocked otherwise: private, loopback, link-local...
	AllowHTTP bool           // let plain http through as well
	Origins   []*url.URL     // when not empty, only URLs of these origins (RFC 6454 4) may be called
	UserAgent string         // goes on every request that has none; "" = Go's own
	Resolver  *net.Resolver  // nil = the system's
	Proxy     Proxy          // what stands between Mattermost and other networks

	HeaderTimeout time.Duration // for the head of an answer, once the request is sent; 0 = what the request's context says
}

// New makes the client. It has no total time-out, because it streams files: every request's context limits it. A
// redirect comes back as the 3xx answer it is. Bodies arrive as they were sent: it neither asks for compression nor
// undoes it.
//
// A request can fail with *BlockedURLError or, when the server has failed too often in a row, *SparedError; and with
// *UnreachableError around the errors of net/http and *BlockedAddressError.
func New(config Config) (*http.Client, error) {
	roots, err := trusted(config.CA)
	if err != nil {
		return nil, err
	}
	filter := newAddressFilter(config.Allowed)
	dialer := &net.Dialer{
		Timeout:        dialTimeout,
		KeepAlive:      keepAlive,
		Resolver:       config.Resolver,
		ControlContext: filter.control,
	}
	free := *dialer
	free.ControlContext = nil
	transport := &http.Transport{
		Proxy:                  proxyOf,
		OnProxyConnectResponse: connectAnswered,
		DialContext:            dial(dialer, &free),
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    tlsTimeout,
		ResponseHeaderTimeout:  config.HeaderTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           4 * idlePerHost,
		MaxIdleConnsPerHost:    idlePerHost,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: keepAlive, PingTimeout: pingTimeout},
	}
	return &http.Client{
		Transport:     &guard{config: config, filter: filter, proxy: config.Proxy.choose(), next: &breakers{next: transport, byOrigin: map[string]*breaker{}}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// trusted returns the system's certificates and those of pem.
func trusted(pem []byte) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		// A machine without a certificate store can still trust the bundle.
		roots = x509.NewCertPool()
	}
	if len(pem) > 0 && !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("the CA bundle holds no PEM certificate")
	}
	return roots, nil
}

// guard refuses URLs before anything is dialled.
type guard struct {
	config Config
	filter *addressFilter
	proxy  func(*url.URL) (*url.URL, error)
	next   *breakers
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	if reason := g.refusal(request.URL); reason != "" {
		closeBody(request)
		return nil, &BlockedURLError{Origin: filehost.OriginOf(request.URL), Reason: reason}
	}
	if g.config.UserAgent != "" && request.Header.Get("User-Agent") == "" {
		request = request.Clone(request.Context())
		request.Header.Set("User-Agent", g.config.UserAgent)
	}
	proxy, err := g.proxy(request.URL)
	if err == nil && proxy != nil {
		err = g.filter.checkBeyond(request.URL)
		request = request.WithContext(context.WithValue(request.Context(), throughKey{}, proxy))
	}
	if err != nil {
		closeBody(request)
		return nil, &UnreachableError{err}
	}
	return g.next.RoundTrip(request)
}

// closeBody does what a RoundTripper must that sends nothing.
func closeBody(request *http.Request) {
	if request.Body != nil {
		_ = request.Body.Close()
	}
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (g *guard) CloseIdleConnections() { g.next.next.CloseIdleConnections() }

// refusal says why a URL must not be called; "" = it may.
func (g *guard) refusal(target *url.URL) string {
	switch {
	case target.Scheme != "https" && (target.Scheme != "http" || !g.config.AllowHTTP):
		return "it is not https"
	case target.User != nil:
		return "it holds a user name"
	case len(g.config.Origins) == 0:
		return ""
	}
	for _, allowed := range g.config.Origins {
		if filehost.OriginOf(allowed) == filehost.OriginOf(target) {
			return ""
		}
	}
	return "it belongs to another server"
}
