package filehost

import (
	"context"
	"errors"
	"sync"
)

// errNoUse is a fault of ours: a use case that doesn't say what the audit log is to be told of it.
var errNoUse = errors.New("the use case is not one that the audit log knows")

// use is a request that may turn out to use access which is not the user's own. It is safe for concurrent use: a request
// looks up several files at once.
type use struct {
	audit Audit

	mu    sync.Mutex
	event AuditEvent
	begun bool
	err   error // of the record that it began
}

type useKey struct{}

// using runs a request. If it uses such access, the log has an attempt before anything goes to the host, and the outcome
// after: a request of which the log takes no attempt is refused. An outcome that the log doesn't take changes nothing
// any more. failed names the entries that the request did not succeed with; nil = it succeeds with all or fails.
func (s *Service) using(ctx context.Context, event AuditEvent, call func(context.Context) error, failed func() []Ref) error {
	event.HostID = s.Host.ID
	u := &use{audit: s.Audit, event: event}
	err := call(context.WithValue(ctx, useKey{}, u))
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begun || u.err != nil {
		return err
	}
	ended := u.event
	ended.Outcome = AuditSuccess
	switch {
	case err != nil:
		ended.Outcome, ended.Code = AuditFail, KindOf(err).Code()
	case failed != nil:
		for _, ref := range failed() {
			ended.fail(ref)
		}
	}
	_ = s.Audit.Record(context.WithoutCancel(ctx), ended)
	return err
}

// recordUse records that the request of ctx uses a credential, once, and fails when that can't be recorded. A credential
// that the user has signed in for leaves no record.
func recordUse(ctx context.Context, credential Credential) error {
	if !Method(credential.Grant).Automatic() {
		return nil
	}
	u, ok := ctx.Value(useKey{}).(*use)
	if !ok {
		return E(Internal, "This can't be done with access that you have not signed in for.", errNoUse)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.begun {
		u.begun = true
		u.event.ActingUserID = credential.UserID
		u.event.Outcome, u.event.Grant, u.event.Account = AuditAttempt, credential.Grant, credential.Account
		u.err = u.audit.Record(ctx, u.event)
	}
	return u.err
}
