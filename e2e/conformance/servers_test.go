package conformance

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/webdav"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/outbound"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote/remotetest"
)

const user, password = "alice", "alice's password ü"

// noStall is longer than any host takes that is not broken.
const noStall = time.Minute

func must[T any](t *testing.T, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// server is where a host is, and who comes to it.
type server struct {
	kind, url  string
	credential filehost.Credential
	ca         []byte // PEM; nil = what the system trusts
}

func (s server) base(t *testing.T) *url.URL {
	t.Helper()
	base, err := url.Parse(s.url)
	return must(t, base, err)
}

// wayOut is the plugin's own, to any address.
func (s server) wayOut(t *testing.T) *http.Client {
	t.Helper()
	client, err := outbound.New(outbound.Config{CA: s.ca, AllowHTTP: true, Allowed: []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"),
	}})
	if err == nil {
		t.Cleanup(client.CloseIdleConnections)
	}
	return must(t, client, err)
}

func (s server) client(t *testing.T, way *http.Client) func(remotetest.Transport) filehost.Remote {
	return func(through remotetest.Transport) filehost.Remote {
		client := *way
		if through != nil {
			client.Transport = through(client.Transport)
		}
		made, err := remote.New(remote.Config{
			Host:   filehost.Host{ID: filehost.DefaultHostID, Name: "Files", Kind: s.kind, BaseURL: s.base(t)},
			Client: &client, StallAfter: noStall,
		})
		return must(t, made, err)
	}
}

// overDAV changes files by the host's own WebDAV, and not by what is tested.
func (s server) overDAV(t *testing.T) dav {
	t.Helper()
	roots, err := x509.SystemCertPool()
	must(t, roots, err).AppendCertsFromPEM(s.ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: remotetest.AtOnce}
	t.Cleanup(transport.CloseIdleConnections)
	root := s.base(t)
	if s.kind != "webdav" {
		root = root.JoinPath("remote.php", "dav", "files", s.credential.Account)
	}
	return dav{client: &http.Client{Transport: transport}, root: root, credential: s.credential}
}

// home is the folder that the user's own files are in: at a host with spaces that of his own space.
func (s server) home(t *testing.T, way *http.Client) (home filehost.Path) {
	t.Helper()
	if s.kind != "opencloud" {
		return filehost.Root
	}
	_, err := s.client(t, way)(nil).List(t.Context(), s.credential, filehost.Root, func(entry filehost.Entry) error {
		if entry.Space == filehost.PersonalSpace {
			home = entry.Path
		}
		return nil
	})
	if err == nil && home.IsRoot() {
		t.Fatal("the user has no space of his own")
	}
	return must(t, home, err)
}

// host makes the suite's own folder by files.
func (s server) host(t *testing.T, way *http.Client, files remotetest.Files) remotetest.Host {
	t.Helper()
	home := s.home(t, way)
	if !home.IsRoot() {
		files = below{files}
	}
	folder, _ := home.Join("conformance-" + rand.Text())
	must(t, folder, files.MakeFolder(t.Context(), folder))
	t.Cleanup(func() {
		if err := files.Remove(context.WithoutCancel(t.Context()), folder); err != nil {
			t.Error(err)
		}
	})
	return remotetest.Host{Client: s.client(t, way), Credential: s.credential, Files: files, Folder: folder}
}

// here is a server on this machine.
func here(kind, address string) server {
	s := server{kind: kind, url: address, credential: filehost.Credential{
		Scheme: filehost.Basic, Username: user, Secret: filehost.NewSecret(password),
	}}
	if kind != "webdav" {
		s.credential.Account = user
	}
	return s
}

// given is the host that the environment names.
func given(t *testing.T) remotetest.Host {
	t.Helper()
	s := server{
		kind: cmp.Or(os.Getenv("HOST_KIND"), "webdav"), url: os.Getenv("HOST_URL"),
		credential: filehost.Credential{
			Scheme: filehost.Basic, Username: os.Getenv("HOST_USER"), Secret: filehost.NewSecret(os.Getenv("HOST_PASSWORD")),
		},
	}
	if file := os.Getenv("HOST_CA"); file != "" {
		ca, err := os.ReadFile(file)
		s.ca = must(t, ca, err)
	}
	many, err := strconv.Atoi(cmp.Or(os.Getenv("HOST_ENTRIES"), "100"))
	must(t, many, err)
	way := s.wayOut(t)
	if s.kind != "webdav" {
		account, err := s.client(t, way)(nil).Account(t.Context(), s.credential)
		s.credential.Account = must(t, account, err)
	}
	host := s.host(t, way, s.overDAV(t))
	host.Many, host.Big, host.Guest = many, 24<<20, os.Getenv("HOST_STRANGER")
	if s.kind != "opencloud" { // no path names a user there
		host.Stranger = host.Guest
	}
	host.Limits.Composed = s.kind == "nextcloud" || s.kind == "owncloud"
	return host
}

