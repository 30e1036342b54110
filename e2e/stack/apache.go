package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// apacheModules is where Debian keeps Apache's modules.
const apacheModules = "/usr/lib/apache2/modules"

// apacheConfig wants the folder of all state, the address and the folder of modules, in this order.
const apacheConfig = `
ServerRoot %[1]q
ServerName files.example.com
Listen %[2]s
PidFile pid
ErrorLog error.log
LoadModule mpm_event_module %[3]s/mod_mpm_event.so
LoadModule authn_core_module %[3]s/mod_authn_core.so
LoadModule authn_file_module %[3]s/mod_authn_file.so
LoadModule authz_core_module %[3]s/mod_authz_core.so
LoadModule authz_user_module %[3]s/mod_authz_user.so
LoadModule auth_basic_module %[3]s/mod_auth_basic.so
LoadModule mime_module %[3]s/mod_mime.so
LoadModule dav_module %[3]s/mod_dav.so
LoadModule dav_fs_module %[3]s/mod_dav_fs.so
TypesConfig /etc/mime.types
DavLockDB "%[1]s/locks"
DocumentRoot "%[1]s/files"
<Directory "%[1]s/files">
	Dav On
	AuthType Basic
	AuthName files
	AuthUserFile "%[1]s/users"
	Require valid-user
</Directory>
`

// Apache is Apache's mod_dav over a folder: a WebDAV server in wide use, and none of ours.
type Apache struct {
	// URL is the WebDAV root.
	URL     string
	process *process
	dir     string
}

// StartApache serves a new folder, filled by tree, to one user. It installs Apache if it must.
func StartApache(ctx context.Context, user, password string, tree func(dir string) error) (*Apache, error) {
	if err := findApache(ctx); err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	server := &Apache{URL: "http://" + address + "/"}
	if server.dir, err = os.MkdirTemp("", "apache"); err != nil {
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
		Name: "apache", Dir: server.dir, As: as,
		Args: []string{"apache2", "-f", filepath.Join(server.dir, "apache.conf"), "-DFOREGROUND"},
	})
	if err != nil {
		return nil, err
	}
	// A server that doesn't get ready is handed back all the same, to be stopped.
	return server, untilListening(ctx, server.process, address)
}

func findApache(ctx context.Context) error {
	installed := func() bool {
		_, err := exec.LookPath("apache2")
		return err == nil && isFile(filepath.Join(apacheModules, "mod_dav_fs.so"))
	}
	if installed() {
		return nil
	}
	if os.Geteuid() == 0 {
		if err := aptInstall(ctx, func(string) {}, "apache2"); err != nil {
			return err
		}
	}
	if !installed() {
		return errors.New("no mod_dav of Apache here; on Debian, install the package apache2")
	}
	return nil
}

func (a *Apache) configure(address, user, password string) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		return err
	}
	// The two prefixes name the same algorithm; Apache knows only the later one.
	line := user + ":" + strings.Replace(string(hash), "$2a$", "$2y$", 1) + "\n"
	config := fmt.Sprintf(apacheConfig, a.dir, address, apacheModules)
	return errors.Join(
		os.WriteFile(filepath.Join(a.dir, "users"), []byte(line), 0o644),
		os.WriteFile(filepath.Join(a.dir, "apache.conf"), []byte(config), 0o644),
	)
}

// Dir is where the files lie on disk.
func (a *Apache) Dir() string { return filepath.Join(a.dir, "files") }

// Stop ends the server and removes its files.
func (a *Apache) Stop() error {
	a.process.Stop()
	return os.RemoveAll(a.dir)
}
