// Package stack brings up everything that the plugin meets in real life: PostgreSQL, a Mattermost
// server built from its own Go module, and a file host, each on a free loopback port and in a
// folder of its own.
package stack

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/contract"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
)

// PluginID is the id of the plugin under test.
const PluginID = "filehost-attach"

// PagePath is where Config.Page lies below the site URL.
const PagePath = "/host-page/"

// apiPath is where its API lies below the site URL.
const apiPath = "/plugins/" + PluginID + "/api"

// newest is the newest version of Mattermost that can be built from its Go module.
const newest = "11.1"

// hostUsers have accounts at the stack's own file host.
var hostUsers = []string{"alice", "bob", "carol"}

// HostPassword is the password of a user of the stack's own file host.
func HostPassword(user string) string { return user + "-app-password" }

// Config says what to bring up.
type Config struct {
	// Version of Mattermost, by the folder below e2e/mattermost; empty means what the environment variable
	// FILEHOST_ATTACH_MATTERMOST says, and the newest without it.
	Version string
	// Dir holds all state; what is in it is removed first.
	Dir string
	// Bundle is the path of the plugin's bundle; empty means no plugin.
	Bundle string
	// Scanner says whether to install the plugin that reads every upload.
	Scanner bool
	// Host is the file host to start, one of Hosts; empty means what FILEHOST_ATTACH_HOST says, or the
	// embedded one.
	Host string
	// SignIn is a sign-in server of its own for the embedded host, one of SignInServers, by the best method that there is at
	// it; empty means what FILEHOST_ATTACH_SIGNIN says, or that the host is its own.
	SignIn string
	// Tree writes the files of the host's user alice below the folder that it gets.
	Tree func(dir string) error
	// Settings configure the plugin for a file host that runs elsewhere; nil means the embedded
	// host, which is not started otherwise.
	Settings map[string]any
	// Subpath is where the site lies on its host, such as "/chat"; empty means its root.
	Subpath string
	// NoSiteURL leaves ServiceSettings.SiteURL unset.
	NoSiteURL bool
	// Proxy puts a proxy before the server that holds to the contract what others than the harness
	// send to the plugin, browsers above all. Down fails when something broke it.
	Proxy bool
	// Page is shown below PagePath of the site, by a proxy before the server; nil means none.
	Page http.Handler
	// FileStore is where Mattermost keeps files: "local", or "s3" for an S3 server on loopback; empty means what the
	// environment variable FILEHOST_ATTACH_FILESTORE says, and "local" without it.
	FileStore string
	// Say takes lines of progress.
	Say func(string)
}

// Stack is a running Mattermost server beside a running file host.
type Stack struct {
	Mattermost *Mattermost
	// Host is nil when the stack uses a file host that runs elsewhere.
	Host hosts.Host
	// SignIn is nil when the host is its own sign-in server.
	SignIn *SignInServer
	// Admin is the system admin; User and User2 are members of the team and the channel.
	Admin, User, User2 *Account
	TeamID, ChannelID  string
	// FileStore is where Mattermost keeps files: "local" or "s3".
	FileStore string
	// Newest tells whether it is the newest version of Mattermost that can be built.
	Newest bool
	// Transport holds all traffic with the plugin to its contract.
	Transport http.RoundTripper

	whole     http.RoundTripper // Transport for paths as the host has them
	elsewhere atomic.Bool       // the plugin works with a host of a test's own
	lock      *os.File
	postgres  *Postgres
	proxy     *proxy
	s3        *s3
	site      siteConfig
	subpath   string
	nodes     []*Node
	added     int // nodes so far, those that were stopped included
	settings  map[string]any
	clientID  string
	secret    string
}

// Elsewhere has paths sent as they are, as long as the plugin works with a host of a test's own, and not with Host. back ends
// that.
func (s *Stack) Elsewhere() (back func()) {
	s.elsewhere.Store(true)
	return func() { s.elsewhere.Store(false) }
}

// Up brings everything up. What came up before a failure is stopped again.
func Up(ctx context.Context, cfg Config) (*Stack, error) {
	cfg.Version = cmp.Or(cfg.Version, os.Getenv("FILEHOST_ATTACH_MATTERMOST"), newest)
	cfg.Host = cmp.Or(cfg.Host, os.Getenv("FILEHOST_ATTACH_HOST"), "embedded")
	cfg.SignIn = cmp.Or(cfg.SignIn, os.Getenv("FILEHOST_ATTACH_SIGNIN"))
	cfg.FileStore = cmp.Or(cfg.FileStore, os.Getenv("FILEHOST_ATTACH_FILESTORE"), "local")
	if cfg.Say == nil {
		cfg.Say = func(string) {}
	}
	s := &Stack{subpath: cfg.Subpath, FileStore: cfg.FileStore, Newest: cfg.Version == newest, clientID: "mattermost", secret: rand.Text()}
	if err := s.up(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.Down())
	}
	return s, nil
}

