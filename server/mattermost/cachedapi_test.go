package mattermost

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// configured is a server that counts how often it is asked for its configuration. Its site URL is that count, or
// there is no configuration while it is silent.
type configured struct {
	plugin.API
	asked  atomic.Int64
	silent atomic.Bool
	while  func() // runs while the server makes its answer
}

func (c *configured) GetConfig() *model.Config {
	count := c.asked.Add(1)
	if c.while != nil {
		c.while()
	}
	if c.silent.Load() {
		return nil
	}
	url := string(rune('0' + count))
	return &model.Config{ServiceSettings: model.ServiceSettings{SiteURL: &url}}
}

func siteOf(t *testing.T, api plugin.API) string {
	t.Helper()
	config := api.GetConfig()
	require.NotNil(t, config)
	return *config.ServiceSettings.SiteURL
}

func TestTheConfigurationIsAskedForOnceAndAgainAfterAChange(t *testing.T) {
	server := &configured{}
	cached := NewCachedAPI(server, clockwork.NewFakeClock())
	assert.Equal(t, "1", siteOf(t, cached))
	assert.Equal(t, "1", siteOf(t, cached))
	cached.Forget()
	assert.Equal(t, "2", siteOf(t, cached))
	assert.Equal(t, "2", siteOf(t, cached))
}

func TestAMissedChangeOfTheConfigurationHeals(t *testing.T) {
	clock := clockwork.NewFakeClock()
	cached := NewCachedAPI(&configured{}, clock)
	assert.Equal(t, "1", siteOf(t, cached))
	clock.Advance(configMaxAge - 1)
	assert.Equal(t, "1", siteOf(t, cached))
	clock.Advance(1)
	assert.Equal(t, "2", siteOf(t, cached))
}

func TestTimeThatTheAnswerTakesCountsAsItsAge(t *testing.T) {
	clock := clockwork.NewFakeClock()
	server := &configured{while: func() { clock.Advance(time.Second) }}
	cached := NewCachedAPI(server, clock)
	assert.Equal(t, "1", siteOf(t, cached))
	clock.Advance(configMaxAge - time.Second)
	assert.Equal(t, "2", siteOf(t, cached))
}

func TestAnAnswerFromBeforeAChangeIsNotKept(t *testing.T) {
	server := &configured{}
	cached := NewCachedAPI(server, clockwork.NewFakeClock())
	server.while = func() { server.while = nil; cached.Forget() }
	assert.Equal(t, "1", siteOf(t, cached), "who asked before the change may get what was there before it")
	assert.Equal(t, "2", siteOf(t, cached))
}

func TestNoConfigurationIsNotKept(t *testing.T) {
	server := &configured{}
	server.silent.Store(true)
	cached := NewCachedAPI(server, clockwork.NewFakeClock())
	assert.Nil(t, cached.GetConfig())
	server.silent.Store(false)
	assert.Equal(t, "2", siteOf(t, cached))
}

func TestManyWhoNeedTheConfigurationAtOnceAskOnce(t *testing.T) {
	const callers = 50
	begun, release := make(chan struct{}), make(chan struct{})
	server := &configured{}
	server.while = func() { close(begun); <-release }
	cached := NewCachedAPI(server, clockwork.NewFakeClock())
	var group sync.WaitGroup
	group.Go(func() { cached.GetConfig() })
	<-begun
	for range callers {
		group.Go(func() { cached.GetConfig() })
	}
	close(release)
	group.Wait()
	assert.EqualValues(t, 1, server.asked.Load())
}
