package remote

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// What the requests of users meet is remembered for trafficMinutes, minute by minute.
const trafficMinutes = 5

// traffic counts what the requests of users meet, for the health check: that asks too little itself to be throttled or
// to see a host stall. It knows nothing of whose requests they are, and for what. It is safe for concurrent use.
type traffic struct {
	clock    clockwork.Clock
	troubled func() // called when there is trouble after minutes without
	mu       sync.Mutex
	minutes  [trafficMinutes]tally
}

// tally are the requests of one minute.
type tally struct {
	minute  int64 // since 1970
	sent    int   // those that were spared included
	limited int   // answered with 429
	stalled int   // no byte came for the time that the admin has set
	spared  int   // not sent, because those before failed in a row
}

func (t tally) troubles() int { return t.limited + t.stalled + t.spared }

func newTraffic(clock clockwork.Clock, troubled func()) *traffic {
	if troubled == nil {
		troubled = func() {}
	}
	return &traffic{clock: clock, troubled: troubled}
}

// count changes the tally of this minute.
func (t *traffic) count(change func(*tally)) {
	t.mu.Lock()
	before := t.sum().troubles()
	minute := t.minute()
	current := &t.minutes[minute%trafficMinutes]
	if current.minute != minute {
		*current = tally{minute: minute}
	}
	change(current)
	begins := before == 0 && t.sum().troubles() > 0
	t.mu.Unlock()
	if begins {
		t.troubled()
	}
}

func (t *traffic) minute() int64 { return t.clock.Now().Unix() / int64(time.Minute/time.Second) }

// sum adds up the last minutes. The caller holds the lock.
func (t *traffic) sum() (sum tally) {
	now := t.minute()
	for _, one := range t.minutes {
		if now-one.minute < trafficMinutes {
			sum.sent += one.sent
			sum.limited += one.limited
			sum.stalled += one.stalled
			sum.spared += one.spared
		}
	}
	return sum
}

// remedy says what an admin can do about the trouble of the last minutes; "" = there is none.
func (t *traffic) remedy(name string) string {
	t.mu.Lock()
	sum := t.sum()
	t.mu.Unlock()
	var remedies []string
	add := func(count int, format string) {
		if count > 0 {
			remedies = append(remedies, fmt.Sprintf("Users' requests to %s in the last %d minutes: %d of %d ", name, trafficMinutes, count, sum.sent)+format)
		}
	}
	add(sum.limited, "were refused as too many (429). Let the host "+filehost.AcceptAddress)
	add(sum.stalled, "were given up because no byte came for a while. Look at the load, the storage and the proxy of the host; “"+
		filehost.LabelStallSeconds+"” in the plugin's settings says how long.")
	add(sum.spared, "were held back for some seconds each, because those before failed in a row without an answer or with an error of the host (500, 502, 504). Look into the host's log.")
	return strings.Join(remedies, " ")
}
