// Package process tells runs of the plugin apart, and a run that has ended from one that is only slow.
package process

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// prefix of the names of lock files.
const prefix = "filehost-attach-run-"

// sweepAfter is how long the lock file of a run that has ended is kept: longer than anybody asks for it.
const sweepAfter = 24 * time.Hour

// Run is this run of the plugin. It holds the lock on a file of its own until the operating system ends the process,
// however that comes about. Who finds the file, and gets the lock, knows that the run has ended.
type Run struct {
	id   string
	dir  string
	lock *flock.Flock
}

var _ filehost.Process = (*Run)(nil)

// Start begins a run whose lock file lies in dir, which must be on the machine's own disk. The Run is of use also with an
// error: then no other run can know when it ends. now is for the removal of old lock files.
func Start(dir string, now time.Time) (*Run, error) {
	run := &Run{id: rand.Text(), dir: dir}
	sweep(dir, now)
	run.lock = flock.New(run.file(run.id), flock.SetFlag(os.O_CREATE|os.O_EXCL|os.O_RDWR))
	_, err := run.lock.TryLock()
	return run, err
}

func (r *Run) file(id string) string { return filepath.Join(r.dir, prefix+filepath.Base(id)+".lock") }

// ID implements filehost.Process.
func (r *Run) ID() string { return r.id }

// Ended implements filehost.Process. Without the file nothing can be told: the run may be one of another machine.
func (r *Run) Ended(id string) bool {
	return id != r.id && unlocked(r.file(id))
}

// unlocked tells whether nobody holds the lock on a file that exists.
func unlocked(file string) bool {
	lock := flock.New(file, flock.SetFlag(os.O_RDWR))
	got, err := lock.TryLock()
	if got {
		_ = lock.Unlock() // else with the process
	}
	return got && err == nil
}

// sweep removes the files of runs that ended long ago.
func sweep(dir string, now time.Time) {
	files, _ := filepath.Glob(filepath.Join(dir, prefix+"*.lock")) // fails for a bad pattern only
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && now.Sub(info.ModTime()) > sweepAfter && unlocked(file) {
			_ = os.Remove(file) // somebody else's, perhaps
		}
	}
}
