package mattermost

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
)

// configMaxAge is how long a configuration counts when nobody says that it has changed.
const configMaxAge = 30 * time.Second

// CachedAPI is the plugin API, but that it asks for the server's configuration only when that may have changed. For each
// such question the server reads the manifests of all its plugins from the disk, and sends all of its settings: half a
// millisecond where there is one plugin. It is safe for concurrent use.
type CachedAPI struct {
	plugin.API
	clock   clockwork.Clock
	changes atomic.Int64 // how many Forget has been told of
	asking  sync.Mutex   // one asks for all
	kept    atomic.Pointer[keptConfig]
}

// keptConfig is an answer of the server. Nobody changes it.
type keptConfig struct {
	config  *model.Config
	changes int64 // those known of when the server was asked
	asked   time.Time
}

// NewCachedAPI returns api with a memory.
func NewCachedAPI(api plugin.API, clock clockwork.Clock) *CachedAPI {
	return &CachedAPI{API: api, clock: clock}
}

// Forget says that the configuration has changed: who asks from now on gets the new one.
func (c *CachedAPI) Forget() { c.changes.Add(1) }

// GetConfig implements plugin.API. It is not older than the last Forget, nor than 30 s, in which a missed Forget heals.
// The configuration is shared: it must not be changed. It is nil when the server gives none.
func (c *CachedAPI) GetConfig() *model.Config {
	if config := c.current(); config != nil {
		return config
	}
	c.asking.Lock()
	defer c.asking.Unlock()
	if config := c.current(); config != nil {
		return config // somebody asked while we waited
	}
	// Counted and timed before the question: a change after it may or may not be in the answer.
	asked := &keptConfig{changes: c.changes.Load(), asked: c.clock.Now()}
	asked.config = c.API.GetConfig()
	c.kept.Store(asked) // which says nothing when it holds none
	return asked.config
}

func (c *CachedAPI) current() *model.Config {
	kept := c.kept.Load()
	if kept == nil || kept.changes != c.changes.Load() || c.clock.Since(kept.asked) >= configMaxAge {
		return nil
	}
	return kept.config
}
