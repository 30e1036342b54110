package stack

import (
	"context"
	"fmt"
	"net"
	"time"
)

// until polls ready until it gives nil, p ends (if there is a p) or ctx does. The last error of
// ready is part of the failure.
func until(ctx context.Context, p *process, ready func(context.Context) error) error {
	var done <-chan struct{}
	if p != nil {
		done = p.done
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-done:
			return p.ended()
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// untilListening waits until p, which serves at address, takes connections.
func untilListening(ctx context.Context, p *process, address string) error {
	return until(ctx, p, func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// freeAddress gives a loopback address whose port nobody uses right now.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
