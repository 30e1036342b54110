package filehost

import (
	"sync"
	"time"
)

// copyRetry is what a caller is told to wait when all places are taken.
const copyRetry = 5 * time.Second

// Copies counts the copies under way on this node. It outlives changes of the configuration.
type Copies struct {
	mu     sync.Mutex
	total  int
	byUser map[string]int
}

// NewCopies returns a counter at zero.
func NewCopies() *Copies { return &Copies{byUser: map[string]int{}} }

// Begin takes a place for a copy of the user, or fails with RateLimited. Call end once when the copy is over.
func (c *Copies) Begin(userID string, limits Settings) (end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.byUser[userID] >= limits.CopiesPerUser:
		return nil, &Error{Kind: RateLimited, RetryAfter: copyRetry, Limit: int64(limits.CopiesPerUser), LimitOwner: OwnerPlugin,
			Message: "You already have as many copies under way as are allowed at once; wait for one to end."}
	case c.total >= limits.CopiesPerNode:
		return nil, &Error{Kind: RateLimited, RetryAfter: copyRetry, Limit: int64(limits.CopiesPerNode), LimitOwner: OwnerPlugin,
			Message: "The server is busy with other copies; try again in a few seconds."}
	}
	c.total++
	c.byUser[userID]++
	return sync.OnceFunc(func() { c.end(userID) }), nil
}

func (c *Copies) end(userID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total--
	if c.byUser[userID]--; c.byUser[userID] == 0 {
		delete(c.byUser, userID)
	}
}
