// Command bench measures what the plugin costs, each number against what the same work costs without the plugin, on the
// same machine in the same minute. It prints a table and writes the same as JSON. docs/performance.md says how to read it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	var opts options
	flag.StringVar(&opts.bundle, "bundle", "", "path of the plugin's bundle (tar.gz)")
	flag.StringVar(&opts.out, "out", "", "file for the results as JSON")
	flag.Func("only", "measure these parts only, by name, separated by commas: "+strings.Join(partNames(), ", "), opts.choose)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if flag.Arg(0) == driveCommand {
		err = drive(ctx, os.Stdin, os.Stdout)
	} else {
		err = run(ctx, opts)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	bundle, out string
	only        []string
}

func (o *options) choose(names string) error {
	o.only = strings.Split(names, ",")
	for _, name := range o.only {
		if !slices.Contains(partNames(), name) {
			return fmt.Errorf("%q is none of %s", name, strings.Join(partNames(), ", "))
		}
	}
	return nil
}

// part measures some rows. The parts share one stack and run in this order: each leaves the plugin configured as the
// next expects it.
type part struct {
	name    string
	measure func(ctx context.Context, b *bench) ([]row, error)
}

var parts = []part{
	{"reader", measureReader},
	{"memory", measureMemory}, // before anything else has made the processes grow
	{"refresh", measureRefresh},
	{"attach", measureAttach},
	{"page", measureFirstPage},
	{"warm", measureWarm},
	{"latency", measureLatency}, // the last: it leaves the plugin with another kind of host
}

func partNames() []string {
	var names []string
	for _, part := range parts {
		names = append(names, part.name)
	}
	return names
}

func run(ctx context.Context, opts options) (err error) {
	if opts.bundle == "" || opts.out == "" {
		return errors.New("-bundle and -out are needed")
	}
	// The sign-in server logs through the default logger; its warnings are no news to anybody here.
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	b, err := newBench(ctx, opts.bundle)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	var rows []row
	for _, part := range parts {
		if len(opts.only) > 0 && !slices.Contains(opts.only, part.name) {
			continue
		}
		say("measuring: " + part.name)
		measured, err := part.measure(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		rows = append(rows, measured...)
	}
	if err := printTable(os.Stdout, rows); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(opts.out), 0o755); err != nil {
		return err
	}
	return writeJSON(opts.out, rows)
}

// say prints a line for the person who waits.
func say(line string) { fmt.Fprintln(os.Stderr, "· "+line) }
