package main

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// builders are two people who build the same source on machines that have little in common.
var builders = []struct {
	folder, umask string
	modified      time.Time
	env           []string
}{
	{"src", "022", time.Date(2021, time.March, 4, 5, 6, 7, 0, time.UTC), []string{"TZ=UTC", "LC_ALL=C"}},
	{"home/some one/src/plugin", "077", time.Date(2026, time.July, 8, 9, 10, 11, 0, time.UTC), []string{
		"TZ=Pacific/Kiritimati", "LC_ALL=C.UTF-8", "SOURCE_DATE_EPOCH=1", "GOFLAGS=-buildvcs=auto", "GOAMD64=v3", "GOARM64=v8.2",
	}},
}

// TestBundleIsReproducible builds the whole bundle of this platform, the webapp part as well, from two copies of the
// source and wants the same bytes.
func TestBundleIsReproducible(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	require.DirExists(t, filepath.Join(root, "webapp", "node_modules"), "run `make dist-host` once: it installs what the webapp part is built with")
	tool := filepath.Join(t.TempDir(), "bundle")
	execute(t, root, nil, "go", "build", "-o", tool, "./build/bundle")
	// npm's modules are found from the real path of a link, which would lead out of the copies.
	modules := filepath.Join(t.TempDir(), "node_modules")
	execute(t, root, nil, "cp", "-a", filepath.Join("webapp", "node_modules")+"/.", modules)
	var sums [][]byte
	for _, builder := range builders {
		folder := filepath.Join(t.TempDir(), filepath.FromSlash(builder.folder))
		copySource(t, root, folder, builder.modified)
		here := filepath.Join(folder, "webapp", "node_modules")
		require.NoError(t, os.Rename(modules, here))
		modules = here
		execute(t, filepath.Join(folder, "webapp"), builder.env, "sh", "-c", "umask "+builder.umask+" && npm run --silent build")
		execute(t, folder, builder.env, "sh", "-c", "umask "+builder.umask+` && exec "$0" -host -out dist/bundle.tar.gz`, tool)
		sums = append(sums, checksum(t, filepath.Join(folder, "dist", "bundle.tar.gz")))
	}
	assert.Equal(t, sums[0], sums[1], "two builds of the same source differ")
}

// copySource copies what git has of the source, and what it would add, with a modification time of its own.
func copySource(t *testing.T, root, folder string, modified time.Time) {
	t.Helper()
	names := strings.Split(execute(t, root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00")
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(root, name)) // #nosec G304 -- a file of this repository
		if name == "" || os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		require.NoError(t, err)
		target := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o750))
		require.NoError(t, os.WriteFile(target, content, 0o600)) // #nosec G703 -- in a folder of this test
		require.NoError(t, os.Chtimes(target, modified, modified))
	}
}

func execute(t *testing.T, folder string, env []string, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...) // #nosec G204 -- the words are constants of this test
	command.Dir = folder
	command.Env = append(os.Environ(), env...)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	require.NoError(t, err, "%s %v: %s", name, args, errs.String())
	return string(out)
}

func checksum(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.Open(path) // #nosec G304 -- a file of this test
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	require.NoError(t, err)
	return sum.Sum(nil)
}
