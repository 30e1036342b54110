package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// copiesAtOnce is how many copies are under way together when memory is measured a second time.
const copiesAtOnce = 8

// measureMemory finds by how much the plugin and the server grow above what they held before: for one copy, and for
// several at once.
func measureMemory(ctx context.Context, b *bench) ([]row, error) {
	processes, err := b.Mattermost.Processes()
	if err != nil {
		return nil, err
	}
	idle := map[string]int64{}
	for program, pid := range processes {
		usage, err := stack.UsageOf(pid)
		if err != nil {
			return nil, err
		}
		idle[program] = usage.Resident
	}
	var rows []row
	for _, copies := range []int{1, copiesAtOnce} {
		for _, pid := range processes {
			if err := stack.ResetPeak(pid); err != nil {
				return nil, err
			}
		}
		if err := b.attachAtOnce(ctx, copies); err != nil {
			return nil, err
		}
		for _, program := range []string{stack.PluginID, stack.ServerProgram} {
			usage, err := stack.UsageOf(processes[program])
			if err != nil {
				return nil, err
			}
			rows = append(rows, memoryRow(program, copies, usage.Peak, idle[program]))
		}
	}
	return rows, nil
}

func memoryRow(program string, copies int, peak, idle int64) row {
	const mib = 1 << 20
	name := map[string]string{stack.PluginID: "plugin", stack.ServerProgram: "server"}[program]
	grown := rounded(float64(peak-idle) / mib)
	r := row{Work: fmt.Sprintf("memory for %d x 1 GiB, %s", copies, name), Value: grown, Unit: "MiB more",
		Against: fmt.Sprintf("idle: %d MiB", idle/mib)}
	bound := map[int]float64{1: 16, copiesAtOnce: 64}[copies]
	if program != stack.PluginID {
		return r
	}
	return r.atMost(grown, bound, fmt.Sprintf("at most +%g MiB", bound))
}

func (b *bench) attachAtOnce(ctx context.Context, copies int) error {
	group, parallel := errgroup.WithContext(ctx)
	for range copies {
		group.Go(func() error {
			_, err := b.attach(parallel)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return b.forgetCopies(ctx)
}
