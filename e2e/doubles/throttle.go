package doubles

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// Nextcloud's protection against guessing (lib/private/Security/Bruteforce), which counts what failed
// for each action and address. The doubles are called from one address.
const (
	throttleMemory = 12 * time.Hour   // a failure makes the next tries wait for that long
	throttleWindow = 30 * time.Minute // so many failures in this time, and nothing is tried any more
	throttleMost   = 10
	throttleFirst  = 200 * time.Millisecond // after one failure; each further one doubles it
	throttleLimit  = 25 * time.Second
)

// throttle counts the failures of one action.
type throttle struct {
	clock clockwork.Clock

	mu       sync.Mutex
	failures []time.Time
}

func (t *throttle) fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, t.clock.Now())
}

func (t *throttle) since(age time.Duration) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	count := 0
	for _, at := range t.failures {
		if t.clock.Since(at) < age {
			count++
		}
	}
	return count
}

// closed tells whether the address is sent away.
func (t *throttle) closed() bool { return t.since(throttleWindow) > throttleMost }

// delay is how long the host keeps the next try waiting. The doubles don't wait: tests that are about
// this ask for the time.
func (t *throttle) delay() time.Duration {
	delay := throttleFirst
	for range t.since(throttleMemory) - 1 {
		if delay *= 2; delay >= throttleLimit {
			return throttleLimit
		}
	}
	if t.since(throttleMemory) == 0 {
		return 0
	}
	return delay
}
