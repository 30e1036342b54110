package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// side is one way to do a work. It returns how long it took.
type side func(ctx context.Context) (time.Duration, error)

// interleave runs the sides in turn, A B C A B C, so that whatever slows the machine down for a while slows all of them
// down. It returns each side's times; the first round is not counted, in which connections and caches get warm.
func interleave(ctx context.Context, rounds int, sides ...side) ([][]time.Duration, error) {
	times := make([][]time.Duration, len(sides))
	for round := range rounds + 1 {
		for i, side := range sides {
			took, err := side(ctx)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				times[i] = append(times[i], took)
			}
		}
	}
	return times, nil
}

// percentile is the nearest-rank one of the times, which it sorts.
func percentile(times []time.Duration, percent int) time.Duration {
	slices.Sort(times)
	return times[max(0, (len(times)*percent+99)/100-1)]
}

func median(times []time.Duration) time.Duration { return percentile(times, 50) }

func milliseconds(d time.Duration) float64 { return rounded(float64(d) / float64(time.Millisecond)) }

func seconds(d time.Duration) float64 { return rounded(d.Seconds()) }

// curl runs one transfer, throws away what it gets, and returns the time that curl itself has measured, which leaves out
// the start of its process. A status of 400 or more is an error.
func curl(ctx context.Context, args ...string) (time.Duration, error) {
	return curlInto(ctx, os.DevNull, args...)
}

// curlInto is curl into a file.
func curlInto(ctx context.Context, file string, args ...string) (time.Duration, error) {
	args = append([]string{"--silent", "--show-error", "--fail", "--output", file, "--write-out", "%{time_total}"}, args...)
	command := exec.CommandContext(ctx, "curl", args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("curl: %w: %s", err, stderr.Bytes())
	}
	total, err := strconv.ParseFloat(string(out), 64)
	return time.Duration(total * float64(time.Second)), err
}
