package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// nginxDAVExt is the module that lists folders, where Debian keeps it.
const nginxDAVExt = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"

// nginxConfig wants the path of the module, the folder of all state and the address, in this order.
const nginxConfig = `
load_module %[1]s;
daemon off;
worker_processes 1;
pid %[2]q;
events { worker_connections 1024; }
http {
	access_log off;
	default_type application/octet-stream;
	client_body_temp_path "%[2]s.body";
	proxy_temp_path "%[2]s.proxy";
	fastcgi_temp_path "%[2]s.fastcgi";
	uwsgi_temp_path "%[2]s.uwsgi";
	scgi_temp_path "%[2]s.scgi";
	server {
		listen %[3]s;
		root %[4]q;
		auth_basic files;
		auth_basic_user_file %[5]q;
		location / {
			dav_methods PUT DELETE MKCOL COPY MOVE;
			dav_ext_methods PROPFIND OPTIONS;
		}
	}
}
`

// Nginx is nginx with its dav-ext module over a folder: a WebDAV server that makes its whole answer before it sends any.
type Nginx struct {
	// URL is the WebDAV root.
	URL     string
	process *process
	dir     string
}

// StartNginx serves a new folder, filled by tree, to one user. It installs nginx if it must.
func StartNginx(ctx context.Context, user, password string, tree func(dir string) error) (*Nginx, error) {
	if err := findNginx(ctx); err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	server := &Nginx{URL: "http://" + address + "/"}
	if server.dir, err = os.MkdirTemp("", "nginx"); err != nil {
		return nil, err
	}
	as := unprivileged()
	if as != nil {
		if err := os.Chown(server.dir, nobody, nobody); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(server.configure(address, user, password), tree(server.Dir())); err != nil {
		return nil, err
	}
	server.process, err = start(command{
		Name: "nginx", Dir: server.dir, As: as,
		Args: []string{"nginx", "-p", server.dir, "-e", filepath.Join(server.dir, "error.log"), "-c", filepath.Join(server.dir, "nginx.conf")},
	})
	if err != nil {
		return nil, err
	}
	// A server that doesn't get ready is handed back all the same, to be stopped.
	return server, untilListening(ctx, server.process, address)
}

func findNginx(ctx context.Context) error {
	installed := func() bool {
		_, err := exec.LookPath("nginx")
		return err == nil && isFile(nginxDAVExt)
	}
	if installed() {
		return nil
	}
	if os.Geteuid() == 0 {
		if err := aptInstall(ctx, func(string) {}, "nginx", "libnginx-mod-http-dav-ext"); err != nil {
			return err
		}
	}
	if !installed() {
		return errors.New("no nginx with dav-ext here; on Debian, install the packages nginx and libnginx-mod-http-dav-ext")
	}
	return nil
}

func (n *Nginx) configure(address, user, password string) error {
	users := filepath.Join(n.dir, "users")
	config := fmt.Sprintf(nginxConfig, nginxDAVExt, filepath.Join(n.dir, "nginx.pid"), address, n.Dir(), users)
	return errors.Join(
		// nginx checks the password with every request: a slow hash would be measured in place of the listing.
		os.WriteFile(users, []byte(user+":{PLAIN}"+password+"\n"), 0o644),
		os.WriteFile(filepath.Join(n.dir, "nginx.conf"), []byte(config), 0o644),
	)
}

// Dir is where the files lie on disk.
func (n *Nginx) Dir() string { return filepath.Join(n.dir, "files") }

// Stop ends the server and removes its files.
func (n *Nginx) Stop() error {
	n.process.Stop()
	return os.RemoveAll(n.dir)
}
