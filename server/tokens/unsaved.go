package tokens

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	retryFirst   = 200 * time.Millisecond
	retryLongest = 10 * time.Second
)

var errNotSaved = errors.New("the last refresh is not saved yet")

// unsaved are the tokens whose refresh succeeded and whose record the store did not take yet. They are the only ones
// that work: until they are saved, this node gives them out and spends no refresh token.
type unsaved struct {
	mu     sync.Mutex
	byUser map[string]record
}

func (u *unsaved) of(userID string) (record, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	kept, ok := u.byUser[userID]
	return kept, ok
}

func (u *unsaved) keep(userID string, tokens record) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.byUser[userID] = tokens
}

// drop forgets a user's tokens and returns them.
func (u *unsaved) drop(userID string) record {
	u.mu.Lock()
	defer u.mu.Unlock()
	kept := u.byUser[userID]
	delete(u.byUser, userID)
	return kept
}

// keep saves the outcome of a refresh. When the store fails, memory keeps it and goes on trying. decided is false when
// the user has disconnected or connected anew in the meantime.
func (q *succession) keep(ctx context.Context, at endpoints, held entry, answer issued) (renewed record, decided bool, err error) {
	next := held.as(active)
	next.Generation = held.Generation.next(q.config.Clock.Now())
	next.AccessToken, next.RefreshToken, next.UsableUntil = answer.AccessToken, answer.RefreshToken, answer.UsableUntil
	switch q.store(ctx, q.userID, held, next) {
	case stored:
		return next, true, nil
	case superseded:
		q.background(func() { q.revokeBoth(ctx, at, next) })
		q.lost, q.waited = held.raw, true
		return record{}, false, nil
	}
	q.config.Log.Warn("A refreshed sign-in could not be saved yet; this node keeps it and goes on trying.", "host", q.config.Host.ID)
	q.unsaved.keep(q.userID, next)
	q.background(func() {
		q.retry(func() bool {
			outcome := q.store(ctx, q.userID, held, next)
			if outcome == superseded {
				q.revokeBoth(ctx, at, next)
			}
			if outcome != notStored {
				q.unsaved.drop(q.userID)
			}
			return outcome != notStored
		})
	})
	return next, true, nil
}

// outcome is how an attempt to save refreshed tokens ended.
type outcome int

const (
	notStored  outcome = iota // the store failed, or its replica is stale: try again
	stored                    // by this attempt or an earlier one that seemed to fail
	superseded                // the connection they belong to is gone
)

// store puts next in the place of the lease it was made under, or of what another node has made of that lease since:
// whatever has the lease's own generation holds tokens older than next's.
func (s *Store) store(ctx context.Context, userID string, held entry, next record) outcome {
	read := held
	for range 2 {
		_, won, err := s.swap(ctx, userID, read, next)
		if won {
			return stored
		}
		if err == nil {
			read, err = s.load(ctx, userID)
		}
		switch {
		case err != nil:
			return notStored
		case read.State == absent, read.State == disconnecting, read.State == foreign, read.State == unreadable:
			return superseded
		case read.Generation == next.Generation:
			return stored
		case read.Generation.after(held.Generation):
			return superseded
		case read.Generation != held.Generation:
			return notStored // a stale replica
		}
	}
	return notStored
}

// settle gives a lease up for what it came to. When the store fails, it goes on trying; when it says that the lease is
// no longer held, there is nothing to be done.
func (q *succession) settle(held entry, next record) {
	ctx := context.WithoutCancel(q.config.Lifetime)
	try := func() bool {
		_, _, err := q.swap(ctx, q.userID, held, next)
		return err == nil
	}
	if !try() {
		q.background(func() { q.retry(try) })
	}
}

// background runs work that outlives the call. The caller is itself registered with begin.
func (s *Store) background(work func()) {
	s.running.Go(work)
}

// retry calls try until it succeeds or the plugin stops.
func (s *Store) retry(try func() bool) {
	for wait := retryFirst; s.pause(s.config.Lifetime, wait) == nil; wait = min(2*wait, retryLongest) {
		if try() {
			return
		}
	}
	s.config.Log.Warn("The outcome of a refresh could not be saved before the plugin stopped.", "host", s.config.Host.ID)
}

// pause waits for half of about to one and a half times about, so that nodes don't move in step.
func (s *Store) pause(ctx context.Context, about time.Duration) error {
	timer := s.config.Clock.NewTimer(about/2 + rand.N(about)) //nolint:gosec // jitter, no secret
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.Chan():
		return nil
	}
}
