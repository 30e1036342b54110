package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// The tree that every host serves.
const (
	manyFolder    = "/Many"
	manyCount     = 10_000
	hundredFolder = "/Hundred"
	hundredCount  = 100
	hugeFile      = "/1 GiB.bin"
	hugeSize      = 1 << 30
)

// hostUser has an account of this name and password at every host.
const hostUser = "alice"

// bench is the stack under measurement.
type bench struct {
	*stack.Stack
	dir   string
	token string // a personal access token of the stack's user
	asked *asked
}

// newBench brings up Mattermost, the plugin and the embedded host, with the stack's user connected by OAuth.
func newBench(ctx context.Context, bundle string) (*bench, error) {
	dir, err := os.MkdirTemp("", "filehost-attach-bench")
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir}
	if b.Stack, err = stack.Up(ctx, stack.Config{Dir: dir, Bundle: bundle, Tree: writeTree, Say: say}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bench) prepare(ctx context.Context) error {
	err := b.Configure(ctx, map[string]any{"copiespernode": 8, "copiesperuser": 8, "stallseconds": 30})
	if err != nil {
		return err
	}
	if err := b.Connect(ctx, b.User, hostUser); err != nil {
		return err
	}
	roles := map[string]string{"roles": "system_user system_user_access_token"}
	if err := b.Admin.Put(ctx, "/api/v4/users/"+b.User.ID+"/roles", roles, nil); err != nil {
		return err
	}
	var created struct{ Token string }
	err = b.User.Post(ctx, "/api/v4/users/"+b.User.ID+"/tokens", map[string]string{"description": "bench"}, &created)
	b.token = created.Token
	return err
}

func (b *bench) close() error { return errors.Join(b.Down(), os.RemoveAll(b.dir)) }

// use has the plugin work with the host at url, which knows hostUser, and connects the stack's user there.
func (b *bench) use(ctx context.Context, url string) error {
	if err := b.Configure(ctx, map[string]any{"hosturl": url, "signin": "password", "oauthissuer": ""}); err != nil {
		return err
	}
	_, err := b.Plugin(b.User).ConnectWithPassword(ctx, hostUser, stack.HostPassword(hostUser))
	return err
}

// asUser are curl's arguments for a request as the stack's user.
func (b *bench) asUser() []string { return []string{"--header", "Authorization: Bearer " + b.token} }

// asHostUser are curl's arguments for a request to a host.
func (b *bench) asHostUser() []string {
	return []string{"--basic", "--user", hostUser + ":" + stack.HostPassword(hostUser)}
}

func writeTree(dir string) error {
	for folder, count := range map[string]int{manyFolder: manyCount, hundredFolder: hundredCount} {
		if err := writeMany(dir, folder, count); err != nil {
			return err
		}
	}
	file := filepath.Join(dir, hugeFile)
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		return err
	}
	return os.Truncate(file, hugeSize)
}

// writeMany makes a folder of so many small files.
func writeMany(dir, folder string, count int) error {
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
		return err
	}
	for i := range count {
		if err := os.WriteFile(filepath.Join(dir, folder, fmt.Sprintf("file %d.txt", i)), []byte("content"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
