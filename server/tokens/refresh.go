package tokens

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	leaseTime   = 30 * time.Second // longer than a call of the token endpoint and the writes around it
	clockSkew   = time.Minute      // between nodes
	waitLimit   = 3 * leaseTime    // for another node; longer than it takes to see that its lease has expired
	pollFirst   = 100 * time.Millisecond
	pollLongest = 2 * time.Second
)

// For implements filehost.Tokens.
func (s *Store) For(ctx context.Context, userID string) (filehost.Credential, error) {
	found, err := s.current(ctx, userID)
	if err != nil {
		return filehost.Credential{}, err
	}
	s.noteUse(ctx, userID)
	return found.credential(), nil
}

func (s *Store) current(ctx context.Context, userID string) (record, error) {
	now := s.config.Clock.Now()
	if kept, ok := s.unsaved.of(userID); ok {
		if kept.usable(now) {
			return kept, nil
		}
		return record{}, storeFailed(errNotSaved)
	}
	found, err := s.load(ctx, userID)
	switch {
	case err != nil:
		return record{}, err
	case found.State == active && found.usable(now):
		return found.record, nil
	case found.State == refreshing, found.State == active && found.renewable():
		return s.successor(ctx, userID, found.Generation)
	}
	return record{}, s.notConnected(found)
}

// Renew implements filehost.Tokens. A rejected credential that can't be renewed is marked dead at once.
func (s *Store) Renew(ctx context.Context, userID string, rejected filehost.Credential) (filehost.Credential, error) {
	spent := generation(rejected.Generation)
	if kept, ok := s.unsaved.of(userID); ok {
		if kept.Generation == spent {
			return filehost.Credential{}, storeFailed(errNotSaved)
		}
		return kept.credential(), nil
	}
	found, err := s.load(ctx, userID)
	if err != nil {
		return filehost.Credential{}, err
	}
	switch found.State {
	case active, refreshing:
	default:
		return filehost.Credential{}, s.notConnected(found)
	}
	if !found.renewable() && !found.Generation.after(spent) {
		if err := s.Reject(ctx, userID, rejected); err != nil {
			return filehost.Credential{}, err
		}
		return filehost.Credential{}, s.notConnected(entry{record: found.as(dead)})
	}
	renewed, err := s.successor(ctx, userID, spent)
	return renewed.credential(), err
}

// Reject implements filehost.Tokens.
func (s *Store) Reject(ctx context.Context, userID string, rejected filehost.Credential) error {
	return s.contest(ctx, func() (bool, error) {
		found, err := s.load(ctx, userID)
		if err != nil || found.State != active || found.Generation != generation(rejected.Generation) {
			return true, err
		}
		_, won, err := s.swap(ctx, userID, found, found.as(dead))
		return won, err
	})
}

// successor returns tokens newer than spent: those that are there by now, or the outcome of one refresh, which every
// caller of this node shares and which goes on when they leave.
func (s *Store) successor(ctx context.Context, userID string, spent generation) (record, error) {
	flight := s.flights.DoChan(userID+" "+string(spent), func() (any, error) {
		if !s.begin() {
			return nil, storeFailed(context.Canceled)
		}
		defer s.running.Done()
		return (&succession{Store: s, userID: userID, spent: spent}).run()
	})
	select {
	case <-ctx.Done():
		return record{}, filehost.E(filehost.Timeout, "Signing in to "+s.config.Host.Name+" took too long.", ctx.Err())
	case result := <-flight:
		if result.Err != nil {
			return record{}, result.Err
		}
		return result.Val.(record), nil
	}
}

// succession is one node's part in replacing one generation of one user's tokens. The node that turns the record into a
// lease by compare-and-set, before it spends the refresh token, is the only one to spend it; the others wait for it.
type succession struct {
	*Store
	userID string
	spent  generation

	lost   []byte // a compare-and-set with these bytes was lost: who reads them reads a stale replica
	waited bool   // another node has tried

	lease     []byte    // the lease last seen...
	leaseSeen time.Time // ...and when it was seen first, by this node's clock
}

// verdict is what an entry means for a succession.
type verdict int

const (
	lookAgain   verdict = iota // the replica is stale, or another node holds the lease
	succeeded                  // it holds a successor
	mayTake                    // this node may take the lease
	otherFailed                // another node has tried just now, in vain
	lapsed                     // there is nothing to be renewed
)

