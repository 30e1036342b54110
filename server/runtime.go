package main

import (
	"context"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"time"

	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/mattermost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/outbound"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/process"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/tokens"
)

// signInTimeout bounds the wait for an answer of the sign-in server, above the limits that its callers set.
const signInTimeout = time.Minute

// keyTimeout bounds the look-up of the encryption key when the configuration changes.
const keyTimeout = 10 * time.Second

// The rhythm of the background checks.
const (
	checkInterval = 10 * time.Second
	checkTimeout  = 8 * time.Second
)

// runtime is what follows from one configuration.
type runtime struct {
	api.Runtime
	source source
	keys   []filehost.Secret  // those in force, without those that are kept
	cancel context.CancelFunc // ends the background checks, and closes the connections that nobody uses
}

// source is what a configuration is made of.
type source struct {
	settings    map[string]any // with keys in lower case
	siteURL     string
	environment config.Environment
}

func (p *Plugin) loadSource() (source, error) {
	loaded := source{siteURL: p.siteURL(), environment: config.ReadEnvironment(p.variable, openFile)}
	// GetPluginConfig would hand out secrets masked with asterisks.
	err := p.API.LoadPluginConfiguration(&loaded.settings)
	return loaded, errors.Wrap(err, "load the settings")
}

// openFile opens a file that the server's environment names.
func openFile(name string) (fs.File, error) { return os.Open(name) } //nolint:gosec // who sets the environment may read the server's files

// configure reads the settings and puts what follows from them in the place of what was there. The caller holds the lock.
func (p *Plugin) configure() {
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
	p.inBackground(func() {
		select {
		case <-p.lifetime.Done():
		case <-p.clock.After(checkInterval):
			p.configuring.Lock()
			defer p.configuring.Unlock()
			p.retrying = false
			p.configure()
		}
	})
}

// remedyOf is what the health page says of a configuration that can't be used, and the check that it says it of.
func remedyOf(err error) (check, remedy string) {
	var store *storeError
	var known *filehost.Error
	switch {
	case errors.As(err, &store):
		return filehost.CheckKVStore, filehost.StoreDown(err).Message
	case errors.As(err, &known):
		return filehost.CheckConfiguration, known.Message
	}
	return filehost.CheckConfiguration, err.Error()
}

// storeError means that the settings could not be put in force because the key-value store doesn't work.
type storeError struct{ error }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *storeError) Unwrap() error { return e.error }

// inBackground runs work that OnDeactivate waits for, unless the plugin stops. A panic ends the work and not the plugin.
func (p *Plugin) inBackground(work func()) {
	p.starting.Lock()
	defer p.starting.Unlock()
	if p.lifetime.Err() != nil {
		return
	}
	p.background.Go(func() {
		if err := filehost.Recovered(func() error { work(); return nil }); err != nil {
			p.log.Error("Work in the background failed.", "error", err)
		}
	})
}

// begin makes this run of the plugin known to those that come after it.
func (p *Plugin) begin() {
	if p.lockDir == "" {
		p.lockDir = os.TempDir()
	}
	run, err := process.Start(p.lockDir, p.clock.Now())
	if err != nil {
		p.log.Warn("Should the plugin be killed, requests that it was working on can be repeated a minute later only.", "error", err)
	}
	p.run, p.claims = run, filehost.NewClaims(run)
}

// newFailed is the runtime of a configuration that can't be used.
func (p *Plugin) newFailed(err error) *runtime {
	monitor := filehost.NewMonitor(p.clock, p.log, checkTimeout)
	monitor.SetFailed(remedyOf(err))
	failed := &runtime{Runtime: api.Runtime{Monitor: monitor}, cancel: func() {}}
	if previous := p.current.Load(); previous != nil {
		failed.keys = previous.keys
	}
	return failed
}

// kinds are the kinds of host that the packages know.
func kinds() config.Kinds {
	known := config.Kinds{}
	for _, kind := range remote.Kinds() {
		known[kind] = tokens.SignsIn(kind)
	}
	return known
}

