package tokens

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// barred says why a user may have no access without an act of his, where he would have it by r or in r's place; nil = he
// may, or r is his own. Nothing remembers the answer: who leaves a team is out at the next use, and who joins it is in.
func (s *Store) barred(ctx context.Context, userID string, r record) (*refusal, error) {
	if !s.isAutomatic(r) && !s.issuable(r) && !s.sharing(r) {
		return nil, nil //nolint:nilnil // it is his own
	}
	in := false
	if s.config.Members != nil {
		var err error
		if in, err = s.config.Members.IsIn(ctx, userID, s.config.AutomaticFor); err != nil {
			return nil, filehost.E(filehost.Internal, "Mattermost could not look up whether you have access to "+s.config.Host.Name+".", err)
		}
	}
	if in {
		return nil, nil //nolint:nilnil // he may
	}
	return &refusal{reason: "Only users whom your admin has chosen are connected without signing in."}, nil
}

// admit fails for a user who may have no access without an act of his and has none of his own.
func (s *Store) admit(ctx context.Context, userID string, found entry) error {
	why, err := s.barred(ctx, userID, found.record)
	switch {
	case why == nil:
		s.denied.forget(userID)
		return err
	case found.State != absent && replaceable(found.record):
		return s.connectionLost(userID, found) // what he had of his own has ended: he can have it again
	}
	if s.denied.due(userID, s.config.Clock.Now()) { // not each time that he looks
		s.auditAutomatic(ctx, filehost.AuditEvent{Outcome: filehost.AuditFail, ActingUserID: userID, Code: codeNotChosen})
	}
	return s.refusedError(why.reason)
}

// The codes by which the audit log tells why somebody was not connected automatically.
const (
	codeNotChosen = "not_chosen" // by the admin
	codeRefused   = "refused"    // by the method
)

// auditAutomatic writes down that somebody was connected automatically, or was not.
func (s *Store) auditAutomatic(ctx context.Context, event filehost.AuditEvent) {
	event.Action, event.Grant = filehost.AuditAutoConnect, string(s.config.Methods[0])
	s.audit(ctx, event)
}

// audit writes down what gives access to nothing: what is done with the access is written down before it is done.
func (s *Store) audit(ctx context.Context, event filehost.AuditEvent) {
	event.HostID = s.config.Host.ID
	if err := s.config.Audit.Record(context.WithoutCancel(ctx), event); err != nil {
		s.config.Log.Warn("The audit log did not take an event.", "event", string(event.Action), "error", err.Error())
	}
}

// noAudit is a log that nobody reads.
type noAudit struct{}

func (noAudit) Record(context.Context, filehost.AuditEvent) error { return nil }
func (noAudit) CheckAudit(context.Context) error                  { return nil }
