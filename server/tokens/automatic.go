package tokens

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	// automaticLife bounds how long a credential is used that no act of the user stands behind.
	automaticLife = 5 * time.Minute
	// automaticKept is how long the store keeps what an automatic method has made: longer than the credential and the
	// lease under which its successor is made, so that nothing outlives its use.
	automaticKept = automaticLife + 2*leaseTime
	// issueLimit bounds all calls for one credential together: they end before the lease that they are made under, and
	// leave the time to save what they have brought.
	issueLimit = leaseTime - 5*time.Second
	// refusalTime is how long an automatic method that has refused a user is not asked again for him.
	refusalTime = 5 * time.Minute
)

// automatic is a method that gives a user access without an act of his.
type automatic interface {
	// issue obtains a credential for a user, without a refresh token. It makes one request that could have an effect. It
	// fails with a *refusal when the method has none for this user.
	issue(ctx context.Context, who filehost.Identity) (issued, error)
}

// newAutomatic makes the method that the admin prefers. It calls no one.
func newAutomatic(s *Store) (automatic, error) {
	switch s.config.Methods[0] {
	case filehost.MethodJWTBearer:
		return jwtBearer{s}, nil
	case filehost.MethodTokenExchange:
		return tokenExchange{s}, nil
	case filehost.MethodAppToken:
		return newAppTokens(s)
	}
	return nil, filehost.E(filehost.NotConfigured, "There is no such sign-in method.", nil)
}

// refusal means that an automatic method has no access for a user. It is no failure: the next method is offered.
type refusal struct {
	reason string // one sentence for the user, which holds nothing of the server's answer
	cause  error
}

// Error implements error.
func (r *refusal) Error() string { return "refused: " + r.reason }

// Unwrap gives the cause to errors.Is and errors.As.
func (r *refusal) Unwrap() error { return r.cause }

// automaticGrant is the grant of the automatic method; "" = there is none.
func (s *Store) automaticGrant() string {
	if s.automatic == nil {
		return ""
	}
	return string(s.config.Methods[0])
}

// isAutomatic tells whether a record was made by the automatic method that is configured now.
func (s *Store) isAutomatic(r record) bool { return r.Grant != "" && r.Grant == s.automaticGrant() }

// connectsByItself tells whether users can have access without an act of theirs.
func (s *Store) connectsByItself() bool { return s.automatic != nil || s.shared != nil }

// replaceable tells whether access without an act of the user may take the place of r. It takes nothing's place that could
// be read again one day, and no account that a person has connected himself.
func replaceable(r record) bool {
	switch r.State {
	case absent, foreign, outdated, dead:
		return true
	}
	return false
}

// issuable tells whether the automatic method may make a credential where the store holds r.
func (s *Store) issuable(r record) bool {
	holds := r.State == active || r.State == refreshing
	return s.automatic != nil && (replaceable(r) || holds && s.isAutomatic(r))
}

// vacant is the record that a credential of the automatic method is made for. It holds none yet, but a grant of the user's
// own in whose place it comes.
func (s *Store) vacant(read entry) record {
	now := s.config.Clock.Now().UTC()
	fresh := record{Grant: s.automaticGrant(), Generation: read.Generation, Connection: rand.Text(), Since: now, Origin: s.config.Host.Origin(), UsableUntil: now}
	if s.provider != nil {
		fresh.ClientID, fresh.Server = s.config.OAuth.ClientID, s.provider.binding
	}
	fresh.Before = read.own()
	return fresh
}

// issue asks the automatic method for a credential of a user.
func (s *Store) issue(ctx context.Context, userID string) (issued, error) {
	who, err := s.config.Identify(ctx, userID)
	switch {
	case err != nil:
		return issued{}, err
	case who.Bot:
		return issued{}, &refusal{reason: "Bots are connected with a user name and an app password."}
	case !who.Active:
		return issued{}, &refusal{reason: "Your account is deactivated."}
	}
	ctx, cancel := s.withTimeout(ctx, issueLimit)
	defer cancel()
	answer, err := s.automatic.issue(ctx, who)
	if end := s.config.Clock.Now().Add(automaticLife).UTC(); answer.UsableUntil.IsZero() || answer.UsableUntil.After(end) {
		answer.UsableUntil = end
	}
	answer.RefreshToken = filehost.Secret{}
	return answer, err
}

// refused is the record of a user whom the automatic method has refused.
func (s *Store) refused(read record, why *refusal) record {
	return record{State: refused, Generation: read.Generation, Before: read.Before, Grant: s.automaticGrant(), Reason: why.reason,
		Origin: s.config.Host.Origin(), Until: s.config.Clock.Now().Add(refusalTime).UTC()}
}

// ConnectAutomatically implements filehost.Connections.
func (s *Store) ConnectAutomatically(ctx context.Context, userID string) error {
	if !s.connectsByItself() {
		return filehost.E(filehost.Unsupported, s.config.Host.Name+" is connected by signing in.", nil)
	}
	counted := s.automatic == nil // the account that everybody uses is asked for by nobody
	err := s.contest(ctx, func() (bool, error) {
		read, err := s.load(ctx, userID)
		if err != nil || read.State != declined && read.State != refused && read.State != unreadable {
			return true, err
		}
		if !counted {
			if err := s.mayConnect(ctx, userID); err != nil {
				return false, err
			}
			counted = true
		}
		return s.putBack(ctx, userID, read)
	})
	if err == nil {
		_, err = s.current(ctx, userID)
	}
	return err
}

// putBack puts what was there before in the place of what was read, or nothing, if nobody has changed it in between.
func (s *Store) putBack(ctx context.Context, userID string, read entry) (won bool, err error) {
	if read.Before != nil {
		_, won, err = s.swap(ctx, userID, read, *read.Before)
		return won, err
	}
	won, err = s.config.KV.CompareAndDelete(ctx, s.key("conn_", userID), read.raw)
	if err != nil {
		return false, storeFailed(err)
	}
	return won, nil
}

// asRefusal returns the refusal that an error is, or nil.
func asRefusal(err error) *refusal {
	var refused *refusal
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}
