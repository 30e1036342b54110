package tokens

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// A host slows or blocks the address that failed sign-ins come from, and for all users that is Mattermost's. So few of
// them get there in any failureTime, which is Nextcloud's: of one user, whichever node he is on, and of all users of one
// node, where the profile of the host knows no lower limit.
const (
	failureTime  = 30 * time.Minute
	userFailures = 5
	nodeFailures = 60
)

// userConnects is how often a user may be connected anew in any failureTime, by a method without a click or a password:
// each time costs the sign-in server a token, or this node the search for one, whether it succeeds or not.
const userConnects = 10

// nodeLimit is how many failed sign-ins of one node the host is to see in any failureTime.
func (s *Store) nodeLimit() int { return cmp.Or(profiles[s.config.Host.Kind].failures, nodeFailures) }

// attempts are when sign-ins have begun that failed or are still under way.
type attempts struct {
	Times   []time.Time       `json:"times"`             // the earliest first
	Refused []refusedPassword `json:"refused,omitempty"` // of one user
	// Connects are when one user was connected anew, or wanted to be, at whose word whatsoever.
	Connects []time.Time `json:"connects,omitempty"`
}

// refusedPassword is a user name and password that the host has refused. Sent again they would be refused again, and
// count against everybody's address.
type refusedPassword struct {
	Fingerprint string    `json:"fingerprint"` // by a key of the plugin: it tells nothing of the password
	At          time.Time `json:"at"`
}

// prune forgets what the host has forgotten as well.
func (a *attempts) prune(now time.Time) {
	forgotten := func(t time.Time) bool { return now.Sub(t) >= failureTime }
	a.Times, a.Connects = slices.DeleteFunc(a.Times, forgotten), slices.DeleteFunc(a.Connects, forgotten)
	a.Refused = slices.DeleteFunc(a.Refused, func(r refusedPassword) bool { return now.Sub(r.At) >= failureTime })
}

// take adds an attempt, or tells how long there must be none.
func (a *attempts) take(now time.Time, limit int) (wait time.Duration) {
	a.prune(now)
	return takeOf(&a.Times, now, limit)
}

// connect adds that a user wants to be connected anew, or tells how long he must not.
func (a *attempts) connect(now time.Time) (wait time.Duration) {
	a.prune(now)
	return takeOf(&a.Connects, now, userConnects)
}

func takeOf(times *[]time.Time, now time.Time, limit int) (wait time.Duration) {
	if len(*times) >= limit {
		return max(time.Second, (*times)[0].Add(failureTime).Sub(now))
	}
	*times = append(*times, now)
	return 0
}

// giveBack removes an attempt that did not fail.
func (a *attempts) giveBack(begun time.Time) {
	if i := slices.IndexFunc(a.Times, begun.Equal); i >= 0 {
		a.Times = slices.Delete(a.Times, i, i+1)
	}
}

// nodeAttempts are those of all users of a node, by the origin of the host that counts them: a host knows nothing of what
// failed at another, before the admin changed its address.
type nodeAttempts struct {
	mu       sync.Mutex
	byOrigin map[string]*attempts
}

func (n *nodeAttempts) take(origin string, now time.Time, limit int) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byOrigin == nil {
		n.byOrigin = map[string]*attempts{}
	}
	if n.byOrigin[origin] == nil {
		n.byOrigin[origin] = &attempts{}
	}
	return n.byOrigin[origin].take(now, limit)
}

func (n *nodeAttempts) giveBack(origin string, begun time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known := n.byOrigin[origin]; known != nil {
		known.giveBack(begun)
	}
}

// attempt lets a user try to sign in at the host, unless too many have failed. The attempt counts from its beginning, so
// that those made at once are counted like those made in turn, and no longer when it turns out not to be a failure.
func (s *Store) attempt(ctx context.Context, userID string, signIn func() error) error {
	begun := s.config.Clock.Now().UTC()
	node, origin := &s.config.Pending.attempts, s.config.Host.Origin()
	if wait := node.take(origin, begun, s.nodeLimit()); wait > 0 {
		return s.tooManyFailures(wait)
	}
	var wait time.Duration
	err := s.changeAttempts(ctx, userID, func(a *attempts) { wait = a.take(begun, userFailures) })
	if err == nil && wait > 0 {
		err = s.tooManyFailures(wait)
	}
	if err != nil {
		node.giveBack(origin, begun)
		return err
	}
	err = signIn()
	if !heldAgainstUs(err) {
		node.giveBack(origin, begun)
		// Should the store fail here, the user has an attempt less for a while.
		_ = s.changeAttempts(context.WithoutCancel(ctx), userID, func(a *attempts) { a.giveBack(begun) })
	}
	return err
}

