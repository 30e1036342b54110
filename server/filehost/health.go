package filehost

import (
	"context"
	"errors"
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

// Probe is a check that can be run. Run calls out with no grant and no user's credential.
type Probe struct {
	Name  string
	Worst Status // what a failure means for the whole: Warn or Fail
	Run   func(ctx context.Context) error
}

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
		{"configuration", Fail, func(context.Context) error { return nil }}, // a Service exists only for a valid one
		{"key", Fail, s.checkKey},
		{"kv_store", Fail, func(ctx context.Context) error { return checkKV(ctx, kv) }},
		{"host", Fail, s.Remote.Check},
		{"token_endpoint", Fail, tokenEndpoint},
		{"transfers", Fail, s.Mattermost.CheckUploads},
	}
}

func (s *Service) checkKey(context.Context) error {
	const sample = "health"
	sealed, err := s.Sealer.Seal(sample, []byte(sample))
	if err == nil {
		_, err = s.Sealer.Open(sample, sealed)
	}
	if err != nil {
		return E(Internal, "The encryption key does not work; set a new one in the plugin's settings and keep the old one as the previous key.", err)
	}
	return nil
}

func checkKV(ctx context.Context, kv KV) error {
	if _, err := kv.Get(ctx, "health"); err != nil {
		return E(Internal, "Mattermost's key-value store does not answer; check the server's database.", err)
	}
	return nil
}

// Monitor runs probes in the background and remembers their last results. A caller of Report never makes it call out.
type Monitor struct {
	clock   clockwork.Clock
	timeout time.Duration
	mu      sync.Mutex
	checks  []Check
}

// NewMonitor returns a monitor that gives each probe at most timeout.
func NewMonitor(clock clockwork.Clock, timeout time.Duration) *Monitor {
	return &Monitor{clock: clock, timeout: timeout}
}

// Watch runs the probes at once and then every interval, until ctx ends.
func (m *Monitor) Watch(ctx context.Context, probes []Probe, interval time.Duration) {
	for {
		m.runAll(ctx, probes)
		select {
		case <-ctx.Done():
			return
		case <-m.clock.After(interval):
		}
	}
}

func (m *Monitor) runAll(ctx context.Context, probes []Probe) {
	checks := make([]Check, len(probes))
	var group sync.WaitGroup
	for i, probe := range probes {
		group.Go(func() { checks[i] = m.run(ctx, probe) })
	}
	group.Wait()
	if ctx.Err() != nil { // the failures are only those of a plugin that stops
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checks = checks
}

func (m *Monitor) run(ctx context.Context, probe Probe) Check {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	begin := m.clock.Now()
	err := Recovered(func() error { return probe.Run(ctx) })
	check := Check{Name: probe.Name, Status: Pass, Latency: m.clock.Since(begin), Time: m.clock.Now().UTC()}
	if err != nil {
		check.Status, check.Remedy = probe.Worst, remedy(err)
	}
	return check
}

func remedy(err error) string {
	var known *Error
	if errors.As(err, &known) {
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
