package filehosttest

import (
	"context"
	"slices"
	"sync"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Audit keeps events in memory. The zero value takes all.
type Audit struct {
	mu     sync.Mutex
	events []filehost.AuditEvent
	full   error
}

// Record implements filehost.Audit.
func (a *Audit) Record(ctx context.Context, event filehost.AuditEvent) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.check(ctx); err != nil {
		return err
	}
	a.events = append(a.events, event)
	return nil
}

// CheckAudit implements filehost.Audit.
func (a *Audit) CheckAudit(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.check(ctx)
}

func (a *Audit) check(ctx context.Context) error {
	if a.full != nil {
		return a.full
	}
	return ctx.Err()
}

// Refuse makes the log take nothing; nil = all again.
func (a *Audit) Refuse(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.full = err
}

// Events returns what was recorded.
func (a *Audit) Events() []filehost.AuditEvent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.events)
}
