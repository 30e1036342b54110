// Command run starts the plugin in a real Mattermost beside a real file host, does the plugin's
// main job once, and stays up until it is interrupted. With -exec it runs a command against such a
// stack instead, and ends with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

type options struct {
	bundle, command, dir, page string
}

func main() {
	var opts options
	flag.StringVar(&opts.bundle, "bundle", "", "path of the plugin's bundle (tar.gz)")
	flag.StringVar(&opts.command, "exec", "", "shell command to run against a stack of its own, instead of staying up")
	flag.StringVar(&opts.dir, "dir", "", "folder for all state; emptied first (default .run of the project; with -exec a temporary one)")
	flag.StringVar(&opts.page, "page", "", "folder of the built page in which to try the plugin, while staying up (none: no page)")
	flag.Parse()
	// The sign-in server logs through the default logger; its warnings are no news to anybody here.
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := start(ctx, opts)
	stop()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && opts.command != "":
		os.Exit(max(1, exit.ExitCode()))
	case err != nil:
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, opts options) (err error) {
	if opts.bundle == "" {
		return errors.New("-bundle is missing")
	}
	dir, remove, err := stateDir(opts)
	if err != nil {
		return err
	}
	defer remove()
	target, err := targetFromEnv(ctx)
	if err != nil {
		return err
	}
	cfg := stack.Config{
		Dir: dir, Bundle: opts.bundle, Tree: sample.Write, Settings: target.settings, Say: progress,
		// A command is a test; people may send whatever they like.
		Proxy: opts.command != "",
	}
	page := newPage(opts.page)
	if opts.page != "" && opts.command == "" {
		cfg.Page = page
	}
	s, err := stack.Up(ctx, cfg)
	if err != nil {
		return unlessInterrupted(ctx, opts, err)
	}
	defer func() {
		progress("stopping")
		err = errors.Join(err, s.Down())
	}()
	target.complete(s)
	if err := demonstrate(ctx, s, target); err != nil {
		return unlessInterrupted(ctx, opts, fmt.Errorf("%w\nThe server's log is %s", err, s.Mattermost.LogFile()))
	}
	env := environment(s, target)
	if opts.command != "" {
		return test(ctx, opts.command, dir, s, env)
	}
	if err := writeEnv(filepath.Join(dir, "env"), env); err != nil {
		return err
	}
	explain(env, filepath.Join(dir, "env"), s.Mattermost.LogFile())
	if cfg.Page != nil {
		say("\nThe picker, in a page of ours with %s signed in (add &theme=dark or &locale=de): open\n  %s", s.User.Username, page.show(s))
	}
	<-ctx.Done()
	return nil
}

// unlessInterrupted gives err, unless it only follows from a Ctrl-C: that is how all of this ends.
func unlessInterrupted(ctx context.Context, opts options, err error) error {
	if ctx.Err() != nil && opts.command == "" {
		return nil
	}
	return err
}

// say prints a line for the person who waits.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format+"\n", args...) }

func progress(line string) { say("· %s", line) }

// stateDir gives the folder for all state, and what removes it when it was only temporary.
func stateDir(opts options) (string, func(), error) {
	keep := func() {}
	if opts.dir != "" {
		return opts.dir, keep, nil
	}
	if opts.command != "" {
		dir, err := os.MkdirTemp("", "filehost-attach")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	root, err := stack.Root()
	return filepath.Join(root, ".run"), keep, err
}

// test runs a command against the stack, with a Nextcloud beside it.
func test(ctx context.Context, command, dir string, s *stack.Stack, env []variable) error {
	nextcloud, err := startNextcloud(ctx, dir, s)
	if err != nil {
		return err
	}
	err = execute(ctx, command, append(env, variable{"NEXTCLOUD_URL", nextcloud.URL()}))
	return errors.Join(err, unsurprised(nextcloud), nextcloud.Close())
}

// execute runs a shell command with env added to the environment.
func execute(ctx context.Context, command string, env []variable) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = os.Environ()
	for _, v := range env {
		cmd.Env = append(cmd.Env, v.name+"="+v.value)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
