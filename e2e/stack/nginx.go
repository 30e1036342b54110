package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// nginxDAVExt is the module that lists folders, where Debian keeps it.
const nginxDAVExt = "/usr/lib/nginx/modules/ngx_http_dav_ext_module.so"

// nginxConfig wants the path of the module, the file for the process's id, the address, the folder that is served and the
// file of users, in this order.
const nginxConfig = `
load_module %[1]s;
daemon off;
worker_processes 1;
pid %[2]q;
events { worker_connections 1024; }
http {
	access_log off;
	default_type application/octet-stream;
	client_max_body_size 0;
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

// StartNginx serves a new folder, filled by tree, to one user, by nginx with its dav-ext module, which makes its whole
// answer before it sends any. It installs nginx if it must.
func StartNginx(ctx context.Context, user, password string, tree func(dir string) error) (*WebServer, error) {
	return webServer{
		name: "nginx", program: "nginx", module: nginxDAVExt, packages: []string{"nginx", "libnginx-mod-http-dav-ext"},
		configure: func(dir, address string) error { return configureNginx(dir, address, user, password) },
		args: func(dir string) []string {
			return []string{"-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", filepath.Join(dir, "nginx.conf")}
		},
		tree: tree,
	}.start(ctx)
}

func configureNginx(dir, address, user, password string) error {
	users := filepath.Join(dir, "users")
	config := fmt.Sprintf(nginxConfig, nginxDAVExt, filepath.Join(dir, "nginx.pid"), address, servedDir(dir), users)
	return errors.Join(
		// nginx checks the password with every request: a slow hash would be measured in place of the listing.
		os.WriteFile(users, []byte(user+":{PLAIN}"+password+"\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(config), 0o644),
	)
}
