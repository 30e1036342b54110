package stack

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/signin"
)

// SignInConfig says whom a sign-in server knows.
type SignInConfig struct {
	// Users may sign in, with the passwords that HostPassword gives.
	Users []string
	// RedirectURI is the only one that the client may name.
	RedirectURI string
	// Trusted is the issuer whose word counts for a user's, in grants without a click; its keys are at /jwks.json below it.
	Trusted string
}

// SignInServer is a sign-in server beside the file host, in a process of its own behind a front that counts.
type SignInServer struct {
	*signin.Front
	// Issuer is where its metadata lie.
	Issuer string
	// ClientID and ClientSecret are the plugin's registration.
	ClientID, ClientSecret string
	// Key is what it signs ID tokens with, where the tests may hold it too.
	Key signin.Key

	kind           signInKind
	resourceID     string
	resourceSecret string
	dir            string
	tokenLife      atomic.Int64 // seconds; 0 = the server's own
	front          *http.Server
	process        *process
}

// signInKind is what sets one kind of sign-in server apart from the others.
type signInKind struct {
	// program builds what is run with the path of the configuration; it gives the command to do so.
	program func(context.Context, builder) ([]string, error)
	// configure adds to the configuration what is not the same for all.
	configure func(*SignInServer, SignInConfig, map[string]any) error
	// paths are the server's, below its issuer, introspection its endpoint of RFC 7662.
	paths         signin.Paths
	introspection string
	// userInfo, if set, is asked instead of introspection, and userClaim is the claim of either that names the user.
	userInfo, userClaim string
	// method is the best that the plugin has for it.
	method string
	// scopes are those that the plugin asks for, and settings what else the plugin is told.
	scopes   string
	settings map[string]any
}

// signInKinds are the sign-in servers that there are, by name.
var signInKinds = map[string]signInKind{
	"dex":           dex,
	"fosite":        fositeServer,
	"oidc-provider": oidcProvider,
}

// SignInServers are the names that StartSignInServer knows.
func SignInServers() []string { return slices.Sorted(maps.Keys(signInKinds)) }

// StartSignInServer starts the sign-in server of that name on a loopback address. What it keeps on disk is removed by Close.
func StartSignInServer(ctx context.Context, name string, cfg SignInConfig) (*SignInServer, error) {
	kind, ok := signInKinds[name]
	if !ok {
		return nil, fmt.Errorf("no sign-in server %q; there are %q", name, SignInServers())
	}
	s := &SignInServer{
		kind: kind, ClientID: "mattermost", ClientSecret: rand.Text() + rand.Text(), resourceID: "files", resourceSecret: rand.Text(),
	}
	if err := s.start(ctx, cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), s.Close())
	}
	return s, nil
}

func (s *SignInServer) start(ctx context.Context, cfg SignInConfig) error {
	build, err := newBuilder(func(string) {})
	if err != nil {
		return err
	}
	program, err := s.kind.program(ctx, build)
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "signin"); err != nil {
		return err
	}
	behind, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	if err := s.listen(ctx, behind); err != nil {
		return err
	}
	config, err := s.writeConfig(behind, cfg)
	if err != nil {
		return err
	}
	s.process, err = start(command{Name: "server", Dir: s.dir, Args: append(program, config)})
	if err != nil {
		return err
	}
	return untilListening(ctx, s.process, behind)
}

// listen starts the front of the server that will listen behind it.
func (s *SignInServer) listen(ctx context.Context, behind string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.Issuer = "http://" + listener.Addr().String()
	quiet := log.New(io.Discard, "", 0)
	s.Front = signin.NewFront(&httputil.ReverseProxy{
		ErrorLog: quiet,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: behind})
			r.Out.Host = r.In.Host // it knows itself by the front's address
			if life := s.tokenLife.Load(); life != 0 {
				r.Out.Header.Set("X-Token-Life", strconv.FormatInt(life, 10))
			}
		},
	}, s.kind.paths)
	s.front = &http.Server{Handler: s.Front, ReadHeaderTimeout: 10 * time.Second, ErrorLog: quiet}
	go func() { _ = s.front.Serve(listener) }()
	return nil
}

