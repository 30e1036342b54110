package filehost

import (
	"context"
	"slices"
	"sync"
	"time"
)

// placeRetry is what a caller is told to wait when all places are taken.
const placeRetry = 5 * time.Second

// mostWaiting is how many may wait for a place at once for one user. An integration with one account may well call
// some hundred times at once; one that doesn't wait for its answers could go on without end.
const mostWaiting = 512

// Places counts what is under way at once on this node. It outlives changes of the configuration.
type Places struct {
	doing  string // what a place is for, in the plural, as users read it
	mu     sync.Mutex
	total  int
	byUser map[string]int
	lines  []*line // in the order of their turns; none of those in them could have a place now
}

// line is of those who wait for one user, in the order they came. It is never empty.
type line struct {
	userID  string
	waiting []*waiter
}

// waiter is who waits for a place.
type waiter struct {
	perUser, perNode int
	has              chan struct{} // closed when he has it
}

// NewPlaces returns a counter at zero for work that users know as doing, such as "copies".
func NewPlaces(doing string) *Places {
	return &Places{doing: doing, byUser: map[string]int{}}
}

// Wait is Take for work that is over soon: it waits for a place until ctx ends. Users have their turns one after the other,
// but who has perUser places already; for one user, who came first has the next place. It fails with RateLimited at once
// when too many wait for the user already.
func (p *Places) Wait(ctx context.Context, userID string, perUser, perNode int) (leave func(), err error) {
	p.mu.Lock()
	refusal := p.refusal(userID, perUser, perNode)
	if refusal == nil {
		defer p.mu.Unlock()
		p.enter(userID)
		return p.leaving(userID), nil
	}
	w := &waiter{perUser, perNode, make(chan struct{})}
	err = p.queue(userID, w)
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case <-w.has:
		return p.leaving(userID), nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.lineOf(userID); at >= 0 {
		if place := slices.Index(p.lines[at].waiting, w); place >= 0 {
			p.unqueue(at, place)
			return nil, refusal
		}
	}
	return p.leaving(userID), nil // it came at the last moment
}

// Take takes a place for the user, of at most perUser for each and perNode for all, or fails with RateLimited. Call leave
// when the work is over; further calls of it do nothing.
func (p *Places) Take(userID string, perUser, perNode int) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refusal(userID, perUser, perNode); err != nil {
		return nil, err
	}
	p.enter(userID)
	return p.leaving(userID), nil
}

// refusal says why the user can't have a place now. The caller holds the lock.
func (p *Places) refusal(userID string, perUser, perNode int) error {
	switch {
	case p.free(userID, perUser, perNode):
		return nil
	case p.byUser[userID] >= perUser:
		return &Error{Kind: RateLimited, RetryAfter: placeRetry, Limit: int64(perUser), LimitOwner: OwnerPlugin,
			Message: "You already have as many " + p.doing + " under way as are allowed at once; wait for one to end."}
	default:
		return &Error{Kind: RateLimited, RetryAfter: placeRetry, Limit: int64(perNode), LimitOwner: OwnerPlugin,
			Message: "The server is busy with other " + p.doing + "; try again in a few seconds."}
	}
}

// free tells whether the user can have a place now. The caller holds the lock.
func (p *Places) free(userID string, perUser, perNode int) bool {
	return p.byUser[userID] < perUser && p.total < perNode
}

// enter takes a place. The caller holds the lock.
func (p *Places) enter(userID string) {
	p.total++
	p.byUser[userID]++
}

func (p *Places) leaving(userID string) (leave func()) {
	return sync.OnceFunc(func() { p.leave(userID) })
}

// leave gives a place back, and on to who is next. It costs the same however many wait, since it holds up everybody.
func (p *Places) leave(userID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.byUser[userID]--; p.byUser[userID] == 0 {
		delete(p.byUser, userID)
	}
	for at, l := range p.lines {
		w := l.waiting[0]
		if !p.free(l.userID, w.perUser, w.perNode) {
			continue
		}
		p.enter(l.userID)
		p.unqueue(at, 0)
		if len(l.waiting) > 0 { // his next turn is behind everybody else's
			p.lines = append(slices.Delete(p.lines, at, at+1), l)
		}
		close(w.has)
		return
	}
}

// queue has w wait in the user's line. The caller holds the lock.
func (p *Places) queue(userID string, w *waiter) error {
	at := p.lineOf(userID)
	if at < 0 {
		at = len(p.lines)
		p.lines = append(p.lines, &line{userID: userID})
	}
	l := p.lines[at]
	if len(l.waiting) >= mostWaiting {
		return &Error{Kind: RateLimited, RetryAfter: placeRetry, Limit: mostWaiting, LimitOwner: OwnerPlugin,
			Message: "You already have as many " + p.doing + " waiting as are allowed at once; wait for one to end."}
	}
	l.waiting = append(l.waiting, w)
	return nil
}

// unqueue takes one out of a line, and the line away with the last. The caller holds the lock.
func (p *Places) unqueue(at, place int) {
	l := p.lines[at]
	if l.waiting = slices.Delete(l.waiting, place, place+1); len(l.waiting) == 0 {
		p.lines = slices.Delete(p.lines, at, at+1)
	}
}

// lineOf is where a user's line is, -1 for none. The caller holds the lock.
func (p *Places) lineOf(userID string) int {
	return slices.IndexFunc(p.lines, func(l *line) bool { return l.userID == userID })
}
