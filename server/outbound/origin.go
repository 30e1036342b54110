package outbound

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// BlockedURLError is the refusal of a URL that Config doesn't allow.
type BlockedURLError struct {
	Origin string // without user, path and query, which may be secret
	Reason string // completes "refused, because"
}

// Error implements error.
func (e *BlockedURLError) Error() string {
	return fmt.Sprintf("call to %s refused, because %s", e.Origin, e.Reason)
}

// origin is what browsers call so (RFC 6454 4): comparable, with the default port filled in.
type origin struct{ scheme, host, port string }

func originOf(u *url.URL) origin {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return origin{u.Scheme, strings.ToLower(u.Hostname()), port}
}

// String is the origin as a URL.
func (o origin) String() string { return o.scheme + "://" + net.JoinHostPort(o.host, o.port) }
