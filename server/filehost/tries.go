package filehost

import (
	"context"
	"time"
)

// What is done at once when another node has changed a value first, and how long is waited when that can't be why: a
// replica that lags behind shows the same again and again.
const (
	promptTries = 50
	tryAfter    = 10 * time.Millisecond // twice as long after each further one...
	tryAtMost   = time.Second           // ...and at most this
)

// mayTry tells whether there is time for another try at a compare-and-set, when so many have failed.
func (s *Service) mayTry(ctx context.Context, tries int) bool {
	if waits := tries - promptTries; waits >= 0 {
		select {
		case <-s.Clock.After(min(tryAfter<<min(waits, 10), tryAtMost)):
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}