// mayConnect counts that a user is about to be connected anew at his own word, and fails when he was too often. What
// nodes know of it they know together.
func (s *Store) mayConnect(ctx context.Context, userID string) error {
	var wait time.Duration
	err := s.changeAttempts(ctx, userID, func(a *attempts) { wait = a.connect(s.config.Clock.Now().UTC()) })
	if err == nil && wait > 0 {
		return &filehost.Error{Kind: filehost.RateLimited, RetryAfter: wait,
			Message: "You have connected to " + s.config.Host.Name + " too often. Try again later."}
	}
	return err
}

func (s *Store) tooManyFailures(wait time.Duration) error {
	return &filehost.Error{
		Kind: filehost.RateLimited, RetryAfter: wait,
		Message: "Too many sign-ins to " + s.config.Host.Name + " have failed. Try again later.",
	}
}

// heldAgainstUs tells whether the host, or its sign-in server, may have counted an attempt as one with a wrong password
// or code. One that got no answer in time may be one that is being slowed down.
func heldAgainstUs(err error) bool {
	var answer *tokenError
	var rested *restedError
	switch {
	case err == nil, errors.As(err, &rested):
		return false
	case errors.Is(err, context.DeadlineExceeded):
		return true
	case errors.As(err, &answer):
		return answer.Status/100 == 4 && answer.Status != http.StatusTooManyRequests
	}
	switch filehost.KindOf(err) {
	case filehost.HostUnavailable, filehost.Maintenance, filehost.RateLimited, filehost.Internal:
		return false
	}
	return true
}

// changeAttempts changes what all nodes know of a user's attempts, under compare-and-set: change may be called again.
func (s *Store) changeAttempts(ctx context.Context, userID string, change func(*attempts)) error {
	key, at := s.key("tries_", userID), s.place(attemptsPurpose, userID)
	return s.contest(ctx, func() (won bool, err error) {
		old, err := s.config.KV.Get(ctx, key)
		if err != nil {
			return false, storeFailed(err)
		}
		known := s.attemptsIn(at, old)
		change(&known)
		if len(known.Times)+len(known.Refused)+len(known.Connects) == 0 && old != nil {
			won, err = s.config.KV.CompareAndDelete(ctx, key, old)
		} else if raw, failed := s.config.Cipher.encryptJSON(at, known); failed != nil {
			return false, filehost.E(filehost.Internal, "The sign-in could not be encrypted.", failed)
		} else {
			won, err = s.config.KV.CompareAndSet(ctx, key, old, raw, failureTime)
		}
		if err != nil {
			return false, storeFailed(err)
		}
		return won, nil
	})
}

// attemptsIn reads what the store has of a user's attempts.
func (s *Store) attemptsIn(at place, raw []byte) attempts {
	var known attempts
	if raw != nil && s.config.Cipher.decryptJSON(at, raw, &known) != nil {
		known = attempts{} // of a key that is gone
	}
	known.prune(s.config.Clock.Now())
	return known
}

// wasRefused tells whether the host has refused a user name and password of this user lately.
func (s *Store) wasRefused(ctx context.Context, userID, fingerprint string) (bool, error) {
	raw, err := s.config.KV.Get(ctx, s.key("tries_", userID))
	if err != nil {
		return false, storeFailed(err)
	}
	known := s.attemptsIn(s.place(attemptsPurpose, userID), raw)
	return slices.ContainsFunc(known.Refused, func(r refusedPassword) bool {
		return subtle.ConstantTimeCompare([]byte(r.Fingerprint), []byte(fingerprint)) == 1
	}), nil
}

// noteRefused remembers that the host has refused a user name and password, as well as it can.
func (s *Store) noteRefused(ctx context.Context, userID, fingerprint string) {
	now := s.config.Clock.Now().UTC()
	_ = s.changeAttempts(context.WithoutCancel(ctx), userID, func(a *attempts) {
		a.Refused = append(a.Refused, refusedPassword{fingerprint, now})
		a.Refused = a.Refused[max(0, len(a.Refused)-userFailures):]
	})
}