// newRuntime checks the settings and wires the packages.
func (p *Plugin) newRuntime(loaded source) (*runtime, error) {
	configuration, err := config.New(loaded.settings, loaded.siteURL, kinds())
	if err != nil {
		return nil, err
	}
	keys, err := config.NewKeys(configuration, loaded.environment)
	if err != nil {
		return nil, err
	}
	kv := mattermost.KV{API: p.API}
	cipher, inForce, err := p.newCipher(kv, keys)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(p.lifetime)
	monitor := filehost.NewMonitor(p.clock, p.log, checkTimeout)
	service, store, err := p.wire(ctx, configuration, kv, cipher, monitor.Recheck)
	if err != nil {
		cancel()
		return nil, err
	}
	go monitor.Watch(ctx, service.Probes(kv, store.CheckTokenEndpoint, store.CheckServiceAccount, store.KeyNote), checkInterval)
	p.inBackground(func() { store.WatchLoginFlows(ctx, service.Connected) })
	p.inBackground(func() { store.KeepSigningKeys(ctx) })
	p.inBackground(func() { store.Reencrypt(ctx) })
	p.inBackground(func() { service.LookAfterLinks(ctx) })
	return &runtime{Runtime: api.Runtime{Service: service, Monitor: monitor}, source: loaded, keys: inForce, cancel: cancel}, nil
}

// wiring is what the packages of one configuration have in common.
type wiring struct {
	*Plugin
	config    config.Config
	kv        filehost.KV
	cipher    *tokens.Cipher
	host      *remote.Client
	server    *mattermost.Server
	audit     *mattermost.Audit
	reminders *filehost.Reminders
	recheck   func(check string)
}

// wire makes the packages of a configuration, which is in force until ctx ends. They call recheck with the name of a health
// check that would tell what they have just met.
func (p *Plugin) wire(ctx context.Context, c config.Config, kv filehost.KV, cipher *tokens.Cipher, recheck func(check string)) (*filehost.Service, *tokens.Store, error) {
	hostClient, signInClient, err := newClients(ctx, c)
	if err != nil {
		return nil, nil, errors.Wrap(err, "outbound")
	}
	host, err := remote.New(remote.Config{Host: c.Host, Client: hostClient, StallAfter: c.StallAfter, Clock: p.clock,
		Troubled: func() { recheck(filehost.CheckHost) }})
	if err != nil {
		return nil, nil, errors.Wrap(err, "remote")
	}
	teams, err := mattermost.NamedTeams(ctx, p.server.Load(), kv, p.clock, c.Automatic.For.Teams)
	if err != nil {
		return nil, nil, &storeError{err}
	}
	server := mattermost.New(mattermost.Config{API: p.server.Load(), AllowUnscanned: c.AllowUnscanned, Clock: p.clock, Actions: api.ActionsPath, Teams: teams})
	reminders := filehost.NewReminders(filehost.RemindersConfig{Host: c.Host, Users: server.User, Bot: p.bot, KV: kv, Clock: p.clock, Log: p.log})
	w := wiring{p, c, kv, cipher, host, server, mattermost.NewAudit(p.server.Load()), reminders, recheck}
	store, err := w.newStore(signInClient)
	if err != nil {
		return nil, nil, errors.Wrap(err, "tokens")
	}
	return w.newService(store), store, nil
}

func (w wiring) newStore(signInClient *http.Client) (*tokens.Store, error) {
	return tokens.New(tokens.Config{
		Host:           w.config.Host,
		Methods:        w.config.Methods,
		OAuth:          newOAuth(w.config.OAuth),
		RedirectURI:    redirectURI(w.config),
		AllowHTTP:      w.config.AllowHTTP,
		Issuer:         issuerURL(w.config),
		Subject:        newSubject(w.config.Automatic.Subject),
		Exchange:       newExchange(w.config.Automatic.Exchange),
		KV:             w.kv,
		Cipher:         w.cipher,
		Client:         signInClient,
		Account:        w.host.Account,
		Revoke:         w.host.Revoker(),
		HostUser:       w.host.HostUser,
		Probe:          w.host.Probe,
		AppTokens:      w.host.AppTokens(),
		AnyEmail:       w.config.AnyEmail,
		Identify:       w.server.Identity,
		Lost:           w.reminders.Lost,
		Members:        w.server,
		AutomaticFor:   w.config.Automatic.For,
		Audit:          w.audit,
		ServiceAccount: tokens.ServiceAccount(w.config.Automatic.ServiceAccount),
		Notify:         w.server.ConnectionChanged,
		Changed:        func() { w.recheck(filehost.CheckTokenEndpoint) },
		Pending:        w.pending,
		Lifetime:       w.lifetime,
		Node:           w.run.ID(),
		Clock:          w.clock,
		Log:            w.log,
	})
}