func (s *Stack) up(ctx context.Context, cfg Config) error {
	var err error
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return err
	}
	if s.lock, err = claim(cfg.Dir); err != nil {
		return err
	}
	scannerBundle, err := s.startServers(ctx, cfg)
	if err != nil {
		return err
	}
	cfg.Say("creating users, a team and a channel")
	if err := s.populate(ctx); err != nil {
		return err
	}
	if cfg.Scanner {
		cfg.Say("installing the scanner plugin")
		if err := s.Admin.InstallPlugin(ctx, scannerBundle, "scanner"); err != nil {
			return err
		}
	}
	if cfg.Bundle == "" {
		return nil
	}
	cfg.Say("installing " + filepath.Base(cfg.Bundle))
	if cfg.Settings == nil {
		cfg.Settings = s.HostSettings()
	}
	if err := s.Configure(ctx, cfg.Settings); err != nil {
		return err
	}
	if err := s.Admin.InstallPlugin(ctx, cfg.Bundle, PluginID); err != nil {
		return err
	}
	return pluginReady(ctx, s.Mattermost)
}

// startServers starts what doesn't wait for anything else at once, and then Mattermost. It gives
// the scanner's bundle, if one is wanted.
func (s *Stack) startServers(ctx context.Context, cfg Config) (scannerBundle string, err error) {
	build, err := newBuilder(cfg.Say)
	if err != nil {
		return "", err
	}
	site, err := s.newSite(ctx, cfg)
	if err != nil {
		return "", err
	}
	group, parallel := errgroup.WithContext(ctx)
	if cfg.Settings == nil {
		group.Go(func() error { return s.startHost(parallel, cfg, site.URL) })
	}
	group.Go(func() (err error) {
		cfg.Say("starting PostgreSQL")
		s.postgres, err = startPostgres(parallel, build.cache, cfg.Say)
		return err
	})
	switch cfg.FileStore {
	case "local":
	case "s3":
		site.Settings = s3Settings
		group.Go(func() (err error) {
			cfg.Say("starting an S3 server")
			s.s3, err = startS3(parallel, build, filepath.Join(cfg.Dir, "s3"))
			return err
		})
	default:
		return "", fmt.Errorf("no file store is called %q; there are local and s3", cfg.FileStore)
	}
	group.Go(func() (err error) {
		if site.Program, err = build.mattermost(parallel, cfg.Version); err == nil && cfg.Scanner {
			scannerBundle, err = build.scanner(parallel, cfg.Dir)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return "", err
	}
	cfg.Say("starting Mattermost " + cfg.Version)
	site.DSN, site.S3 = s.postgres.DSN(), s.s3
	s.site = site
	s.Mattermost, err = startMattermost(ctx, site)
	return scannerBundle, err
}

// newSite chooses the server's addresses, and puts the proxy before it if one is wanted.
func (s *Stack) newSite(ctx context.Context, cfg Config) (siteConfig, error) {
	site := siteConfig{
		Version: cfg.Version, Dir: filepath.Join(cfg.Dir, "mattermost"), Files: filepath.Join(cfg.Dir, "mattermost", "data"),
	}
	var err error
	if site.Address, err = freeAddress(ctx); err != nil {
		return site, err
	}
	site.URL = "http://" + site.Address + cfg.Subpath
	if cfg.Proxy || cfg.Page != nil {
		if s.proxy, err = startProxy(ctx, "http://"+site.Address, cfg); err != nil {
			return site, err
		}
		site.URL = s.proxy.URL + cfg.Subpath
	}
	if !cfg.NoSiteURL {
		site.SiteURL = site.URL
	}
	if s.whole, err = newContract(site.URL, new(http.Transport)); err != nil {
		return site, err
	}
	s.Transport, err = s.newContract(site.URL)
	return site, err
}

// newContract holds to the contract what tests send to the plugin of the site at siteURL, and puts the files that they name
// where the host has them.
func (s *Stack) newContract(siteURL string) (*contract.Transport, error) {
	return newContract(siteURL, home{
		base: siteURL + apiPath, next: new(http.Transport),
		folder: func() string {
			if s.Host == nil || s.elsewhere.Load() {
				return ""
			}
			return s.Host.Traits().Home
		},
	})
}

// newContract holds to the contract what is sent to the plugin of the site at siteURL.
func newContract(siteURL string, next http.RoundTripper) (*contract.Transport, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	return contract.New(filepath.Join(root, "assets", "openapi.yaml"), siteURL+apiPath, next)
}

func (s *Stack) startHost(ctx context.Context, cfg Config, siteURL string) error {
	cfg.Say("starting the file host")
	users := make([]hosts.User, 0, len(hostUsers))
	for _, name := range hostUsers {
		users = append(users, hosts.User{Name: name, Password: HostPassword(name)})
	}
	hostConfig := hosts.Config{
		Root: filepath.Join(cfg.Dir, "files"), Users: users,
		ClientID: s.clientID, ClientSecret: s.secret, PersonalSpace: "Personal",
		RedirectURIs: []string{siteURL + apiPath + "/connection/callback/default"},
	}
	if cfg.SignIn != "" {
		if cfg.Host != "embedded" {
			return errors.New("only the embedded host takes the tokens of another sign-in server")
		}
		cfg.Say("starting the sign-in server " + cfg.SignIn)
		signIn, err := StartSignInServer(ctx, cfg.SignIn, SignInConfig{
			Users: hostUsers, RedirectURI: hostConfig.RedirectURIs[0], Trusted: siteURL + apiPath,
		})
		if err != nil {
			return err
		}
		s.SignIn, hostConfig.Verify = signIn, signIn.User
	}
	host, err := startHost(ctx, cfg.Host, hostConfig)
	if err != nil {
		return err
	}
	s.Host = host
	if cfg.Tree == nil {
		return nil
	}
	return cfg.Tree(s.Host.Dir("alice"))
}

func (s *Stack) populate(ctx context.Context) (err error) {
	anyone := rest.New(s.Mattermost.URL, "")
	if s.Admin, err = CreateAccount(ctx, anyone, "admin"); err != nil {
		return err
	}
	if s.User, err = CreateAccount(ctx, anyone, "ursula"); err != nil {
		return err
	}
	if s.User2, err = CreateAccount(ctx, anyone, "victor"); err != nil {
		return err
	}
	if s.TeamID, err = s.Admin.CreateTeam(ctx, "team"); err != nil {
		return err
	}
	if s.ChannelID, err = s.Admin.CreateChannel(ctx, s.TeamID, "files"); err != nil {
		return err
	}
	if s.SignIn != nil {
		if err := s.SignIn.Link(s.User.ID, "alice"); err != nil {
			return err
		}
	}
	for _, member := range []*Account{s.User, s.User2} {
		member.Browser.Transport = s.Transport
		if err := s.Admin.JoinTeam(ctx, s.TeamID, member); err != nil {
			return err
		}
		if err := s.Admin.JoinChannel(ctx, s.ChannelID, member); err != nil {
			return err
		}
	}
	return nil
}

// BaseURL is where the plugin's API lies.
func (s *Stack) BaseURL() string { return s.Mattermost.URL + apiPath }

// HostSettings configure the plugin for the stack's own file host, with sign-in by OAuth, or as its sign-in server has it.
func (s *Stack) HostSettings() map[string]any {
	settings := map[string]any{
		"hostname":          "Embedded Files",
		"allowedaddresses":  "127.0.0.1",
		"allowhttp":         true,
		"signin":            "oauth",
		"oauthclientid":     s.clientID,
		"oauthclientsecret": s.secret,
		"maxcopymb":         MaxFileSize >> 20,
		"stallseconds":      5,
	}
	maps.Copy(settings, s.Host.Settings())
	if s.SignIn != nil {
		maps.Copy(settings, s.SignIn.Settings())
	}
	return settings
}

// Configure changes settings of the plugin, on all nodes, and leaves the others as they are.
func (s *Stack) Configure(ctx context.Context, changed map[string]any) error {
	if s.settings == nil {
		s.settings = map[string]any{}
	}
	maps.Copy(s.settings, changed)
	patch := map[string]any{"PluginSettings": map[string]any{"Plugins": map[string]any{PluginID: s.settings}}}
	return s.OnAllNodes(func(admin *rest.Client) error { return admin.Put(ctx, "/api/v4/config/patch", patch, nil) })
}

// pluginReady waits until the plugin runs on a server and finds itself healthy.
func pluginReady(ctx context.Context, on *Mattermost) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return until(ctx, on.process, func(ctx context.Context) error {
		return rest.New(on.URL, "").Get(ctx, apiPath+"/health", nil)
	})
}

// Down stops everything that is up.
func (s *Stack) Down() error {
	var errs []error
	for _, node := range s.nodes {
		errs = append(errs, node.Stop())
	}
	if s.Mattermost != nil {
		errs = append(errs, s.Mattermost.Stop())
	}
	if s.proxy != nil {
		errs = append(errs, s.proxy.Stop())
	}
	if s.Host != nil {
		errs = append(errs, s.Host.Close())
	}
	if s.SignIn != nil {
		errs = append(errs, s.SignIn.Close())
	}
	if s.s3 != nil {
		s.s3.process.Stop()
	}
	if s.postgres != nil {
		errs = append(errs, s.postgres.Stop())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}
