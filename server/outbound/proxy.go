package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Proxy is the HTTP proxy (RFC 9110 3.7) through which servers are reached that lie beyond it. Its zero value is none.
type Proxy struct {
	URL         *url.URL        // http or https, with no path; nil = no proxy
	Credentials filehost.Secret // user:password for Basic (RFC 7617); empty = it asks for none
	Except      string          // what is reached without it, in the form of NO_PROXY
}

// ProxyError is the refusal of a proxy to connect to a server.
type ProxyError struct{ Status int }

// Error implements error.
func (e *ProxyError) Error() string { return fmt.Sprintf("the proxy answered %d", e.Status) }

// choose returns which proxy, if any, a URL is called through. The environment has no say.
func (p Proxy) choose() func(*url.URL) (*url.URL, error) {
	if p.URL == nil {
		return func(*url.URL) (*url.URL, error) { return nil, nil }
	}
	through := *p.URL
	if user, password, _ := strings.Cut(p.Credentials.Reveal(), ":"); user != "" {
		through.User = url.UserPassword(user, password)
	}
	config := httpproxy.Config{HTTPProxy: through.String(), HTTPSProxy: through.String(), NoProxy: p.Except}
	return config.ProxyFunc()
}

// throughKey holds the proxy of a request in its context.
type throughKey struct{}

// through is the proxy that a request was sent on its way to; nil = none.
func through(ctx context.Context) *url.URL {
	proxy, _ := ctx.Value(throughKey{}).(*url.URL)
	return proxy
}

func proxyOf(request *http.Request) (*url.URL, error) { return through(request.Context()), nil }

// dial connects to the server through the filter, or to the proxy, which the admin has named, without it.
func dial(filtered, free *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if through(ctx) != nil {
			return free.DialContext(ctx, network, address)
		}
		return filtered.DialContext(ctx, network, address)
	}
}

var errNumeric = errors.New("a name that ends in a number is an address in disguise")

// checkBeyond filters what a proxy is asked for. What names stand for is the proxy's to know and to filter; a URL with an
// address itself is judged here as it is without a proxy.
func (f *addressFilter) checkBeyond(target *url.URL) error {
	host := strings.TrimSuffix(target.Hostname(), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap().WithZone("")
		if err := f.check(addr); err != nil {
			return &BlockedAddressError{Address: addr, Err: err}
		}
		return nil
	}
	// 127.1 and 0x7f000001 are addresses to many a program, and no names of servers (RFC 1123 2.1).
	last := host[strings.LastIndex(host, ".")+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil {
		return &BlockedAddressError{Err: errNumeric}
	}
	return nil
}

func connectAnswered(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return &ProxyError{answer.StatusCode}
	}
	return nil
}
