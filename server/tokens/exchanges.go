package tokens

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// exchanges is what the real exchanges at the token endpoint have shown under these settings. The health check tells
// it: it sends no grant itself.
type exchanges struct {
	mu       sync.Mutex
	answered bool    // once at least, in the way of a token endpoint (RFC 6749 5)
	refused  finding // the plugin's client was; none once an exchange has succeeded
	odd      finding // anything else that says something of the endpoint; none once it has answered as one

	// Of grants that the plugin makes itself.
	declined finding  // the settings are why; none once one has succeeded
	refusals refusals // the users are
	accepted bool     // a user had a token, once at least
}

// refusals are of users whom a method refused that needs no act of theirs, one after another, with no success in between.
type refusals struct {
	code   string // of the sign-in server, the latest; "" = the host has refused the token
	userID string // the latest's
	others bool   // there was another before, or nobody has had a token yet
	at     time.Time
}

// counts tells whether they may say more than that one user has no access.
func (r refusals) counts() bool { return r.others }

// story is what an admin is told by them, in short.
func (r refusals) story() string {
	if !r.counts() {
		return ""
	}
	return "refused " + r.code
}

// weight is how much a failure says of the endpoint. A refresh token was given to the plugin by the endpoint itself. A
// code is what a user's browser has brought: it may have been given to another client, for which Nextcloud says
// invalid_client, or be text that a filter before the endpoint blocks. A grant that the plugin makes itself names a user,
// and what is wrong may be with him there.
type weight int

const (
	oneUsers weight = iota // it tells nothing of others
	ofUsers                // two at least have met it, with no success in between
	ownGrant               // a refresh has
)

// finding is a failure that says something of the endpoint.
type finding struct {
	failed *tokenError // nil = there is none
	at     time.Time   // when it was met last
	weight weight
	userID string // who has met it last; "" = a refresh has
}

// counts tells whether a failure is more than one user's.
func (f finding) counts() bool { return f.failed != nil && f.weight != oneUsers }

// add takes down a failure that a user has met; "" = that a refresh has. One user's does not replace another that counts.
// It returns what this one weighs by now.
func (f *finding) add(failed *tokenError, userID string, now time.Time) weight {
	same := f.failed != nil && f.failed.Error() == failed.Error()
	next := finding{failed: failed, at: now, userID: userID}
	switch {
	case userID == "":
		next.weight = ownGrant
	case same && !f.counts() && f.userID != userID:
		next.weight = ofUsers
	case same:
		next.weight = f.weight
	case f.counts():
		return oneUsers
	}
	*f = next
	return next.weight
}

// story is what an admin is told by a finding, in short.
func (f finding) story() string {
	if f.failed == nil {
		return ""
	}
	return fmt.Sprint(f.counts(), " ", f.failed)
}

var (
	// errUnreadable means an answer of status 200 without a token that can be used.
	errUnreadable = errors.New("the answer can't be read")
	errThrottled  = errors.New("the token endpoint has refused requests as too many")
)

// noteExchange takes down how an exchange for a user ended, or a refresh where userID is "": nil = with tokens. It asks
// for a health check when that tells another story now. It returns what the failure weighs by now.
func (s *Store) noteExchange(failed *tokenError, userID string) weight {
	var spared interface{ SparedFor() time.Duration }
	if failed != nil && (errors.Is(failed, context.Canceled) || errors.As(failed, &spared)) {
		return oneUsers // by us
	}
	e := &s.exchanges
	e.mu.Lock()
	before, told := e.refused.counts(), e.story()
	weighs := s.addExchange(failed, userID)
	refused, tells := e.refused, e.story()
	e.mu.Unlock()
	if refused.counts() && !before {
		s.config.Log.Error(clientRefusedMessage, "host", s.config.Host.ID, "code", refused.failed.Code)
	}
	if tells != told {
		s.config.Changed()
	}
	return weighs
}

// story is what an admin is told by all that is known, in short. The caller holds the lock.
func (e *exchanges) story() string {
	return e.refused.story() + e.odd.story() + e.declined.story() + e.refusals.story()
}

// note changes what is known of grants that the plugin makes itself, and asks for a health check when that tells another
// story now.
func (s *Store) note(change func(*exchanges)) {
	e := &s.exchanges
	e.mu.Lock()
	told := e.story()
	e.answered = true
	change(e)
	tells := e.story()
	e.mu.Unlock()
	if tells != told {
		s.config.Changed()
	}
}

// noteDeclined takes down a refusal that the settings seem to be to blame for, and returns what it weighs by now.
func (s *Store) noteDeclined(failed *tokenError, userID string) (weighs weight) {
	s.note(func(e *exchanges) { weighs = e.declined.add(failed, userID, s.config.Clock.Now()) })
	return weighs
}

// noteRefusal takes down that a user was refused; code is as in refusals.
func (s *Store) noteRefusal(code, userID string) {
	s.note(func(e *exchanges) {
		another := !e.accepted || e.refusals.userID != "" && e.refusals.userID != userID
		e.refusals = refusals{code: code, userID: userID, others: e.refusals.others || another, at: s.config.Clock.Now()}
	})
}

// noteAccepted takes down that a user has a token that the host accepts.
func (s *Store) noteAccepted() {
	s.note(func(e *exchanges) { e.declined, e.refusals, e.accepted = finding{}, refusals{}, true })
}

