package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

const (
	warmRounds = 5
	// warmRequests is how many requests a side makes in a round, at least.
	warmRequests = 200
	// addedBound is what the plugin may add to the median.
	addedBound = 3 * time.Millisecond
)

// measureWarm compares GET /files for a folder of 100 entries with its PROPFIND, at several numbers of callers who each
// call again as soon as they have their answer.
func measureWarm(ctx context.Context, b *bench) ([]row, error) {
	if err := b.learnPropfind(ctx); err != nil {
		return nil, err
	}
	if err := b.use(ctx, b.Host.URL()); err != nil {
		return nil, err
	}
	var rows []row
	for _, callers := range []int{1, 16, 64} {
		measured, err := b.warm(ctx, callers)
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

// load is what many callers met.
type load struct {
	times []time.Duration
	spent map[string]time.Duration // processor time by program
}

func (b *bench) warm(ctx context.Context, callers int) ([]row, error) {
	client := b.newClient(callers)
	through := func(ctx context.Context) (time.Duration, error) { return client.files(ctx, hundredFolder) }
	direct := func(ctx context.Context) (time.Duration, error) {
		return client.propfind(ctx, b.Host.URL(), hundredFolder)
	}
	var ours, theirs load
	for round := range warmRounds + 1 {
		if round == 1 {
			ours, theirs = load{}, load{} // the first one warms up
		}
		for _, side := range []struct {
			load *load
			call side
		}{{&ours, through}, {&theirs, direct}} {
			if err := b.drive(ctx, callers, side.call, side.load); err != nil {
				return nil, err
			}
		}
	}
	say(fmt.Sprintf("%d callers: processor time of a listing: %s; of a PROPFIND: %s", callers, ours.perRequest(), theirs.perRequest()))
	var rows []row
	for _, percent := range []int{50, 99} {
		through, direct := percentile(ours.times, percent), percentile(theirs.times, percent)
		r := row{Work: fmt.Sprintf("/files warm, 100 entries, %d callers, p%d", callers, percent), Value: milliseconds(through), Unit: "ms",
			Against: fmt.Sprintf("the PROPFIND by a Go client: %g ms", milliseconds(direct))}.ratioTo(milliseconds(direct))
		if percent == 50 {
			added := through - direct
			r = r.atMost(added.Seconds(), addedBound.Seconds(), fmt.Sprintf("at most 3 ms added (are %g)", milliseconds(added)))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// drive has the callers make their requests, and adds what they met to into.
func (b *bench) drive(ctx context.Context, callers int, call side, into *load) error {
	before, err := b.processorTimes()
	if err != nil {
		return err
	}
	each := (warmRequests + callers - 1) / callers
	each = max(each, 10)
	times := make([]time.Duration, callers*each)
	group, ctx := errgroup.WithContext(ctx)
	for caller := range callers {
		group.Go(func() (err error) {
			for i := range each {
				if times[caller*each+i], err = call(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	after, err := b.processorTimes()
	if err != nil {
		return err
	}
	into.times = append(into.times, times...)
	if into.spent == nil {
		into.spent = map[string]time.Duration{}
	}
	for program, spent := range after {
		into.spent[program] += spent - before[program]
	}
	return nil
}

// benchProgram is this process: the callers and the embedded host.
const benchProgram = "host and callers"

func (b *bench) processorTimes() (map[string]time.Duration, error) {
	processes, err := b.Mattermost.Processes()
	if err != nil {
		return nil, err
	}
	processes[benchProgram] = os.Getpid()
	spent := map[string]time.Duration{}
	for program, pid := range processes {
		usage, err := stack.UsageOf(pid)
		if err != nil {
			return nil, err
		}
		spent[program] = usage.CPU
	}
	return spent, nil
}

// perRequest words the processor time of one request.
func (l load) perRequest() string {
	each := func(program string) float64 {
		return milliseconds(l.spent[program] / time.Duration(len(l.times)))
	}
	return fmt.Sprintf("%s %g ms, plugin %g ms, server %g ms", benchProgram, each(benchProgram), each(stack.PluginID), each(stack.ServerProgram))
}