func (w wiring) newService(store *tokens.Store) *filehost.Service {
	return filehost.New(filehost.Config{
		Host:        w.config.Host,
		Settings:    w.config.Settings,
		Methods:     w.config.Methods,
		NoReturn:    w.config.SiteURL == nil,
		Tokens:      store,
		Connections: store,
		Issuer:      store,
		Remote:      filehost.Discreet(w.host),
		Mattermost:  w.server,
		Members:     w.server,
		Audience:    w.config.Automatic.For,
		ByUsername:  w.config.Automatic.Subject.Claim == config.SubjectUsername,
		Audit:       w.audit,
		Reminders:   w.reminders,
		Sealer:      w.cipher,
		KV:          w.kv,
		Clock:       w.clock,
		Claims:      w.claims,
		Copies:      w.copies,
		Listings:    w.listings,
		Pictures:    w.pictures,
		Accounts:    store,
		Log:         w.log,
	})
}

// issuerURL is whom the tokens that the plugin signs are from; "" when Mattermost has no address.
func issuerURL(c config.Config) string {
	if c.SiteURL == nil {
		return ""
	}
	return api.IssuerURL(c.SiteURL.String())
}

func newSubject(subject config.Subject) tokens.Subject {
	return tokens.Subject{Claim: tokens.SubjectClaim(subject.Claim), Service: subject.Service, Audience: subject.Audience}
}

func newExchange(exchange config.Exchange) tokens.Exchange {
	return tokens.Exchange{Subject: tokens.SubjectToken(exchange.Subject), ActorToken: exchange.ActorToken, ConnectorID: exchange.ConnectorID,
		Audience: exchange.Audience, Resource: exchange.Resource}
}

// redirectURI is where the host's sign-in comes back to; "" when Mattermost has no address.
func redirectURI(c config.Config) string {
	if c.SiteURL == nil {
		return ""
	}
	return api.CallbackURL(c.SiteURL.String(), c.Host.ID)
}

// newClients returns the client for the file host, which reaches no other origin, and the one for the sign-in server. They
// keep no connection open after ctx has ended.
func newClients(ctx context.Context, c config.Config) (host, signIn *http.Client, err error) {
	out := outbound.Config{CA: c.CA, Allowed: c.AllowedAddresses, AllowHTTP: c.AllowHTTP, UserAgent: "filehost-attach/" + version,
		Proxy: outbound.Proxy{URL: c.Proxy.URL, Credentials: c.Proxy.Credentials, Except: c.Proxy.Except}}
	out.HeaderTimeout = signInTimeout
	if signIn, err = outbound.New(out); err != nil {
		return nil, nil, err
	}
	out.HeaderTimeout = 0 // its client watches each wait itself
	out.Origins = []*url.URL{c.Host.BaseURL}
	if host, err = outbound.New(out); err != nil {
		return nil, nil, err
	}
	for _, client := range []*http.Client{host, signIn} {
		context.AfterFunc(ctx, client.CloseIdleConnections)
	}
	return host, signIn, nil
}

func newOAuth(oauth config.OAuth) tokens.OAuth {
	return tokens.OAuth{ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, Issuer: oauth.Issuer, AuthorizeURL: oauth.AuthorizeURL,
		TokenURL: oauth.TokenURL, RevocationURL: oauth.RevocationURL, Scopes: oauth.Scopes}
}
