package stack

import (
	"context"
	"os"
	"path/filepath"
)

// rclone gives rclone's servers.
func (b builder) rclone(ctx context.Context) (string, error) {
	return b.program(ctx, "rclone", filepath.Join(b.root, "e2e", "rclone"))
}

// StartRclone serves a new folder, filled by tree, to one user, by rclone's WebDAV server.
func StartRclone(ctx context.Context, user, password string, tree func(dir string) error) (*WebServer, error) {
	build, err := newBuilder(func(string) {})
	if err != nil {
		return nil, err
	}
	program, err := build.rclone(ctx)
	if err != nil {
		return nil, err
	}
	return rcloneServer(program, user, password, tree).start(ctx)
}

func rcloneServer(program, user, password string, tree func(dir string) error) webServer {
	var listens string
	return webServer{
		name: "rclone", program: program, module: program, ours: true, tree: tree,
		configure: func(_, address string) error {
			listens = address
			return nil
		},
		args: func(dir string) []string {
			return []string{"serve", "webdav", servedDir(dir), "--addr", listens, "--user", user, "--pass", password,
				// No configuration of the person who runs the tests.
				"--config", os.DevNull, "--cache-dir", filepath.Join(dir, "cache")}
		},
	}
}
