package tokens

import (
	"context"
	"errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

var errNotSaved = errors.New("the last refresh is not saved yet")

// For implements filehost.Tokens.
func (s *Store) For(ctx context.Context, userID string) (filehost.Credential, error) {
	found, err := s.current(ctx, userID)
	if err != nil {
		return filehost.Credential{}, err
	}
	s.noteUse(ctx, userID)
	return s.credential(found), nil
}

// credential is what a record gives access with.
func (s *Store) credential(r record) filehost.Credential {
	credential := r.credential()
	credential.ReadOnly = r.Grant == serviceGrant && !s.config.ServiceAccount.Writes
	return credential
}

func (s *Store) current(ctx context.Context, userID string) (record, error) {
	now := s.config.Clock.Now()
	if kept, ok := s.notSaved(userID); ok {
		if !kept.usable(now) {
			return record{}, storeFailed(errNotSaved)
		}
		return kept, s.admit(ctx, userID, entry{record: kept})
	}
	found, err := s.load(ctx, userID)
	if err == nil {
		err = s.admit(ctx, userID, found)
	}
	switch {
	case err != nil:
		return record{}, err
	case s.sharing(found.record):
		return s.shared.use(ctx)
	case found.State == active && found.usable(now):
		return found.record, nil
	case found.State == refreshing, found.State == active && s.renewable(found.record), s.issuable(found.record):
		return s.successor(ctx, userID, found.Generation)
	}
	return record{}, s.connectionLost(userID, found)
}

// Renew implements filehost.Tokens. A rejected credential that can't be renewed is marked dead at once.
func (s *Store) Renew(ctx context.Context, userID string, rejected filehost.Credential) (filehost.Credential, error) {
	if s.shared != nil && rejected.Grant == serviceGrant {
		return filehost.Credential{}, s.shared.rejected(ctx)
	}
	spent := generation(rejected.Generation)
	if kept, ok := s.notSaved(userID); ok {
		if kept.Generation == spent {
			return filehost.Credential{}, storeFailed(errNotSaved)
		}
		return kept.credential(), nil
	}
	found, err := s.load(ctx, userID)
	if err != nil {
		return filehost.Credential{}, err
	}
	switch found.State {
	case active, refreshing:
	default:
		return filehost.Credential{}, s.connectionLost(userID, found)
	}
	if !s.renewable(found.record) && !found.Generation.after(spent) {
		if err := s.Reject(ctx, userID, rejected); err != nil {
			return filehost.Credential{}, err
		}
		return filehost.Credential{}, s.notConnected(entry{record: found.as(dead)})
	}
	renewed, err := s.successor(ctx, userID, spent)
	return renewed.credential(), err
}

// Reject implements filehost.Tokens.
func (s *Store) Reject(ctx context.Context, userID string, rejected filehost.Credential) error {
	return s.contest(ctx, func() (bool, error) {
		found, err := s.load(ctx, userID)
		if err != nil || found.State != active || found.Generation != generation(rejected.Generation) {
			return true, err
		}
		if !s.believed(userID + " " + found.Connection) {
			return true, s.notBelieved()
		}
		next := found.as(dead)
		if s.isAutomatic(found.record) {
			next = s.refused(found.record, &refusal{reason: s.config.Host.Name + " did not accept the access that was made for you."})
		}
		ended, won, err := s.swap(ctx, userID, found, next)
		if won {
			s.reportLoss(userID, ended)
		}
		return won, err
	})
}

// successor returns tokens newer than spent: those that are there by now, or the outcome of one refresh, which every
// caller of this node shares and which goes on when they leave.
func (s *Store) successor(ctx context.Context, userID string, spent generation) (record, error) {
	flight := s.flights.DoChan(userID+" "+string(spent), func() (any, error) {
		if !s.config.Pending.begin(s.config.Lifetime) {
			return nil, storeFailed(context.Canceled)
		}
		defer s.config.Pending.running.Done()
		var renewed record
		err := filehost.Recovered(func() (err error) {
			renewed, err = (&succession{Store: s, userID: userID, spent: spent}).run()
			return err
		})
		return renewed, err
	})
	select {
	case <-ctx.Done():
		return record{}, filehost.E(filehost.Timeout, "Signing in to "+s.config.Host.Name+" took too long.", ctx.Err())
	case result := <-flight:
		if result.Err != nil {
			return record{}, result.Err
		}
		return result.Val.(record), nil
	}
}
