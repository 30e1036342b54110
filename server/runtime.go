package main

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/mattermost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/outbound"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/tokens"
)

// keyTimeout bounds the look-up of the encryption key when the configuration changes.
const keyTimeout = 10 * time.Second

// runtime is what follows from one configuration.
type runtime struct {
	api.Runtime
	source source
	config config.Config
	cancel context.CancelFunc // ends the background checks
}

// source is what a configuration is made of.
type source struct {
	settings map[string]any // with keys in lower case
	siteURL  string
}

func (p *Plugin) loadSource() (source, error) {
	loaded := source{siteURL: p.siteURL()}
	// GetPluginConfig would hand out secrets masked with asterisks.
	err := p.API.LoadPluginConfiguration(&loaded.settings)
	return loaded, errors.Wrap(err, "load the settings")
}

func newNode() string { return rand.Text() }

// newFailed is the runtime of a configuration that can't be used.
func (p *Plugin) newFailed(err error) *runtime {
	monitor := filehost.NewMonitor(p.clock, p.log, checkTimeout)
	monitor.SetFailed("configuration", remedyOf(err))
	failed := &runtime{Runtime: api.Runtime{Monitor: monitor}, cancel: func() {}}
	if previous := p.current.Load(); previous != nil {
		failed.config = previous.config
	}
	return failed
}

// newRuntime checks the settings and wires the packages.
func (p *Plugin) newRuntime(loaded source) (*runtime, error) {
	configuration, err := config.New(loaded.settings, loaded.siteURL)
	if err != nil {
		return nil, err
	}
	if previous := p.current.Load(); previous != nil {
		p.keepPreviousKey(&configuration, previous.config.Key, loaded.settings)
	}
	kv := mattermost.KV{API: p.API}
	cipher, err := p.newCipher(kv, configuration)
	if err != nil {
		return nil, err
	}
	service, store, err := p.wire(configuration, kv, cipher)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(p.lifetime)
	monitor := filehost.NewMonitor(p.clock, p.log, checkTimeout)
	go monitor.Watch(ctx, service.Probes(kv, store.CheckTokenEndpoint), checkInterval)
	return &runtime{Runtime: api.Runtime{Service: service, Monitor: monitor}, source: loaded, config: configuration, cancel: cancel}, nil
}

func (p *Plugin) wire(c config.Config, kv filehost.KV, cipher *tokens.Cipher) (*filehost.Service, *tokens.Store, error) {
	hostClient, signInClient, err := newClients(c)
	if err != nil {
		return nil, nil, errors.Wrap(err, "outbound")
	}
	host, err := remote.New(remote.Config{Host: c.Host, Client: hostClient, StallAfter: c.StallAfter, Clock: p.clock})
	if err != nil {
		return nil, nil, errors.Wrap(err, "remote")
	}
	store, err := tokens.New(tokens.Config{
		Host:        c.Host,
		Method:      tokens.Method(c.SignIn),
		OAuth:       newOAuth(c.OAuth),
		RedirectURI: api.CallbackURL(c.SiteURL.String(), c.Host.ID),
		AllowHTTP:   c.AllowHTTP,
		KV:          kv,
		Cipher:      cipher,
		Client:      signInClient,
		Account:     host.Account,
		Revoke:      host.Revoker(),
		Pending:     p.pending,
		Lifetime:    p.lifetime,
		Node:        p.node,
		Clock:       p.clock,
		Log:         p.log,
	})
	if err != nil {
		return nil, nil, errors.Wrap(err, "tokens")
	}
	return filehost.New(filehost.Config{
		Host:        c.Host,
		Settings:    c.Settings,
		Password:    c.SignIn == config.SignInPassword,
		Tokens:      store,
		Connections: store,
		Remote:      host,
		Mattermost:  mattermost.New(mattermost.Config{API: p.API, AllowUnscanned: c.AllowUnscanned}),
		Sealer:      cipher,
		Copies:      p.copies,
		Listings:    p.listings,
	}), store, nil
}

// newClients returns the client for the file host, which reaches no other origin, and the one for the sign-in server.
func newClients(c config.Config) (host, signIn *http.Client, err error) {
	out := outbound.Config{CA: c.CA, Allowed: c.AllowedAddresses, AllowHTTP: c.AllowHTTP, UserAgent: "filehost-attach/" + version}
	if signIn, err = outbound.New(out); err != nil {
		return nil, nil, err
	}
	out.Origins = []*url.URL{c.Host.BaseURL}
	host, err = outbound.New(out)
	return host, signIn, err
}

func newOAuth(oauth config.OAuth) tokens.OAuth {
	return tokens.OAuth{ClientID: oauth.ClientID, ClientSecret: oauth.ClientSecret, Issuer: oauth.Issuer, AuthorizeURL: oauth.AuthorizeURL,
		TokenURL: oauth.TokenURL, RevocationURL: oauth.RevocationURL, Scopes: oauth.Scopes}
}

// newCipher encrypts with the admin's key, or with the one that the plugin made; it opens what either has encrypted.
func (p *Plugin) newCipher(kv filehost.KV, c config.Config) (*tokens.Cipher, error) {
	ctx, cancel := context.WithTimeout(p.lifetime, keyTimeout)
	defer cancel()
	made, err := tokens.MasterKey(ctx, kv, p.clock)
	if err != nil {
		return nil, err
	}
	if c.Key.IsEmpty() {
		return tokens.NewCipher(made, c.PreviousKey)
	}
	return tokens.NewCipher(c.Key, c.PreviousKey, made)
}

// keepPreviousKey keeps a key that the admin has just replaced, so that what it encrypted still opens: at once in this
// configuration, and in the settings for the next start.
func (p *Plugin) keepPreviousKey(c *config.Config, old filehost.Secret, settings map[string]any) {
	if old.IsEmpty() || old.Equal(c.Key) || old.Equal(c.PreviousKey) {
		return
	}
	c.PreviousKey = old
	changed := maps.Clone(settings)
	changed["previousencryptionkey"] = old.Reveal()
	go func() { // the server calls OnConfigurationChange from within
		if appErr := p.API.SavePluginConfig(changed); appErr != nil {
			p.log.Error("The replaced encryption key could not be kept as the previous one; enter it there by hand.", "error", appErr)
		}
	}()
}
