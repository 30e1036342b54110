package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// step is a command that runs to its end while somebody waits.
type step struct {
	// Doing is what it does, in a few words.
	Doing string
	Dir   string
	Args  []string
	// Env is added to the environment of the harness.
	Env []string
	// Say takes a line of progress now and then.
	Say func(string)
}

// run runs the step and says every few seconds that it still does.
func run(ctx context.Context, s step) error {
	s.Say(s.Doing)
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		tick := time.NewTicker(5 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				s.Say(fmt.Sprintf("still %s (%d s)", s.Doing, int(now.Sub(began).Seconds())))
			}
		}
	}()
	cmd := exec.CommandContext(ctx, s.Args[0], s.Args[1:]...)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), s.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", s.Doing, err, out)
	}
	return nil
}

// aptInstall installs Debian packages; it wants root.
func aptInstall(ctx context.Context, say func(string), packages ...string) error {
	return oneAtATime(filepath.Join(os.TempDir(), "filehost-attach-apt.lock"), func() error {
		return aptUpdateAndInstall(ctx, say, packages)
	})
}

func aptUpdateAndInstall(ctx context.Context, say func(string), packages []string) error {
	env := []string{"DEBIAN_FRONTEND=noninteractive"}
	err := run(ctx, step{
		Doing: "updating Debian's package lists", Say: say, Env: env,
		Args: []string{"apt-get", "-q", "-o", "DPkg::Lock::Timeout=300", "update"},
	})
	if err != nil {
		return err
	}
	return run(ctx, step{
		Doing: fmt.Sprintf("installing %v", packages), Say: say, Env: env,
		Args: append([]string{
			"apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", "install", "--no-install-recommends",
		}, packages...),
	})
}
