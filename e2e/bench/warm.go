package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

const (
	warmRounds = 5
	// warmCalls is how many calls a side makes in a round, and leastCalls how many each caller makes at least.
	warmCalls, leastCalls = 300, 10
	// addedBound is what the plugin may add to the median.
	addedBound = 3 * time.Millisecond
)

// warmCallers are the numbers of callers, the largest last.
var warmCallers = []int{1, 16, 64}

// measureWarm compares GET /files for a folder of 100 entries with its PROPFIND, at several numbers of callers who each
// call again as soon as they have their answer. Each is a user of his own: of one user's listings the plugin makes only
// so many at once, which would be measured too.
func measureWarm(ctx context.Context, b *bench) ([]row, error) {
	if err := b.learnPropfind(ctx); err != nil {
		return nil, err
	}
	if err := b.use(ctx, b.Host.URL()); err != nil {
		return nil, err
	}
	tokens, err := b.connectCallers(ctx, warmCallers[len(warmCallers)-1])
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, callers := range warmCallers {
		measured, err := b.warm(ctx, tokens[:callers])
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

// connectCallers makes so many users, all of them connected as hostUser, and gives their tokens.
func (b *bench) connectCallers(ctx context.Context, count int) ([]string, error) {
	var tokens []string
	for i := range count {
		account, err := stack.CreateAccount(ctx, rest.New(b.Mattermost.URL, ""), fmt.Sprintf("caller%d", i))
		if err != nil {
			return nil, err
		}
		if _, err := b.Plugin(account).ConnectWithPassword(ctx, hostUser, stack.HostPassword(hostUser)); err != nil {
			return nil, err
		}
		tokens = append(tokens, account.Token)
	}
	return tokens, nil
}

// load is what many callers met.
type load struct {
	times []time.Duration
	calls int                      // those that warm up included
	spent map[string]time.Duration // processor time by program
}

func (b *bench) warm(ctx context.Context, tokens []string) ([]row, error) {
	callers := len(tokens)
	var ours, theirs, least load
	for round := range warmRounds + 1 {
		if round == 1 {
			ours, theirs, least = load{}, load{}, load{} // the first one warms up
		}
		for _, side := range []struct {
			load  *load
			calls calls
		}{{&ours, b.listingAs(hundredFolder, tokens...)}, {&theirs, b.propfind(b.Host.URL(), hundredFolder)}, {&least, b.health()}} {
			side.calls.Callers, side.calls.WarmUp, side.calls.Each = callers, 1, max(warmCalls/callers, leastCalls)
			if err := b.drive(ctx, side.calls, side.load); err != nil {
				return nil, err
			}
		}
	}
	say(fmt.Sprintf("%d callers: processor time of a listing: %s; of a PROPFIND: %s; of a GET /health: %s", callers,
		ours.perCall(), theirs.perCall(), least.perCall()))
	rows := []row{{Work: fmt.Sprintf("the way to the plugin and back (GET /health), %d callers, p50", callers),
		Value: milliseconds(median(least.times)), Unit: "ms"}}
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

// drive has the callers make their calls, and adds what they met to into.
func (b *bench) drive(ctx context.Context, c calls, into *load) error {
	before, err := b.processorTimes()
	if err != nil {
		return err
	}
	times, callers, err := c.runApart(ctx)
	if err != nil {
		return err
	}
	into.times = append(into.times, times...)
	into.calls += c.Callers * (c.WarmUp + c.Each)
	if err := b.addSpent(before, into); err != nil {
		return err
	}
	into.spent["callers"] += callers
	return nil
}

// hostProgram is this process, in which the embedded host runs.
const hostProgram = "host"

func (b *bench) processorTimes() (map[string]time.Duration, error) {
	processes, err := b.Mattermost.Processes()
	if err != nil {
		return nil, err
	}
	processes[hostProgram] = os.Getpid()
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

// addSpent adds the processor time since before.
func (b *bench) addSpent(before map[string]time.Duration, into *load) error {
	after, err := b.processorTimes()
	if err != nil {
		return err
	}
	if into.spent == nil {
		into.spent = map[string]time.Duration{}
	}
	for program, spent := range after {
		into.spent[program] += spent - before[program]
	}
	return nil
}

// perCall words the processor time of one call.
func (l load) perCall() string {
	var words []string
	for _, program := range slices.Sorted(maps.Keys(l.spent)) {
		words = append(words, fmt.Sprintf("%s %g ms", program, milliseconds(l.spent[program]/time.Duration(l.calls))))
	}
	return strings.Join(words, ", ")
}
