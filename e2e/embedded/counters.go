package embedded

import (
	"net/http"
	"strings"
	"sync/atomic"
)

// Counts is what the host has seen since it started.
type Counts struct {
	// Requests counts all of them, those that have a counter of their own included.
	Requests int64
	// TokenRequests counts every call of the token endpoint, refreshes included.
	TokenRequests int64
	// Refreshes counts token requests with grant_type=refresh_token, refused ones included.
	Refreshes int64
	// Revocations counts calls of the revocation endpoint (RFC 7009).
	Revocations int64
	// Propfinds and Gets count WebDAV requests.
	Propfinds, Gets int64
	// Unauthorized counts WebDAV requests answered 401.
	Unauthorized int64
}

type counters struct {
	requests, tokens, refreshes, revocations, propfinds, gets, unauthorized atomic.Int64
}

// Counts reads all counters.
func (h *Host) Counts() Counts {
	return Counts{
		Requests:      h.counters.requests.Load(),
		TokenRequests: h.counters.tokens.Load(),
		Refreshes:     h.counters.refreshes.Load(),
		Revocations:   h.counters.revocations.Load(),
		Propfinds:     h.counters.propfinds.Load(),
		Gets:          h.counters.gets.Load(),
		Unauthorized:  h.counters.unauthorized.Load(),
	}
}

func (c *counters) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		switch {
		case r.URL.Path == "/oidc/oauth/token":
			c.tokens.Add(1)
			if r.PostFormValue("grant_type") == "refresh_token" {
				c.refreshes.Add(1)
			}
		case r.URL.Path == "/oidc/revoke":
			c.revocations.Add(1)
		case !strings.HasPrefix(r.URL.Path, "/dav/"):
		case r.Method == "PROPFIND":
			c.propfinds.Add(1)
		case r.Method == http.MethodGet:
			c.gets.Add(1)
		}
		next.ServeHTTP(w, r)
	})
}
