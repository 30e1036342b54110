package stack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// WebServer is a WebDAV server in wide use, and none of ours, over a folder of its own.
type WebServer struct {
	// URL is the WebDAV root.
	URL     string
	process *process
	dir     string
}

// webServer says how to start one.
type webServer struct {
	name     string
	program  string
	module   string   // the file without which it knows no WebDAV
	packages []string // of Debian, which hold both
	// configure writes what the program reads into the folder of all state.
	configure func(dir, address string) error
	// args are the program's, for that folder.
	args func(dir string) []string
	// tree fills the folder that is served.
	tree func(dir string) error
	// ours is set for a program that was built here, where another user may have no access.
	ours bool
}

// start serves a new folder. It installs the packages if it must.
func (w webServer) start(ctx context.Context) (*WebServer, error) {
	if err := w.install(ctx); err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	server := &WebServer{URL: "http://" + address + "/"}
	if server.dir, err = os.MkdirTemp("", w.name); err != nil {
		return nil, err
	}
	if server.process, err = w.startIn(server.dir, address); err != nil {
		return nil, errors.Join(err, os.RemoveAll(server.dir))
	}
	// A server that doesn't get ready is handed back all the same, to be stopped.
	return server, untilListening(ctx, server.process, address)
}

func (w webServer) startIn(dir, address string) (*process, error) {
	as := unprivileged()
	if w.ours {
		as = nil
	}
	if as != nil {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.configure(dir, address), w.tree(servedDir(dir))); err != nil {
		return nil, err
	}
	return start(command{Name: w.name, Dir: dir, As: as, Args: append([]string{w.program}, w.args(dir)...)})
}

func (w webServer) install(ctx context.Context) error {
	installed := func() bool {
		_, err := exec.LookPath(w.program)
		return err == nil && isFile(w.module)
	}
	if installed() {
		return nil
	}
	if os.Geteuid() == 0 {
		if err := aptInstall(ctx, func(string) {}, w.packages...); err != nil {
			return err
		}
	}
	if !installed() {
		return fmt.Errorf("no %s with %s here; on Debian, install %s", w.program, w.module, strings.Join(w.packages, " and "))
	}
	return nil
}

func servedDir(dir string) string { return filepath.Join(dir, "files") }

// Dir is where the files lie on disk.
func (s *WebServer) Dir() string { return servedDir(s.dir) }

// Stop ends the server and removes its files.
func (s *WebServer) Stop() error {
	s.process.Stop()
	return os.RemoveAll(s.dir)
}
