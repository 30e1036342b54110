package filehost

import (
	"context"
	"sync"
	"time"
)

// placeRetry is what a caller is told to wait when all places are taken.
const placeRetry = 5 * time.Second

// Places counts what is under way at once on this node. It outlives changes of the configuration.
type Places struct {
	doing  string // what a place is for, in the plural, as users read it
	mu     sync.Mutex
	total  int
	byUser map[string]int
	left   chan struct{} // closed when a place has become free
}

// NewPlaces returns a counter at zero for work that users know as doing, such as "copies".
func NewPlaces(doing string) *Places {
	return &Places{doing: doing, byUser: map[string]int{}, left: make(chan struct{})}
}

// Wait is Take for work that is over soon: it waits for a place until ctx ends.
func (p *Places) Wait(ctx context.Context, userID string, perUser, perNode int) (leave func(), err error) {
	for {
		p.mu.Lock()
		left := p.left
		p.mu.Unlock()
		if leave, err = p.Take(userID, perUser, perNode); err == nil {
			return leave, nil
		}
		select {
		case <-left:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// Take takes a place for the user, of at most perUser for each and perNode for all, or fails with RateLimited. Call leave
// when the work is over; further calls of it do nothing.
func (p *Places) Take(userID string, perUser, perNode int) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.byUser[userID] >= perUser:
		return nil, &Error{Kind: RateLimited, RetryAfter: placeRetry, Limit: int64(perUser), LimitOwner: OwnerPlugin,
			Message: "You already have as many " + p.doing + " under way as are allowed at once; wait for one to end."}
	case p.total >= perNode:
		return nil, &Error{Kind: RateLimited, RetryAfter: placeRetry, Limit: int64(perNode), LimitOwner: OwnerPlugin,
			Message: "The server is busy with other " + p.doing + "; try again in a few seconds."}
	}
	p.total++
	p.byUser[userID]++
	return sync.OnceFunc(func() { p.leave(userID) }), nil
}

func (p *Places) leave(userID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.byUser[userID]--; p.byUser[userID] == 0 {
		delete(p.byUser, userID)
	}
	close(p.left)
	p.left = make(chan struct{})
}
