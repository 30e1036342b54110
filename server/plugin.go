package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"

	"github.com/filehost/mattermost-plugin-filehost-attach/assets"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/command"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/mattermost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/process"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/tokens"
)

// Plugin implements the hooks. What serves requests is swapped whole when the configuration changes.
type Plugin struct {
	plugin.MattermostPlugin

	lifetime context.Context //nolint:containedctx // the plugin's own, which everything it does derives from
	stop     context.CancelFunc
	log      *slog.Logger
	clock    clockwork.Clock                  // a test's own; else the real one
	lockDir  string                           // a test's own; else the system's folder for temporary files
	variable func(name string) (string, bool) // of the environment: a test's own; else the server's
	run      *process.Run
	pending  *tokens.Pending
	claims   *filehost.Claims
	copies   *filehost.Places
	listings *filehost.Places
	pictures *filehost.Places
	siteURL  func() string
	api      *api.Handler
	bot      *mattermost.Bot
	commands *command.Handler
	server   atomic.Pointer[mattermost.CachedAPI]

	configuring sync.Mutex // orders changes of the configuration, the first with the activation
	current     atomic.Pointer[runtime]
	retrying    bool
	starting    sync.Mutex // orders work that begins before the end of it all
	background  sync.WaitGroup
}

// OnActivate implements plugin.Hooks. A wrong configuration doesn't stop the plugin: its health page says what is wrong.
func (p *Plugin) OnActivate() error {
	p.configuring.Lock()
	defer p.configuring.Unlock()
	p.lifetime, p.stop = context.WithCancel(context.Background())
	p.log = mattermost.NewLogger(p.API)
	if p.clock == nil {
		p.clock = clockwork.NewRealClock()
	}
	if p.variable == nil {
		p.variable = os.LookupEnv
	}
	p.begin()
	p.pending = tokens.NewPending()
	p.copies, p.listings, p.pictures = filehost.NewPlaces("copies"), filehost.NewPlaces("listings"), filehost.NewPlaces("thumbnails")
	cached := mattermost.NewCachedAPI(p.API, p.clock)
	p.server.Store(cached)
	server := mattermost.New(mattermost.Config{API: cached, Clock: p.clock})
	p.siteURL = server.SiteURL
	p.bot = mattermost.NewBot(mattermost.BotConfig{API: p.API, PluginID: pluginID, DisplayName: pluginName, Actions: api.ActionsPath})
	p.commands = command.New(command.Config{Answers: p.bot, Admit: server.Admit, Log: p.log})
	p.api = api.New(api.Config{
		Commands:      p.commands,
		Lifetime:      p.lifetime,
		Runtime:       func() api.Runtime { return p.current.Load().Runtime },
		User:          server.User,
		Admit:         server.Admit,
		SiteURL:       server.SiteURL,
		Version:       version,
		ServerVersion: p.API.GetServerVersion(),
		OpenAPI:       assets.OpenAPI,
		Log:           p.log,
	})
	p.configure()
	p.registerCommand()
	return nil
}

// ExecuteCommand implements plugin.Hooks. The answer is shown as a message of the bot's.
func (p *Plugin) ExecuteCommand(c *plugin.Context, args *model.CommandArgs) (*model.CommandResponse, *model.AppError) {
	p.runCommand(c, args)
	return &model.CommandResponse{}, nil
}

// OnConfigurationChange implements plugin.Hooks. Mattermost calls it once before OnActivate, too.
func (p *Plugin) OnConfigurationChange() error {
	if server := p.server.Load(); server != nil {
		server.Forget() // at once: another change may still be under way
	}
	p.configuring.Lock()
	defer p.configuring.Unlock()
	if p.api != nil {
		p.configure()
	}
	return nil
}

// OnDeactivate implements plugin.Hooks. A token refresh that has begun is finished: its refresh token is spent.
func (p *Plugin) OnDeactivate() error {
	p.stop()
	p.starting.Lock()
	p.starting.Unlock() //nolint:staticcheck // the empty section orders Wait behind the last inBackground
	p.background.Wait()
	p.pending.Wait()
	return nil
}

// UserHasBeenDeactivated implements plugin.Hooks.
func (p *Plugin) UserHasBeenDeactivated(_ *plugin.Context, user *model.User) { p.disconnect(user.Id) }

// MessageHasBeenDeleted implements plugin.Hooks.
func (p *Plugin) MessageHasBeenDeleted(_ *plugin.Context, post *model.Post) {
	p.postDeleted(mattermost.NewSeenPost(post))
}

// ServeHTTP implements plugin.Hooks.
func (p *Plugin) ServeHTTP(c *plugin.Context, w http.ResponseWriter, r *http.Request) {
	p.api.ServeHTTP(w, api.WithOrigin(r, api.Origin{RequestID: c.RequestId, SessionID: c.SessionId, IPAddress: c.IPAddress}))
}
