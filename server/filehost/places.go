package filehost

import (
	"context"
	"slices"
	"sync"
	"time"
)

// placeRetry is what a caller is told to wait when all places are taken.
const placeRetry = 5 * time.Second

// Places counts what is under way at once on this node. It outlives changes of the configuration.
type Places struct {
	doing   string // what a place is for, in the plural, as users read it
	mu      sync.Mutex
	total   int
	byUser  map[string]int
	waiting []*waiter // in the order they came; none of them could have a place now
}

// waiter is who waits for a place.
type waiter struct {
	userID           string
	perUser, perNode int
	has              chan struct{} // closed when he has it
}

// NewPlaces returns a counter at zero for work that users know as doing, such as "copies".
func NewPlaces(doing string) *Places {
	return &Places{doing: doing, byUser: map[string]int{}}
}

// Wait is Take for work that is over soon: it waits for a place until ctx ends. Who came first has the next place that he
// may have.
func (p *Places) Wait(ctx context.Context, userID string, perUser, perNode int) (leave func(), err error) {
	p.mu.Lock()
	err = p.refusal(userID, perUser, perNode)
	if err == nil {
		defer p.mu.Unlock()
		return p.enter(userID), nil
	}
	w := &waiter{userID, perUser, perNode, make(chan struct{})}
	p.waiting = append(p.waiting, w)
	p.mu.Unlock()
	select {
	case <-w.has:
		return p.leaving(userID), nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.waiting, w); at >= 0 {
		p.waiting = slices.Delete(p.waiting, at, at+1)
		return nil, err
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
	return p.enter(userID), nil
}

// refusal says why the user can't have a place now. The caller holds the lock.
func (p *Places) refusal(userID string, perUser, perNode int) error {
	switch {
	case p.byUser[userID] >= perUser:
		return &Error{Kind: RateLimited, RetryAfter: placeRetry, Limit: int64(perUser), LimitOwner: OwnerPlugin,
			Message: "You already have as many " + p.doing + " under way as are allowed at once; wait for one to end."}
	case p.total >= perNode:
		return &Error{Kind: RateLimited, RetryAfter: placeRetry, Limit: int64(perNode), LimitOwner: OwnerPlugin,
			Message: "The server is busy with other " + p.doing + "; try again in a few seconds."}
	}
	return nil
}

// enter takes a place. The caller holds the lock.
func (p *Places) enter(userID string) (leave func()) {
	p.total++
	p.byUser[userID]++
	return p.leaving(userID)
}

func (p *Places) leaving(userID string) (leave func()) {
	return sync.OnceFunc(func() { p.leave(userID) })
}

func (p *Places) leave(userID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.byUser[userID]--; p.byUser[userID] == 0 {
		delete(p.byUser, userID)
	}
	next := slices.IndexFunc(p.waiting, func(w *waiter) bool { return p.refusal(w.userID, w.perUser, w.perNode) == nil })
	if next < 0 {
		return
	}
	w := p.waiting[next]
	p.waiting = slices.Delete(p.waiting, next, next+1)
	p.enter(w.userID)
	close(w.has)
}