// writeConfig gives the path of what the program reads.
func (s *SignInServer) writeConfig(behind string, cfg SignInConfig) (string, error) {
	users := map[string]string{}
	for _, name := range cfg.Users {
		users[name] = HostPassword(name)
	}
	config := map[string]any{
		"address": behind, "issuer": s.Issuer, "users": users,
		"client":         map[string]any{"id": s.ClientID, "secret": s.ClientSecret, "redirectURIs": []string{cfg.RedirectURI}},
		"resourceServer": map[string]any{"id": s.resourceID, "secret": s.resourceSecret},
	}
	if err := s.kind.configure(s, cfg, config); err != nil {
		return "", err
	}
	content, err := json.Marshal(config)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.dir, "config.json")
	return path, os.WriteFile(path, content, 0o600)
}

// Close stops the server and removes what it kept on disk.
func (s *SignInServer) Close() error {
	var errs []error
	if s.front != nil {
		errs = append(errs, s.front.Close())
	}
	if s.process != nil {
		s.process.Stop()
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// Settings tell the plugin of the server and of the best method that there is at it. One without a click is for everybody,
// by Mattermost's own id, and whom it refuses enters a password.
func (s *SignInServer) Settings() map[string]any {
	settings := map[string]any{
		"signin":      s.kind.method,
		"oauthissuer": s.Issuer, "oauthclientid": s.ClientID, "oauthclientsecret": s.ClientSecret, "oauthscopes": s.kind.scopes,
	}
	if s.kind.method != "oauth" {
		maps.Copy(settings, map[string]any{"automaticfor": "everyone", "subjectclaim": "user_id", "signinfallbacks": "password"})
	}
	maps.Copy(settings, s.kind.settings)
	return settings
}

// SetTokenLife says how long access tokens issued from now on last; of oidc-provider only.
func (s *SignInServer) SetTokenLife(life time.Duration) { s.tokenLife.Store(int64(life / time.Second)) }

// links is the path of the file that says whose accounts those subjects are.
func (s *SignInServer) links() string { return filepath.Join(s.dir, "links.json") }

// Link says whose account a subject of the trusted issuer is, as an administrator does. Fosite takes no other subjects;
// where Dex passes them on, it is the file host that knows.
func (s *SignInServer) Link(subject, user string) error {
	linked, err := s.linked()
	if err != nil {
		return err
	}
	linked[subject] = user
	content, err := json.Marshal(linked)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.links()+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(s.links()+".new", s.links())
}

// linked gives whose account each subject is.
func (s *SignInServer) linked() (map[string]string, error) {
	linked := map[string]string{}
	content, err := os.ReadFile(s.links())
	if errors.Is(err, os.ErrNotExist) {
		return linked, nil
	}
	if err != nil {
		return nil, err
	}
	return linked, json.Unmarshal(content, &linked)
}

// User tells whose access token this is, as a file host asks the server: by introspection (RFC 7662), or by its
// userinfo endpoint (OpenID Connect Core 5.3).
func (s *SignInServer) User(ctx context.Context, accessToken string) (user string, ok bool) {
	claims, err := s.claims(ctx, accessToken)
	if err != nil {
		return "", false
	}
	if active, introspected := claims["active"].(bool); introspected && !active {
		return "", false
	}
	user, _ = claims[s.kind.userClaim].(string)
	linked, err := s.linked()
	if err != nil {
		return "", false
	}
	user = cmp.Or(linked[user], user)
	return user, user != ""
}

func (s *SignInServer) claims(ctx context.Context, accessToken string) (map[string]any, error) {
	var request *http.Request
	var err error
	if s.kind.userInfo != "" {
		request, err = http.NewRequestWithContext(ctx, http.MethodGet, s.Issuer+s.kind.userInfo, nil)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+accessToken)
	} else if request, err = s.asResourceServer(ctx, s.kind.introspection, accessToken); err != nil {
		return nil, err
	}
	response, err := new(http.Client).Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asked whose token it is, the sign-in server says %s", response.Status)
	}
	var claims map[string]any
	return claims, json.NewDecoder(io.LimitReader(response.Body, maxPageBytes)).Decode(&claims)
}

func (s *SignInServer) asResourceServer(ctx context.Context, path, token string) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Issuer+path, strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(s.resourceID, s.resourceSecret)
	return request, nil
}

// nested gives the program of a module below e2e/signin.
func nested(name string) func(context.Context, builder) ([]string, error) {
	return func(ctx context.Context, build builder) ([]string, error) {
		program, err := build.program(ctx, "the sign-in server "+name, filepath.Join(build.root, "e2e", "signin", name))
		return []string{program}, err
	}
}
