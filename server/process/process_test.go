package process_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/process"
)

// childDir tells the test's own program to be a run of the plugin.
const childDir = "FILEHOST_ATTACH_TEST_RUN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		run, err := process.Start(dir, time.Now())
		if err != nil {
			os.Exit(1)
		}
		fmt.Println(run.ID()) //nolint:forbidigo // what its parent waits for
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	}
	os.Exit(m.Run())
}

func start(t *testing.T, dir string) *process.Run {
	t.Helper()
	run, err := process.Start(dir, time.Now())
	require.NoError(t, err)
	return run
}

func TestARunThatWasKilledHasEndedAndOneThatLivesHasNot(t *testing.T) {
	dir := t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), program) //nolint:gosec // the test itself
	child.Env = append(os.Environ(), childDir+"="+dir)
	input, err := child.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = input.Close() }()
	output, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	id := line[:len(line)-1]

	run := start(t, dir)
	assert.False(t, run.Ended(id), "it lives")
	require.NoError(t, child.Process.Kill())
	_ = child.Wait() // killed
	assert.True(t, run.Ended(id))
	assert.True(t, start(t, dir).Ended(id), "to know it changes nothing")
	assert.False(t, start(t, t.TempDir()).Ended(id), "on another machine nobody knows")
}

func TestARunIsNotOverForItselfNorForOthersInItsProcess(t *testing.T) {
	dir := t.TempDir()
	one, other := start(t, dir), start(t, dir)
	assert.False(t, one.Ended(one.ID()))
	assert.False(t, one.Ended(other.ID()))
	assert.NotEqual(t, one.ID(), other.ID())
	assert.False(t, one.Ended("../"+other.ID()))
	assert.False(t, one.Ended(""))
}

func TestWithoutALockFileARunIsOfUseAllTheSame(t *testing.T) {
	run, err := process.Start(filepath.Join(t.TempDir(), "missing"), time.Now())
	require.Error(t, err)
	assert.NotEmpty(t, run.ID())
	assert.False(t, run.Ended("another"))
}

func TestFilesOfRunsThatEndedLongAgoAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "filehost-attach-run-OLD.lock")
	require.NoError(t, os.WriteFile(old, nil, 0o600))
	living := start(t, dir)
	_, err := process.Start(dir, time.Now().Add(time.Hour))
	require.NoError(t, err)
	assert.FileExists(t, old, "somebody may still ask for it")
	_, err = process.Start(dir, time.Now().Add(25*time.Hour))
	require.NoError(t, err)
	assert.NoFileExists(t, old)
	assert.FileExists(t, filepath.Join(dir, "filehost-attach-run-"+living.ID()+".lock"), "it lives")
}
