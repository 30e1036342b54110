package hosts

import (
	"net/http"
	"sync/atomic"
)

// Counts is what a host has seen since it started.
type Counts struct {
	// Requests counts all of them, those that have a counter of their own included.
	Requests int64
	// WithCredential counts requests with an Authorization header. Those that the plugin sends by itself,
	// to see whether the host is there, have none.
	WithCredential int64
	// TokenRequests counts every call of the token endpoint, refreshes included.
	TokenRequests int64
	// Refreshes counts token requests with grant_type=refresh_token, refused ones included.
	Refreshes int64
	// Polls counts requests that ask whether a sign-in by Nextcloud's Login Flow v2 is done.
	Polls int64
	// Revocations counts requests to end a token (RFC 7009, or the host's own route).
	Revocations int64
	// Propfinds and Gets count WebDAV requests.
	Propfinds, Gets int64
	// Unauthorized counts WebDAV requests with a credential that were answered 401.
	Unauthorized int64
}

// Counters are those that Counts reads. The zero value is ready.
type Counters struct {
	Requests, WithCredential, TokenRequests, Refreshes, Polls, Revocations, Propfinds, Gets, Unauthorized atomic.Int64
}

// Counts reads all counters.
func (c *Counters) Counts() Counts {
	return Counts{
		Requests:       c.Requests.Load(),
		WithCredential: c.WithCredential.Load(),
		TokenRequests:  c.TokenRequests.Load(),
		Refreshes:      c.Refreshes.Load(),
		Polls:          c.Polls.Load(),
		Revocations:    c.Revocations.Load(),
		Propfinds:      c.Propfinds.Load(),
		Gets:           c.Gets.Load(),
		Unauthorized:   c.Unauthorized.Load(),
	}
}

// Request counts a request, whatever it is.
func (c *Counters) Request(r *http.Request) {
	c.Requests.Add(1)
	if r.Header.Get("Authorization") != "" {
		c.WithCredential.Add(1)
	}
}