// starter keeps a double that did not start from looking like one.
func starter[H hosts.Host](start func(context.Context, hosts.Config) (H, error)) func(*testing.T, hosts.Config) hosts.Host {
	return func(t *testing.T, cfg hosts.Config) hosts.Host {
		t.Helper()
		host, err := start(t.Context(), cfg)
		return must(t, host, err)
	}
}

// double is a double of a host. It has no double of DELETE, and maybe not of MKCOL.
func double(t *testing.T, start func(*testing.T, hosts.Config) hosts.Host, folders func(dav, disk) remotetest.Files) remotetest.Host {
	t.Helper()
	running := start(t, hosts.Config{
		Root: t.TempDir(), Users: []hosts.User{{Name: user, Password: password}, {Name: "bob", Password: "bob's"}},
		ClientID: "client", ClientSecret: "secret", PersonalSpace: "Alice & files", RedirectURIs: []string{"http://127.0.0.1/callback"},
	})
	t.Cleanup(func() {
		if surprises := running.Surprises(); len(surprises) > 0 {
			t.Errorf("no client of such a host should send %q", surprises)
		}
		if err := running.Close(); err != nil {
			t.Error(err)
		}
	})
	s := here(running.Traits().Kind, running.URL())
	way := s.wayOut(t)
	host := s.host(t, way, folders(s.overDAV(t), disk{dir: running.Dir(user), takes: running.Takes}))
	host.Stranger, host.Guest = "bob", "bob"
	if lender, ok := running.(interface {
		ShareWith(owner, name, with string, role doubles.Role) (back func())
	}); ok {
		host.Lend = func(name, content string) (func(), error) {
			if err := os.WriteFile(running.Dir("bob")+"/"+name, []byte(content), 0o600); err != nil {
				return nil, err
			}
			return lender.ShareWith("bob", "/"+name, user, doubles.Viewer), nil
		}
	}
	return host
}

type startServer = func(ctx context.Context, user, password string, tree func(dir string) error) (*stack.WebServer, error)

// webServer is a real server in wide use.
func webServer(t *testing.T, start startServer) remotetest.Host {
	t.Helper()
	running, err := start(t.Context(), user, password, func(dir string) error {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		return os.Chmod(dir, 0o777) // whoever the server runs as
	})
	if running != nil {
		t.Cleanup(func() {
			if err := running.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	must(t, running, err)
	s := here("webdav", running.URL)
	way := s.wayOut(t)
	host := s.host(t, way, s.overDAV(t))
	host.Forbid = func(path filehost.Path) error {
		closed := disk{dir: running.Dir()}.file(path)
		t.Cleanup(func() { must(t, closed, os.Chmod(closed, 0o777)) })
		return os.Chmod(closed, 0)
	}
	return host
}

// rclone runs as who runs the tests, whom no folder of his is closed to if that is root.
func rclone(t *testing.T) remotetest.Host {
	t.Helper()
	host := webServer(t, stack.StartRclone)
	host.Forbid = nil
	return host
}

// goWebDAV is x/net/webdav, which many servers are made with, at an address that must be escaped.
func goWebDAV(t *testing.T) remotetest.Host {
	t.Helper()
	files := &closable{FileSystem: webdav.Dir(t.TempDir())}
	handler := &webdav.Handler{Prefix: "/my dav", FileSystem: files, LockSystem: webdav.NewMemLS()}
	running := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, given, ok := r.BasicAuth(); !ok || name != user || given != password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	// It complains of itself when it begins an answer twice.
	running.Config.ErrorLog = log.New(io.Discard, "", 0)
	running.Start()
	t.Cleanup(running.Close)
	s := here("webdav", running.URL+"/my%20dav/")
	way := s.wayOut(t)
	host := s.host(t, way, s.overDAV(t))
	host.Forbid = func(path filehost.Path) error {
		files.closed.Store(path.String())
		t.Cleanup(func() { files.closed.Store("") })
		return nil
	}
	return host
}

// closable is a file system with a folder that the server may see and not read.
type closable struct {
	webdav.FileSystem
	closed atomic.Value // its path, a string; "" = none is
}

// OpenFile implements webdav.FileSystem.
func (c *closable) OpenFile(ctx context.Context, name string, flag int, mode fs.FileMode) (webdav.File, error) {
	if closed, _ := c.closed.Load().(string); closed != "" && strings.HasPrefix(name+"/", closed+"/") {
		return nil, fs.ErrPermission
	}
	return c.FileSystem.OpenFile(ctx, name, flag, mode)
}
