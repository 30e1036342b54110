package filehost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
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

// The names of the checks.
const (
	CheckConfiguration = "configuration"
	CheckKey           = "key"
	CheckKVStore       = "kv_store"
	CheckHost          = "host"
	CheckTokenEndpoint = "token_endpoint"
	CheckTransfers     = "transfers"
	CheckBot           = "bot"

	CheckAutomaticAccess = "automatic_access" // only where users get access without signing in
	CheckServiceAccount  = "service_account"  // only where it is one account for all, or makes others' app tokens
)

// Probe is a check that can be run. Run calls out with no grant and no user's credential, and seldom with the service
// account's. It fails with Degraded for what
// still works, only less well.
type Probe struct {
	Name string
	Run  func(ctx context.Context) error
	Note func() string // what an admin is told beside, also when the check passes; nil or "" = nothing
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
	Remedy  string // what an admin can do or, when the check passes, what he may want to know; "" = nothing
}

// Probes returns the checks of a configured host, in the order an admin reads them. keyNote is what the check of the
// encryption key tells beside.
func (s *Service) Probes(kv KV, tokenEndpoint, serviceAccount func(context.Context) error, keyNote func() string) []Probe {
	key := &keyProbe{kv: kv, sealer: s.Sealer}
	probes := []Probe{
		{Name: CheckConfiguration, Run: func(context.Context) error { return s.checkComplete() }},
		{Name: CheckKey, Run: key.run, Note: keyNote},
		{Name: CheckKVStore, Run: func(ctx context.Context) error { return checkKV(ctx, kv) }},
		{Name: CheckHost, Run: s.Remote.Check},
		{Name: CheckTokenEndpoint, Run: tokenEndpoint},
		{Name: CheckTransfers, Run: s.Mattermost.CheckUploads},
		{Name: CheckBot, Run: s.Reminders.Bot.Check},
	}
	if s.Methods[0].Automatic() {
		probes = append(probes, Probe{Name: CheckAutomaticAccess, Run: s.checkAutomaticAccess})
	}
	if s.Methods[0] == MethodServiceAccount || s.Methods[0] == MethodAppToken {
		probes = append(probes, Probe{Name: CheckServiceAccount, Run: serviceAccount})
	}
	return probes
}

// checkAutomaticAccess tells what keeps users from access without signing in, or gives it to other users than it seems.
func (s *Service) checkAutomaticAccess(ctx context.Context) error {
	if err := s.Audit.CheckAudit(ctx); err != nil {
		return err
	}
	err := s.Members.CheckAudience(ctx, s.Audience)
	var audience, names *Degraded
	if !s.ByUsername || err != nil && !errors.As(err, &audience) {
		return err
	}
	named := s.Members.CheckNames(ctx)
	if audience == nil || !errors.As(named, &names) {
		return cmp.Or(err, named)
	}
	return &Degraded{Remedy: audience.Remedy + " " + names.Remedy, Err: errors.Join(audience.Err, names.Err)}
}

// checkComplete tells what a valid configuration lacks: a Service exists for no other.
func (s *Service) checkComplete() error {
	if s.NoReturn && slices.ContainsFunc(s.Methods, Method.UsesSignInServer) {
		missing := s.noReturn()
		return &Degraded{Remedy: missing.Message + " What needs no sign-in works.", Err: missing}
	}
	return nil
}

// The sample that keyProbe keeps, sealed, in the store. When a key is lost for good, it stops warning after the time of
// the sample; the users have connected again by then.
const (
	keySample    = "key_sample"
	keySampleTTL = 7 * 24 * time.Hour
)

// keyProbe tells whether what was encrypted before still opens.
type keyProbe struct {
	kv     KV
	sealer Sealer
	sealed bool // the sample is one of the key in force: its loss would show
}

func (p *keyProbe) run(ctx context.Context) error {
	old, err := p.kv.Get(ctx, keySample)
	if err != nil {
		return StoreDown(err)
	}
	if old != nil {
		if _, err = p.sealer.Open(keySample, string(old)); err != nil {
			return &Degraded{"The “" + LabelEncryptionKey + "” has changed, and users' connections were encrypted with one that is not here: enter the former key as “" +
				LabelPreviousKey + "” in the plugin's settings. If it is lost, there is nothing to do: users are asked to connect again, and this warning ends within a week.", err}
		}
		if p.sealed {
			return nil
		}
	}
	fresh, err := p.sealer.Seal(keySample, []byte(keySample))
	if err != nil {
		return E(Internal, "Nothing can be encrypted with the “"+LabelEncryptionKey+"”: enter another one in the plugin's settings.", err)
	}
	if _, err = p.kv.CompareAndSet(ctx, keySample, old, []byte(fresh), keySampleTTL); err != nil { // another node may be first
		return StoreDown(err)
	}
	p.sealed = true
	return nil
}

