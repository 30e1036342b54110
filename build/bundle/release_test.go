package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newRepository commits a project with the real release script, and a `make dist` that runs the recipe.
func newRepository(t *testing.T, recipe string) string {
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "release.sh"))
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, "build"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "build", "release.sh"), script, 0o700)) // #nosec G306 G703 -- a program, in a folder of this test
	require.NoError(t, os.WriteFile(filepath.Join(folder, "Makefile"), []byte("dist:\n\t@mkdir -p dist\n\t@"+recipe+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, ".gitignore"), []byte("/dist/\n"), 0o600))
	execute(t, folder, nil, "git", "init", "--quiet")
	execute(t, folder, nil, "git", "add", ".")
	execute(t, folder, nil, "git", "-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "--quiet", "--message", "all")
	return folder
}

func release(t *testing.T, folder string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(folder, "build", "release.sh"), "1.2.3", "dist/bundle.tar.gz") // #nosec G204
	out, err := command.CombinedOutput()
	return string(out), err
}

func TestReleaseTellsItsChecksum(t *testing.T) {
	folder := newRepository(t, "printf same >dist/bundle.tar.gz")
	out, err := release(t, folder)
	require.NoError(t, err, out)
	const sum = "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5  bundle.tar.gz\n"
	sums, err := os.ReadFile(filepath.Join(folder, "dist", "SHA256SUMS")) // #nosec G304 -- a file of this test
	require.NoError(t, err)
	assert.Equal(t, sum, string(sums))
	assert.Contains(t, out, "version 1.2.3, commit ")
	assert.Contains(t, out, sum)
}

func TestReleaseRefusesWhatNobodyCanBuildAgain(t *testing.T) {
	t.Run("a change that is in no commit", func(t *testing.T) {
		folder := newRepository(t, "printf same >dist/bundle.tar.gz")
		require.NoError(t, os.WriteFile(filepath.Join(folder, "stray.go"), nil, 0o600))
		out, err := release(t, folder)
		require.Error(t, err)
		assert.Contains(t, out, "?? stray.go")
		assert.NoDirExists(t, filepath.Join(folder, "dist"))
	})
	t.Run("a bundle that knows where it was built", func(t *testing.T) {
		folder := newRepository(t, "pwd >dist/bundle.tar.gz")
		require.NoError(t, os.Mkdir(filepath.Join(folder, "dist"), 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "dist", "SHA256SUMS"), []byte("of the last release"), 0o600))
		out, err := release(t, folder)
		require.Error(t, err)
		assert.Contains(t, out, "two builds of the same commit differ")
		assert.NoFileExists(t, filepath.Join(folder, "dist", "SHA256SUMS"))
	})
}