// addExchange sorts an outcome and returns what it weighs. The caller holds the lock.
func (s *Store) addExchange(failed *tokenError, userID string) weight {
	e, now := &s.exchanges, s.config.Clock.Now()
	if now.Sub(e.odd.at) >= restTime {
		e.odd = finding{} // what comes now has nothing to do with it
	}
	e.answered = e.answered || failed == nil || failed.Code != ""
	switch {
	case failed == nil:
		e.refused, e.odd = finding{}, finding{}
	case clientRefused(failed):
		e.odd = finding{}
		return e.refused.add(failed, userID, now)
	case failed.Code == "" || s.declined(failed):
		return e.odd.add(failed, userID, now)
	default: // the user's grant is not good any more, and that is all
		e.odd = finding{}
	}
	return oneUsers
}

// declined tells whether a code is about the plugin's request, and not about the grant in it.
func (s *Store) declined(failed *tokenError) bool {
	return !slices.Contains(s.provider.profile.deadCode, failed.Code) && !slices.Contains(s.provider.profile.deadRefresh, failed.Code)
}

// refusedRemedy is the error of a health check for a refused client; nil = it is not. It comes before all others: it is
// known until an exchange succeeds, and the others may follow from it.
func (s *Store) refusedRemedy() error {
	s.exchanges.mu.Lock()
	refused, declined := s.exchanges.refused, s.exchanges.declined
	s.exchanges.mu.Unlock()
	switch {
	case declined.counts():
		return s.declinedRemedy(declined)
	case !refused.counts():
		return nil
	}
	return filehost.E(filehost.NotConfigured, fmt.Sprintf(
		"the sign-in server (%s) refused “%s” or “%s” at the last sign-in (%s): enter those of its registration in the plugin's settings. New sign-ins are tried again after five minutes, or at once with new settings.",
		s.provider.server, filehost.LabelOAuthClientID, filehost.LabelOAuthSecret, refused.failed.Code), refused.failed)
}

// exchangeRemedy is the error of a health check for what the last exchange has shown beside that; nil = nothing that is
// still worth telling. It is for as long as a refusal is heeded, and for one user's code a warning at most.
func (s *Store) exchangeRemedy(name, setting string) error {
	s.exchanges.mu.Lock()
	odd, refused, declined, refusals := s.exchanges.odd, s.exchanges.refused, s.exchanges.declined, s.exchanges.refusals
	s.exchanges.mu.Unlock()
	recent := func(f finding) bool { return f.failed != nil && s.config.Clock.Since(f.at) < restTime }
	switch {
	case recent(odd):
		return odd.remedy(name, setting)
	case recent(refused):
		return &filehost.Degraded{Err: refused.failed, Remedy: fmt.Sprintf(
			"%s refused the plugin's client at one user's sign-in (%s): if others fail as well, enter “%s” and “%s” of its registration in the plugin's settings; if not, the user's browser has brought a code that was given to another client.",
			name, refused.failed.Code, filehost.LabelOAuthClientID, filehost.LabelOAuthSecret)}
	case recent(declined):
		return s.declinedRemedy(declined)
	}
	return s.refusalsRemedy(name, refusals)
}

func (f finding) remedy(name, setting string) error {
	failed := f.failed
	switch {
	case failed.Status == http.StatusTooManyRequests:
		return throttledRemedy(name, failed)
	case failed.Code != "":
		return &filehost.Degraded{Err: failed, Remedy: fmt.Sprintf(
			"%s declined the plugin's last request (%s): compare the OAuth settings of the plugin with its registration there, the scopes and the redirect URI above all.", name, failed.Code)}
	case failed.Status >= http.StatusInternalServerError:
		return &filehost.Degraded{Err: failed, Remedy: fmt.Sprintf(
			"%s answered the last sign-in with an error of its own (%d): look into its log.", name, failed.Status)}
	case failed.Status == 0 && !errors.Is(failed, errUnreadable):
		return &filehost.Degraded{Err: failed, Remedy: name + " gave no answer to the last sign-in: look at its load and its log, and at the firewall or proxy in between."}
	case !f.counts():
		return &filehost.Degraded{Err: failed, Remedy: fmt.Sprintf(
			"%s did not answer one user's sign-in as a token endpoint does (%s): if others fail as well, correct “%s” in the plugin's settings; if not, look into the log of the filter or proxy in between.", name, failed.seen(), setting)}
	}
	return filehost.E(filehost.HostUnavailable, fmt.Sprintf(
		"%s did not answer the last sign-in as a token endpoint does (%s): correct “%s” in the plugin's settings.", name, failed.seen(), setting), failed)
}

func throttledRemedy(name string, cause error) error {
	return &filehost.Degraded{Err: fmt.Errorf("%w: %w", errThrottled, cause), Remedy: name +
		" refuses requests as too many (429), so that sign-ins wait: let it " + filehost.AcceptAddress}
}

// seen says in an admin's words what came instead of tokens.
func (e *tokenError) seen() string {
	if e.Status == 0 {
		return "a page or something else without tokens"
	}
	return fmt.Sprintf("status %d", e.Status)
}

// proven tells whether the token endpoint has answered as one, so that what it says to a probe that it doesn't know means
// nothing.
func (s *Store) proven() bool {
	s.exchanges.mu.Lock()
	defer s.exchanges.mu.Unlock()
	return s.exchanges.answered
}