func checkKV(ctx context.Context, kv KV) error {
	if _, err := kv.Get(ctx, "health"); err != nil {
		return StoreDown(err)
	}
	return nil
}

// StoreDown is the error of a check that met a store which doesn't work. Its message is a remedy for the admin.
func StoreDown(cause error) *Error {
	return E(Internal, "The plugin can't use its key-value store, the table PluginKeyValueStore in Mattermost's database: check that the database runs, and look for its errors in Mattermost's log. Until then no user's connection can be looked up.", cause)
}

// Monitor runs probes in the background and remembers their last results. A caller of Report never makes it call out.
type Monitor struct {
	clock   clockwork.Clock
	log     *slog.Logger
	timeout time.Duration
	mu      sync.Mutex
	watched []*watch
}

// NewMonitor returns a monitor that gives each probe at most timeout, and logs when a check's status changes.
func NewMonitor(clock clockwork.Clock, log *slog.Logger, timeout time.Duration) *Monitor {
	return &Monitor{clock: clock, log: log, timeout: timeout}
}

// watch is a probe that is run again and again, never twice at once.
type watch struct {
	Probe
	again  chan struct{} // asks for a run before the interval has passed
	result chan error    // of the run under way; nil = there is none
	check  Check         // the last; Status "" = there is none yet
}

// Watch runs each probe at once and then every interval, until ctx ends. No probe waits for another.
func (m *Monitor) Watch(ctx context.Context, probes []Probe, interval time.Duration) {
	var group sync.WaitGroup
	defer group.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = make([]*watch, len(probes))
	for i, probe := range probes {
		w := &watch{Probe: probe, again: make(chan struct{}, 1)}
		m.watched[i] = w
		group.Go(func() { m.keep(ctx, w, interval) })
	}
}

// keep runs one probe.
func (m *Monitor) keep(ctx context.Context, w *watch, interval time.Duration) {
	for {
		check := m.run(ctx, w)
		if ctx.Err() != nil { // the failure is only that of a plugin that stops
			return
		}
		m.mu.Lock()
		w.check = check
		m.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-w.again:
		case <-m.clock.After(interval):
		}
	}
}

// Recheck runs the check of that name now, and once more if it is under way: something has happened that it would tell.
func (m *Monitor) Recheck(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.watched {
		if w.Name != name {
			continue
		}
		select {
		case w.again <- struct{}{}:
		default: // somebody has asked already
		}
	}
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
	err := m.await(limited, w)
	check := Check{Name: w.Name, Status: statusOf(err), Latency: m.clock.Since(begin), Time: m.clock.Now().UTC(), Remedy: w.told(err)}
	if check.Status != cmp.Or(w.check.Status, Pass) && ctx.Err() == nil {
		m.log.Warn("The state of a health check has changed.", "check", check.Name, "status", check.Status, "error", err)
	}
	return check
}

// stopGrace is what a probe gets to say why it did not end in time.
const stopGrace = time.Second

// await waits for the run under way until ctx ends, and a bit more.
func (m *Monitor) await(ctx context.Context, w *watch) (err error) {
	ended := func(result error) error {
		w.result = nil
		return result
	}
	select {
	case err = <-w.result:
		return ended(err)
	case <-ctx.Done():
	}
	select {
	case err = <-w.result:
		return ended(err)
	case <-m.clock.After(stopGrace): // it does not heed its context; the next round waits for it again
		return E(Timeout, "The check did not end in time; it goes on, and its result will stand here.", ctx.Err())
	}
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

// told is what an admin is told of a result.
func (p Probe) told(err error) string {
	note := ""
	if p.Note != nil {
		note = p.Note()
	}
	return strings.TrimSpace(remedy(err) + " " + note)
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
	return "Something unexpected went wrong: look for “The state of a health check has changed” in Mattermost's log, which has the details."
}

// Report returns the last results and the worst of their statuses. As long as a check has no result there is nothing to
// complain of yet: it warns.
func (m *Monitor) Report() (Status, []Check) {
	m.mu.Lock()
	defer m.mu.Unlock()
	worst := Pass
	if len(m.watched) == 0 {
		worst = Warn
	}
	var checks []Check
	for _, w := range m.watched {
		status := cmp.Or(w.check.Status, Warn)
		if status == Fail || worst == Pass {
			worst = status
		}
		if w.check.Status != "" {
			checks = append(checks, w.check)
		}
	}
	return worst, checks
}

// SetFailed reports one failed check and no other: of a plugin that has nothing to run probes on.
func (m *Monitor) SetFailed(name, remedy string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = []*watch{{check: Check{Name: name, Status: Fail, Time: m.clock.Now().UTC(), Remedy: remedy}}}
}
