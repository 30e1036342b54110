// Package suite tests the plugin from outside: over HTTP, in a real Mattermost server, against
// real file hosts.
package suite

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// site is the one stack that all tests of the package share. Its User is connected as alice.
var site *stack.Stack

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(context.Background(), m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(ctx context.Context, m *testing.M) (code int, err error) {
	bundle := os.Getenv("FILEHOST_ATTACH_BUNDLE")
	if bundle == "" {
		return 0, errors.New("FILEHOST_ATTACH_BUNDLE must name the plugin's bundle; `make e2e` builds it and sets this")
	}
	dir, err := os.MkdirTemp("", "filehost-attach-suite")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	site, err = stack.Up(ctx, stack.Config{
		Dir: dir, Bundle: bundle, Scanner: true, Tree: sample.Write,
		Say: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	if err != nil {
		return 0, err
	}
	defer func() {
		if downErr := site.Down(); err == nil {
			err = downErr
		}
	}()
	if err := site.Connect(ctx, site.User, "alice"); err != nil {
		return 0, keepLog(err)
	}
	if err := skip(); err != nil {
		return 0, err
	}
	if code = m.Run(); code != 0 {
		return code, errors.Join(keepLog(errors.New("tests failed")), nothingSurprising())
	}
	return code, errors.Join(logIsClean(), databaseIsClean(ctx), nothingSurprising())
}

// nothingSurprising fails when the plugin has asked the host for what no client of such a host should.
func nothingSurprising() error {
	if surprises := site.Host.Surprises(); len(surprises) > 0 {
		return fmt.Errorf("the host is surprised by %q", surprises)
	}
	return nil
}

// logIsClean fails when the server's log, after all tests, holds anything secret.
func logIsClean() error {
	log, err := os.ReadFile(site.Mattermost.LogFile())
	if err != nil {
		return err
	}
	for _, secret := range site.Host.Secrets() {
		if bytes.Contains(log, []byte(secret)) {
			return keepLog(fmt.Errorf("the server's log holds a secret: %s", secret))
		}
	}
	return nil
}

// keepLog saves the server's log, which is where the plugin says what went wrong.
func keepLog(cause error) error {
	log, err := os.ReadFile(site.Mattermost.LogFile())
	if err != nil {
		return err
	}
	kept, err := os.CreateTemp("", "mattermost-*.log")
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }()
	if _, err := kept.Write(log); err != nil {
		return err
	}
	return fmt.Errorf("%w; the server's log is %s", cause, kept.Name())
}
