package filehost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// Status is the result of a check (draft-inadarei-api-health-check-06, 3.1).
type Status string

// The statuses, best first.
const (
	Pass Status = "pass"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Probe is a check that can be run. Run calls out with no grant and no user's credential. It fails with Degraded for what
// still works, only less well.
type Probe struct {
	Name string
	Run  func(ctx context.Context) error
}

// Degraded is the error of a probe that warns instead of failing.
type Degraded struct {
	Remedy string // what an admin can do
	Err    error  // the cause, for the log only
}

// Error implements error.
func (d *Degraded) Error() string { return fmt.Sprintf("%s: %v", d.Remedy, d.Err) }

// Unwrap gives the cause to errors.Is and errors.As.
func (d *Degraded) Unwrap() error { return d.Err }

// Check is the last result of a probe.
type Check struct {
	Name    string
	Status  Status
	Latency time.Duration
	Time    time.Time
	Remedy  string // what an admin can do; "" when it passes
}

// Probes returns the checks of a configured host, in the order an admin reads them.
func (s *Service) Probes(kv KV, tokenEndpoint func(context.Context) error) []Probe {
	return []Probe{
		{"configuration", func(context.Context) error { return nil }}, // a Service exists only for a valid one
		{"key", func(ctx context.Context) error { return s.checkKey(ctx, kv) }},
		{"kv_store", func(ctx context.Context) error { return checkKV(ctx, kv) }},
		{"host", s.Remote.Check},
		{"token_endpoint", tokenEndpoint},
		{"transfers", s.Mattermost.CheckUploads},
	}
}

// The sample that checkKey keeps, sealed, in the store. When a key is lost for good, it stops warning after the time of
// the sample; the users have connected again by then.
const (
	keySample    = "key_sample"
	keySampleTTL = 7 * 24 * time.Hour
)

// checkKey tells whether what was encrypted before still opens.
func (s *Service) checkKey(ctx context.Context, kv KV) error {
	sealed, err := kv.Get(ctx, keySample)
	if err != nil {
		return storeDown(err)
	}
	if sealed != nil {
		if _, err = s.Sealer.Open(keySample, string(sealed)); err != nil {
			return &Degraded{"Credentials were encrypted with a key that is not here: enter the former key as the previous one. If it is lost, users connect again.", err}
		}
		return nil
	}
	fresh, err := s.Sealer.Seal(keySample, []byte(keySample))
	if err != nil {
		return E(Internal, "The encryption key does not work; set a new one in the plugin's settings and keep the old one as the previous key.", err)
	}
	if _, err = kv.CompareAndSet(ctx, keySample, nil, []byte(fresh), keySampleTTL); err != nil { // another node may be first
		return storeDown(err)
	}
	return nil
}

func checkKV(ctx context.Context, kv KV) error {
	if _, err := kv.Get(ctx, "health"); err != nil {
		return storeDown(err)
	}
	return nil
}

func storeDown(cause error) error {
	return E(Internal, "Mattermost's key-value store does not answer; check the server's database.", cause)
}

// Monitor runs probes in the background and remembers their last results. A caller of Report never makes it call out.
type Monitor struct {
	clock   clockwork.Clock
	log     *slog.Logger
	timeout time.Duration
	mu      sync.Mutex
	checks  []Check
}

// NewMonitor returns a monitor that gives each probe at most timeout, and logs when a check's status changes.
func NewMonitor(clock clockwork.Clock, log *slog.Logger, timeout time.Duration) *Monitor {
	return &Monitor{clock: clock, log: log, timeout: timeout}
}

// Watch runs the probes at once and then every interval, until ctx ends.
func (m *Monitor) Watch(ctx context.Context, probes []Probe, interval time.Duration) {
	watched := make([]*watch, len(probes))
	for i, probe := range probes {
		watched[i] = &watch{Probe: probe, last: Pass}
	}
	for {
		m.runAll(ctx, watched)
		select {
		case <-ctx.Done():
			return
		case <-m.clock.After(interval):
		}
	}
}

// watch is a probe that is run again and again, never twice at once.
type watch struct {
	Probe
	result chan error // of the run under way; nil = there is none
	last   Status
}

func (m *Monitor) runAll(ctx context.Context, watched []*watch) {
	checks := make([]Check, len(watched))
	var group sync.WaitGroup
	for i, w := range watched {
		group.Go(func() { checks[i] = m.run(ctx, w) })
	}
	group.Wait()
	if ctx.Err() != nil { // the failures are only those of a plugin that stops
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checks = checks
}

func (m *Monitor) run(ctx context.Context, w *watch) Check {
	limited, cancel := clockwork.WithTimeout(ctx, m.clock, m.timeout)
	defer cancel()
	begin := m.clock.Now()
	if w.result == nil {
		w.result = make(chan error, 1)
		go func(result chan<- error) {
			result <- Recovered(func() error { return w.Run(limited) })
		}(w.result)
	}
	var err error
	select {
	case err = <-w.result:
		w.result = nil
	case <-limited.Done(): // it may not heed its context; the next round waits for it again
		err = E(Timeout, "The check has not answered in time.", limited.Err())
	}
	check := Check{Name: w.Name, Status: statusOf(err), Latency: m.clock.Since(begin), Time: m.clock.Now().UTC(), Remedy: remedy(err)}
	if check.Status != w.last && ctx.Err() == nil {
		m.log.Warn("The state of a health check has changed.", "check", check.Name, "status", check.Status, "error", err)
		w.last = check.Status
	}
	return check
}

func statusOf(err error) Status {
	var degraded *Degraded
	switch {
	case err == nil:
		return Pass
	case errors.As(err, &degraded):
		return Warn
	default:
		return Fail
	}
}

func remedy(err error) string {
	var known *Error
	var degraded *Degraded
	switch {
	case err == nil:
		return ""
	case errors.As(err, &degraded):
		return degraded.Remedy
	case errors.As(err, &known):
		return known.Message
	}
	return "An unexpected error; the Mattermost server's log has the details."
}

// Report returns the last results and the worst of their statuses. Before the first results there is nothing to
// complain of: it warns.
func (m *Monitor) Report() (Status, []Check) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.checks) == 0 {
		return Warn, nil
	}
	worst := Pass
	for _, check := range m.checks {
		if check.Status == Fail || worst == Pass {
			worst = check.Status
		}
	}
	return worst, m.checks
}

// SetFailed reports one failed check and no other: of a plugin that has nothing to run probes on.
func (m *Monitor) SetFailed(name, remedy string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checks = []Check{{Name: name, Status: Fail, Time: m.clock.Now().UTC(), Remedy: remedy}}
}
