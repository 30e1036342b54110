package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

const (
	readerRounds  = 5
	readerEntries = 10_000
)

// readers are what the multistatus reader is compared with, by the name of their benchmark.
var readers = map[string]string{"encoding-xml": "encoding/xml into structs", "gowebdav": "studio-b12/gowebdav"}

var benchmarkLine = regexp.MustCompile(`(?m)^BenchmarkMultistatus/([a-z-]+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op.*?(\d+) allocs/op$`)

// measureReader runs the Go benchmarks of the multistatus reader, all of them in each round.
func measureReader(ctx context.Context, b *bench) ([]row, error) {
	root, err := stack.Root()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(b.dir, "remote.test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", program, "./server/remote")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the benchmarks: %w\n%s", err, out)
	}
	times, allocations := map[string][]time.Duration{}, map[string]float64{}
	for range readerRounds {
		command := exec.CommandContext(ctx, program, "-test.run", "^$", "-test.bench", "^BenchmarkMultistatus$", "-test.benchmem", "-test.benchtime", "500ms")
		command.Dir = filepath.Join(root, "server", "remote")
		out, err := command.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("run the benchmarks: %w\n%s", err, out)
		}
		if err := readBenchmarks(string(out), times, allocations); err != nil {
			return nil, err
		}
	}
	return readerRows(times, allocations)
}

// readBenchmarks adds what a run of the benchmarks printed: the time of a whole listing, and the allocations of an entry.
func readBenchmarks(out string, times map[string][]time.Duration, allocations map[string]float64) error {
	for _, found := range benchmarkLine.FindAllStringSubmatch(out, -1) {
		ns, nsErr := strconv.ParseFloat(found[2], 64)
		count, countErr := strconv.ParseFloat(found[3], 64)
		if err := errors.Join(nsErr, countErr); err != nil {
			return err
		}
		times[found[1]] = append(times[found[1]], time.Duration(ns))
		allocations[found[1]] = count / readerEntries
	}
	return nil
}

func readerRows(times map[string][]time.Duration, allocations map[string]float64) ([]row, error) {
	const work = "multistatus reader, 10,000 entries"
	ours, ok := times["ours"]
	if !ok {
		return nil, errors.New("there is no benchmark of that name")
	}
	var rows []row
	for _, name := range []string{"encoding-xml", "gowebdav"} {
		other, ok := times[name]
		if !ok {
			return nil, errors.New("there is no benchmark named " + name)
		}
		r := row{Work: work, Value: milliseconds(median(ours)), Unit: "ms",
			Against: fmt.Sprintf("%s: %g ms, %g allocations an entry", readers[name], milliseconds(median(other)), rounded(allocations[name]))}
		speedup := rounded(float64(median(other)) / float64(median(ours)))
		r = r.ratioTo(milliseconds(median(other)))
		rows = append(rows, r.atMost(-speedup, -8, fmt.Sprintf("8 x faster (is %g x)", speedup)))
	}
	perEntry := rounded(allocations["ours"])
	rows = append(rows, row{Work: strings.Replace(work, "10,000 entries", "allocations", 1), Value: perEntry, Unit: "an entry"}.atMost(perEntry, 4, "at most 4"))
	return rows, nil
}
