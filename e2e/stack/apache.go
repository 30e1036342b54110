package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// StartApache serves a new folder, filled by tree, to one user, by Apache's mod_dav. It installs Apache if it must.
func StartApache(ctx context.Context, user, password string, tree func(dir string) error) (*WebServer, error) {
	return webServer{
		name: "apache", program: "apache2", module: filepath.Join(apacheModules, "mod_dav_fs.so"), packages: []string{"apache2"},
		configure: func(dir, address string) error { return configureApache(dir, address, user, password) },
		args: func(dir string) []string {
			return []string{"-f", filepath.Join(dir, "apache.conf"), "-DFOREGROUND"}
		},
		tree: tree,
	}.start(ctx)
}

func configureApache(dir, address, user, password string) error {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		return err
	}
	// The two prefixes name the same algorithm; Apache knows only the later one.
	line := user + ":" + strings.Replace(string(hash), "$2a$", "$2y$", 1) + "\n"
	config := fmt.Sprintf(apacheConfig, dir, address, apacheModules)
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "users"), []byte(line), 0o644),
		os.WriteFile(filepath.Join(dir, "apache.conf"), []byte(config), 0o644),
	)
}
