package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

var errStalled = errors.New("no byte arrived in time")

// stallGuard ends one exchange with the host when a wait for it takes too long. It knows no total limit: a slow but
// steady host is served for ever, and a slow reader of ours is no fault of the host's.
type stallGuard struct {
	client   *Client
	caller   context.Context // the caller's own
	exchange context.Context // ends with it, or by us
	cancel   context.CancelCauseFunc
	timer    clockwork.Timer // nil before the first wait
}

// guard returns the context that an exchange must use, and its guard.
func (c *Client) guard(ctx context.Context) (context.Context, *stallGuard) {
	exchange, cancel := context.WithCancelCause(ctx)
	return exchange, &stallGuard{client: c, caller: ctx, exchange: exchange, cancel: cancel}
}

// start begins a wait for the host.
func (g *stallGuard) start() { g.startFor(g.client.stallAfter) }

// startFor begins a wait of another length.
func (g *stallGuard) startFor(limit time.Duration) {
	if g.timer == nil {
		g.timer = g.client.clock.AfterFunc(limit, func() { g.cancel(errStalled) })
		return
	}
	g.timer.Reset(limit)
}

// stop ends it.
func (g *stallGuard) stop() { g.timer.Stop() }

// end ends the exchange and lets go of what it holds.
func (g *stallGuard) end() {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.cancel(nil)
}

// classify turns a failure to talk with the host into an error of the domain.
func (g *stallGuard) classify(err error) error {
	name, err := g.client.host.Name, cite(err)
	var timeout net.Error
	var blocked interface{ BlockedAddress() netip.Addr }
	var spared interface{ SparedFor() time.Duration }
	switch {
	case errors.As(err, &spared):
		g.client.traffic.count(func(t *tally) { t.spared++ })
		return &filehost.Error{Kind: filehost.HostUnavailable, Message: name + " has not answered lately and is asked again in a few seconds.",
			RetryAfter: spared.SparedFor(), Err: err}
	case errors.Is(g.caller.Err(), context.DeadlineExceeded):
		return filehost.E(filehost.Timeout, name+" did not finish in the time there was.", err)
	case g.caller.Err() != nil:
		return filehost.E(filehost.Timeout, "The request to "+name+" was cancelled.", err)
	case errors.Is(context.Cause(g.exchange), errStalled):
		g.client.traffic.count(func(t *tally) { t.stalled++ })
		return filehost.E(filehost.Timeout, name+" stopped sending.", errStalled)
	case errors.As(err, &timeout) && timeout.Timeout():
		return filehost.E(filehost.Timeout, name+" did not answer in time.", err)
	case errors.As(err, &blocked):
		return filehost.E(filehost.HostUnavailable, name+" is at an address that an administrator has not allowed.", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return filehost.E(filehost.HostUnavailable, name+" ended its answer early.", err)
	default:
		return filehost.E(filehost.HostUnavailable, name+" can't be reached.", err)
	}
}

// guardedBody is the body of an answer under guard.
type guardedBody struct {
	io.ReadCloser
	guard *stallGuard
}

// Read implements io.Reader. It fails with errors of the domain only, beside io.EOF.
func (b *guardedBody) Read(p []byte) (int, error) {
	b.guard.start()
	n, err := b.ReadCloser.Read(p)
	b.guard.stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.guard.classify(err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *guardedBody) Close() error {
	err := b.ReadCloser.Close()
	b.guard.end()
	return err
}
