package tokens

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	leaseTime   = 45 * time.Second // longer than an exchange and the writes around it
	clockSkew   = time.Minute      // between nodes
	waitLimit   = 3 * leaseTime    // for another node; longer than it takes to see that its lease has expired
	pollFirst   = 100 * time.Millisecond
	pollLongest = 2 * time.Second

	retryFirst   = 200 * time.Millisecond // of a write that failed
	retryLongest = 10 * time.Second
)

// succession is one node's part in replacing one generation of one user's tokens. The node that turns the record into a
// lease by compare-and-set, before it spends the refresh token, is the only one to spend it; the others wait for it.
type succession struct {
	*Store
	userID string
	spent  generation

	lost   *entry // a compare-and-set with these bytes was lost: who reads them reads a stale replica
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
		if kept, ok := q.notSaved(q.userID); ok && kept.Generation.after(q.spent) {
			return kept, nil // a refresh that was begun under an earlier configuration
		}
		read, err := q.load(q.config.Lifetime, q.userID)
		if err != nil {
			return record{}, err
		}
		switch q.judge(read) {
		case succeeded:
			return read.record, nil
		case lapsed:
			return record{}, q.connectionLost(q.userID, read)
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
	stale := q.lost != nil && bytes.Equal(read.raw, q.lost.raw)
	switch read.State {
	case active:
		switch {
		case stale, q.spent.after(read.Generation):
			return lookAgain
		case read.Generation.after(q.spent) && (read.usable(q.config.Clock.Now()) || !q.renewable(read.record)):
			return succeeded
		case read.Generation.after(q.spent): // and has run out as well
			q.spent, q.lost, q.waited = read.Generation, nil, false
			return mayTake
		case q.tried(read):
			return otherFailed
		case !q.renewable(read.record):
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
	switch {
	case !q.issuable(read.record):
		return lapsed
	case stale:
		return lookAgain
	case q.tried(read):
		return otherFailed
	}
	return mayTake
}

// tried tells whether another node has tried in vain since this one read the record. A compare-and-set that was lost shows
// that, unless the record was only encrypted anew in between.
func (q *succession) tried(read entry) bool {
	return q.waited || q.lost != nil && !read.anew && keyIDOf(q.lost.raw) == keyIDOf(read.raw)
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
	if attempt > 2 && !q.issuable(read.record) {
		return q.bury(read)
	}
	var at endpoints
	if q.provider != nil {
		if at, err = q.endpoints(q.config.Lifetime); err != nil {
			return record{}, true, err
		}
	}
	leased := read.as(refreshing)
	if read.State != active && read.State != refreshing {
		leased = q.vacant(read).as(refreshing)
	}
	leased.Lease = &lease{Owner: q.config.Node, Deadline: q.config.Clock.Now().Add(leaseTime).UTC(), Attempt: attempt}
	// From here on nothing is cut short by a plugin that stops: a refresh token once sent must be replaced.
	ctx := context.WithoutCancel(q.config.Lifetime)
	held, won, err := q.swap(ctx, q.userID, read, leased)
	if err != nil {
		return record{}, true, err
	}
	if !won {
		q.lost = &read
		return record{}, false, nil
	}
	answer, err := q.spendLease(ctx, at, held)
	var stranger *idTokenError
	switch {
	case err == nil:
		if held.empty() {
			q.auditAutomatic(ctx, filehost.AuditEvent{Outcome: filehost.AuditSuccess, ActingUserID: q.userID, Account: answer.Account})
		}
		return q.keep(ctx, at, held, answer)
	case asRefusal(err) != nil:
		q.auditAutomatic(ctx, filehost.AuditEvent{Outcome: filehost.AuditFail, ActingUserID: q.userID, Code: codeRefused})
		next := q.refused(held.record, asRefusal(err))
		q.settleAs(held, next)
		return record{}, true, q.notConnected(entry{record: next})
	case errors.As(err, &stranger):
		q.drop(ctx, at, held, answer, stranger)
		return q.bury(held)
	case !q.isAutomatic(held.record) && failedWith(err, q.provider.profile.deadRefresh...) && !userMissing(err):
		return q.bury(held)
	}
	if held.empty() {
		q.giveBack(held)
	} else {
		q.settleAs(held, held.as(active))
	}
	return record{}, true, q.refreshFailed(err)
}

// spendLease refreshes once. A panic in a library must not take the plugin down with everybody's transfers.
func (q *succession) spendLease(ctx context.Context, at endpoints, held entry) (answer issued, err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = &tokenError{Err: fmt.Errorf("panic of type %T", recovered)} // its text could quote a token
		}
	}()
	if q.isAutomatic(held.record) {
		return q.issue(ctx, q.userID)
	}
	// What he meets may be about his account there: alone he spares the server for nobody.
	answer, err = q.spend(filehost.ForUser(ctx, q.userID), at, held.RefreshToken)
	if err == nil {
		err = q.sameSubject(ctx, at, held.record, answer)
	}
	return answer, err
}

// drop revokes tokens that are not those of who has signed in.
func (q *succession) drop(ctx context.Context, at endpoints, held entry, answer issued, reason *idTokenError) {
	q.config.Log.Error("The sign-in server has answered a refresh with an ID token that is refused: the user has to connect again.", "host", q.config.Host.ID, "error", reason.Error())
	dropped := held.as(active)
	dropped.AccessToken, dropped.RefreshToken, dropped.UsableUntil = answer.AccessToken, answer.RefreshToken, answer.UsableUntil
	q.config.Pending.background(q.config.Log, func() { q.revokeAll(ctx, at, dropped) })
}

func (s *Store) refreshFailed(err error) error {
	var known *filehost.Error
	if errors.As(err, &known) {
		return err
	}
	if clientRefused(err) {
		return filehost.E(filehost.NotConfigured, clientRefusedMessage, err)
	}
	if userMissing(err) {
		return filehost.E(filehost.HostUnavailable, "The sign-in server of "+s.config.Host.Name+" does not find your account at the moment. Try again later; if it stays so, ask the admin of "+s.config.Host.Name+".", err)
	}
	if throttled, ok := s.throttled(err); ok {
		return throttled
	}
	return s.signInServerDown(err)
}

// bury marks a grant dead, unless the record has changed since it was read: then there is something newer to look at.
func (q *succession) bury(read entry) (record, bool, error) {
	_, won, err := q.swap(context.WithoutCancel(q.config.Lifetime), q.userID, read, read.as(dead))
	switch {
	case err != nil:
		q.settleAs(read, read.as(dead))
	case !won:
		q.lost, q.waited = &read, true
		return record{}, false, nil
	}
	return record{}, true, q.connectionLost(q.userID, entry{record: read.as(dead)})
}

// keep saves the outcome of a refresh. When the store fails, memory keeps it and goes on trying. decided is false when
// the user has disconnected or connected anew in the meantime.
func (q *succession) keep(ctx context.Context, at endpoints, held entry, answer issued) (renewed record, decided bool, err error) {
	next := held.as(active)
	next.Before = nil
	next.Generation = held.Generation.next(q.config.Clock.Now())
	next.AccessToken, next.RefreshToken, next.UsableUntil = answer.AccessToken, answer.RefreshToken, answer.UsableUntil
	next.Account, next.Username = cmp.Or(answer.Account, next.Account), answer.Username
	switch q.store(ctx, q.userID, held, next) {
	case stored:
		q.revokeBefore(ctx, next, held.Before)
		return next, true, nil
	case superseded:
		q.config.Pending.background(q.config.Log, func() { q.revokeAll(ctx, at, next) })
		q.lost, q.waited = &held, true
		return record{}, false, nil
	}
	q.config.Log.Warn("A refreshed sign-in could not be saved yet; this node keeps it and goes on trying.", "host", q.config.Host.ID)
	q.keepUnsaved(q.userID, next)
	q.config.Pending.background(q.config.Log, func() {
		q.retry(func() bool {
			outcome := q.store(ctx, q.userID, held, next)
			switch outcome {
			case superseded:
				q.revokeAll(ctx, at, next)
			case stored:
				q.revokeBefore(ctx, next, held.Before)
			}
			if outcome != notStored {
				q.saved(q.userID, next)
			}
			return outcome != notStored
		})
	})
	return next, true, nil
}

// settleAs gives a lease up for what it came to. When the store fails, it goes on trying; when it says that the lease is no
// longer held, there is nothing to be done.
func (q *succession) settleAs(held entry, next record) {
	ctx := context.WithoutCancel(q.config.Lifetime)
	q.insist(func() bool {
		_, _, err := q.swap(ctx, q.userID, held, next)
		return err == nil
	})
}

// giveBack gives a lease up for what was there before it.
func (q *succession) giveBack(held entry) {
	ctx := context.WithoutCancel(q.config.Lifetime)
	q.insist(func() bool {
		_, err := q.putBack(ctx, q.userID, held)
		return err == nil
	})
}

// revokeBefore revokes a grant whose place a credential of the automatic method has taken.
func (q *succession) revokeBefore(ctx context.Context, next record, before *record) {
	if before != nil {
		q.revokeReplaced(next, q.grants(ctx, q.userID, entry{stored: record{Before: before}})...)
	}
}

// insist calls try, and goes on in the background when it fails.
func (q *succession) insist(try func() bool) {
	if !try() {
		q.config.Pending.background(q.config.Log, func() { q.retry(try) })
	}
}

// retry calls try until it succeeds, or reports false when the plugin stops before.
func (s *Store) retry(try func() bool) bool {
	for wait := retryFirst; s.pause(s.config.Lifetime, wait) == nil; wait = min(2*wait, retryLongest) {
		if try() {
			return true
		}
	}
	s.config.Log.Warn("What a sign-in has brought could not be saved before the plugin stopped.", "host", s.config.Host.ID)
	return false
}