func (q *succession) run() (record, error) {
	deadline := q.config.Clock.Now().Add(waitLimit)
	poll := pollFirst
	for q.config.Clock.Now().Before(deadline) {
		read, err := q.load(q.config.Lifetime, q.userID)
		if err != nil {
			return record{}, err
		}
		switch q.judge(read) {
		case succeeded:
			return read.record, nil
		case lapsed:
			return record{}, q.notConnected(read)
		case otherFailed:
			return record{}, q.signInServerDown(errors.New("another node's refresh has failed"))
		case mayTake:
			renewed, decided, err := q.take(read)
			if decided {
				return renewed, err
			}
		}
		if err := q.pause(q.config.Lifetime, poll); err != nil {
			return record{}, storeFailed(err)
		}
		poll = min(2*poll, pollLongest)
	}
	return record{}, q.signInServerDown(errors.New("waited in vain for another node's refresh"))
}

func (q *succession) judge(read entry) verdict {
	switch read.State {
	case active:
		switch {
		case q.lost != nil && bytes.Equal(read.raw, q.lost), q.spent.after(read.Generation):
			return lookAgain
		case read.Generation.after(q.spent) && (read.usable(q.config.Clock.Now()) || !read.renewable()):
			return succeeded
		case read.Generation.after(q.spent): // and has run out as well
			q.spent, q.waited = read.Generation, false
			return mayTake
		case q.waited:
			return otherFailed
		case !read.renewable():
			return lapsed
		}
		return mayTake
	case refreshing:
		if q.spent.after(read.Generation) || !q.expired(read) {
			q.waited = true
			return lookAgain
		}
		return mayTake
	}
	return lapsed
}

// expired tells whether a lease's owner is gone: the deadline has passed even on a clock that is a minute behind, or
// this node itself has seen it unchanged for its whole time.
func (q *succession) expired(read entry) bool {
	now := q.config.Clock.Now()
	if !bytes.Equal(q.lease, read.raw) {
		q.lease, q.leaseSeen = read.raw, now
	}
	return now.After(read.Lease.Deadline.Add(clockSkew)) || now.Sub(q.leaseSeen) >= leaseTime
}

// take takes the lease and spends the refresh token. decided is false when another node was quicker.
func (q *succession) take(read entry) (renewed record, decided bool, err error) {
	attempt := 1
	if read.State == refreshing {
		attempt = read.Lease.Attempt + 1
	}
	if attempt > 2 {
		return q.bury(read)
	}
	at, err := q.endpoints(q.config.Lifetime)
	if err != nil {
		return record{}, true, err
	}
	leased := read.as(refreshing)
	leased.Lease = &lease{Owner: q.config.Node, Deadline: q.config.Clock.Now().Add(leaseTime).UTC(), Attempt: attempt}
	// From here on nothing is cut short by a plugin that stops: a refresh token once sent must be replaced.
	ctx := context.WithoutCancel(q.config.Lifetime)
	held, won, err := q.swap(ctx, q.userID, read, leased)
	if err != nil {
		return record{}, true, err
	}
	if !won {
		q.lost, q.waited = read.raw, true
		return record{}, false, nil
	}
	answer, err := q.spendLease(ctx, at, held)
	switch {
	case err == nil:
		return q.keep(ctx, at, held, answer)
	case failedWith(err, q.provider.profile.deadRefresh...):
		return q.bury(held)
	}
	q.settle(held, held.as(active))
	return record{}, true, q.refreshFailed(err)
}

// spendLease refreshes once. A panic in a library must not take the plugin down with everybody's transfers.
func (q *succession) spendLease(ctx context.Context, at endpoints, held entry) (answer issued, err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = &tokenError{Err: fmt.Errorf("panic of type %T", recovered)} // its text could quote a token
		}
	}()
	return q.spend(ctx, at, held.RefreshToken)
}

func (s *Store) refreshFailed(err error) error {
	if clientRefused(err) {
		return filehost.E(filehost.NotConfigured, clientRefusedMessage, err)
	}
	return s.signInServerDown(err)
}

// bury marks a grant dead, unless the record has changed since it was read: then there is something newer to look at.
func (q *succession) bury(read entry) (record, bool, error) {
	_, won, err := q.swap(context.WithoutCancel(q.config.Lifetime), q.userID, read, read.as(dead))
	switch {
	case err != nil:
		q.settle(read, read.as(dead))
	case !won:
		q.lost, q.waited = read.raw, true
		return record{}, false, nil
	}
	return record{}, true, q.notConnected(entry{record: read.as(dead)})
}
