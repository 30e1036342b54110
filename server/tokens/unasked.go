package tokens

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	// maxUnasked is how many refresh tokens that nobody asked for a node keeps until their access tokens are over. Those
	// that don't fit are revoked before that, the oldest first.
	maxUnasked = 1000
	// revokedAtOnce is how many of them are revoked at a time.
	revokedAtOnce = 8
)

// unasked are refresh tokens that nobody asked for, the earliest first. They are revoked when their access tokens are
// over: revoking one ends its access token, too, at servers that do as RFC 7009 2.1 says. One goroutine waits for all of
// them.
type unasked struct {
	mu      sync.Mutex
	waiting []unaskedToken
	running bool
	full    chan struct{} // wakes who waits for the first of them
}

type unaskedToken struct {
	at    endpoints
	token filehost.Secret
	due   time.Time
}

func newUnasked() unasked { return unasked{full: make(chan struct{}, 1)} }

// add takes a token, and tells whether somebody has to begin to wait for it.
func (u *unasked) add(token unaskedToken) (begin bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waiting = append(u.waiting, token)
	if len(u.waiting) > maxUnasked {
		select {
		case u.full <- struct{}{}:
		default: // somebody is told already
		}
	}
	begin = !u.running
	u.running = true
	return begin
}

// take removes those that are to be revoked now, and tells how long until the next one is. done means that there is none,
// and that who waits is to stop.
func (u *unasked) take(now time.Time, all bool) (due []unaskedToken, wait time.Duration, done bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for len(u.waiting) > 0 && (all || len(u.waiting) > maxUnasked || !now.Before(u.waiting[0].due)) {
		due, u.waiting = append(due, u.waiting[0]), u.waiting[1:]
	}
	switch {
	case len(u.waiting) > 0:
		return due, u.waiting[0].due.Sub(now), false
	case len(due) > 0:
		return due, 0, false
	}
	u.running, u.waiting = false, nil
	return nil, 0, true
}

// dropLater revokes a refresh token that nobody asked for, once its access token is over. The caller is registered with
// Pending.begin.
func (s *Store) dropLater(at endpoints, token filehost.Secret) {
	if token.IsEmpty() || at.Revocation == "" {
		return
	}
	if s.unasked.add(unaskedToken{at, token, s.config.Clock.Now().Add(automaticLife)}) {
		s.config.Pending.background(s.config.Log, s.dropUnasked)
	}
}

// dropUnasked revokes what dropLater has taken, until there is no more. When the plugin stops, it waits no longer, and takes
// no longer for all of them than a call may take.
func (s *Store) dropUnasked() {
	ctx := context.WithoutCancel(s.config.Lifetime)
	stopping, cancel := ctx, func() {}
	defer func() { cancel() }()
	for {
		stops := s.config.Lifetime.Err() != nil
		if stops && stopping == ctx {
			stopping, cancel = s.withTimeout(ctx, callLimit)
		}
		due, wait, done := s.unasked.take(s.config.Clock.Now(), stops)
		if done {
			return
		}
		s.revokeTogether(stopping, due)
		if len(due) > 0 {
			continue // time has passed
		}
		select {
		case <-s.config.Clock.After(wait):
		case <-s.unasked.full:
		case <-s.config.Lifetime.Done():
		}
	}
}

// revokeTogether revokes tokens, a few at a time. What can't be revoked is logged.
func (s *Store) revokeTogether(ctx context.Context, tokens []unaskedToken) {
	var revoking errgroup.Group
	revoking.SetLimit(revokedAtOnce)
	for _, each := range tokens {
		revoking.Go(func() error {
			return filehost.Recovered(func() error {
				s.revoke(ctx, each.at, each.token, "refresh_token")
				return nil
			})
		})
	}
	if err := revoking.Wait(); err != nil {
		s.config.Log.Error("Tokens that nobody asked for could not be revoked.", "host", s.config.Host.ID, "error", err.Error())
	}
}
