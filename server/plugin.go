package main

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/assets"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/mattermost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/tokens"
)

// Plugin implements the hooks. What serves requests is swapped whole when the configuration changes.
type Plugin struct {
	plugin.MattermostPlugin

	lifetime context.Context //nolint:containedctx // the plugin's own, which everything it does derives from
	stop     context.CancelFunc
	log      *slog.Logger
	clock    clockwork.Clock // a test's own; else the real one
	node     string
	pending  *tokens.Pending
	copies   *filehost.Places
	listings *filehost.Places
	siteURL  func() string
	api      *api.Handler

	configuring sync.Mutex // orders changes of the configuration
	current     atomic.Pointer[runtime]
	retrying    bool
}

// OnActivate implements plugin.Hooks. A wrong configuration doesn't stop the plugin: its health page says what is wrong.
func (p *Plugin) OnActivate() error {
	p.lifetime, p.stop = context.WithCancel(context.Background())
	p.log = mattermost.NewLogger(p.API)
	if p.clock == nil {
		p.clock = clockwork.NewRealClock()
	}
	p.node, p.pending = newNode(), tokens.NewPending()
	p.copies, p.listings = filehost.NewPlaces("copies"), filehost.NewPlaces("listings")
	server := mattermost.New(mattermost.Config{API: p.API})
	p.siteURL = server.SiteURL
	p.api = api.New(api.Config{
		Lifetime:      p.lifetime,
		Runtime:       func() api.Runtime { return p.current.Load().Runtime },
		User:          server.User,
		SiteURL:       server.SiteURL,
		Version:       version,
		ServerVersion: p.API.GetServerVersion(),
		OpenAPI:       assets.OpenAPI,
		Log:           p.log,
	})
	p.configure()
	return nil
}

// OnConfigurationChange implements plugin.Hooks. Mattermost calls it once before OnActivate, too.
func (p *Plugin) OnConfigurationChange() error {
	if p.api != nil {
		p.configure()
	}
	return nil
}

// OnDeactivate implements plugin.Hooks. A token refresh that has begun is finished: its refresh token is spent.
func (p *Plugin) OnDeactivate() error {
	p.stop()
	p.configuring.Lock()
	defer p.configuring.Unlock()
	p.pending.Wait()
	return nil
}

// ServeHTTP implements plugin.Hooks.
func (p *Plugin) ServeHTTP(c *plugin.Context, w http.ResponseWriter, r *http.Request) {
	p.api.ServeHTTP(w, api.WithRequestID(r, c.RequestId))
}

// configure reads the settings and puts what follows from them in the place of what was there.
func (p *Plugin) configure() {
	p.configuring.Lock()
	defer p.configuring.Unlock()
	loaded, err := p.loadSource()
	previous := p.current.Load()
	if err == nil && previous != nil && reflect.DeepEqual(previous.source, loaded) {
		return // another part of the server's configuration changed
	}
	var next *runtime
	if err == nil {
		next, err = p.newRuntime(loaded)
	}
	if err != nil {
		p.log.Error("The plugin is not configured.", "error", err)
		next = p.newFailed(err)
		p.retryUnlessWrong(err)
	}
	p.current.Store(next)
	if previous != nil {
		previous.cancel()
	}
	p.log.Debug("The configuration is in force.", "configured", err == nil)
}

// retryUnlessWrong configures again in a while when the settings are not to blame, such as when the key-value store is
// down. The caller holds the lock.
func (p *Plugin) retryUnlessWrong(err error) {
	var wrong config.Problems
	if p.retrying || errors.As(err, &wrong) || filehost.KindOf(err) == filehost.NotConfigured {
		return
	}
	p.retrying = true
	go func() {
		select {
		case <-p.lifetime.Done():
		case <-p.clock.After(checkInterval):
			p.configuring.Lock()
			p.retrying = false
			p.configuring.Unlock()
			p.configure()
		}
	}()
}

// remedyOf is what the health page says of a configuration that can't be used.
func remedyOf(err error) string {
	var known *filehost.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return err.Error()
}

// The rhythm of the background checks.
const (
	checkInterval = 10 * time.Second
	checkTimeout  = 8 * time.Second
)
