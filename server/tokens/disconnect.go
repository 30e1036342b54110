package tokens

import (
	"context"
	"errors"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	tombstoneTime = 10 * time.Minute // that an empty tombstone is kept, should its node die
	// ownTombstone is how long a disconnect takes at most: nobody else ends what it has begun to end before.
	ownTombstone = 2 * time.Minute
	// unrevokedTime is how long a tombstone is kept whose credential nobody has come to revoke.
	unrevokedTime = 7 * 24 * time.Hour
)

// Disconnect implements filehost.Connections. First the sign-ins that are still under way end; then a tombstone takes the
// record's place, so that no refresh in flight can bring it back; then the credential, which the tombstone holds until then,
// is revoked; then the tombstone goes.
func (s *Store) Disconnect(ctx context.Context, userID string) error {
	ctx = context.WithoutCancel(ctx) // who leaves now still wants to be disconnected
	if err := s.EndSignIns(ctx, userID); err != nil {
		return err
	}
	var ended, tombstone entry
	err := s.contest(ctx, func() (won bool, err error) {
		ended, err = s.load(ctx, userID)
		if err != nil {
			return false, err
		}
		if errors.Is(ended.cause, errUnknownKey) {
			return false, filehost.E(filehost.NotConfigured, "The plugin's encryption key has changed and your connection can't be revoked. "+
				"Ask your admin to restore the key, or end the access in "+s.config.Host.Name+" itself.", ended.cause)
		}
		// Also where nothing was read: only a compare-and-set knows that nothing is there.
		tombstone, won, err = s.swap(ctx, userID, ended, s.graveOf(ended))
		return won, err
	})
	if err != nil {
		return err
	}
	s.revokeEnded(ctx, append(s.grants(ctx, userID, ended), s.dropUnsaved(userID))...)
	if err := s.clear(ctx, userID, tombstone); err != nil {
		return err
	}
	s.forgetUse(ctx, userID)
	return nil
}

// graveOf is the tombstone for what was read.
func (s *Store) graveOf(read entry) record {
	grave := record{State: disconnecting, Generation: read.Generation, Until: s.config.Clock.Now().Add(ownTombstone).UTC()}
	switch {
	case read.State == disconnecting:
		grave.Before = read.stored.Before
	case read.stored.Grant != "":
		grave.Before = &read.stored
	}
	return grave
}

// finishDisconnect ends what a disconnect was to end whose node has died. It reports false while that node may still be at
// it.
func (s *Store) finishDisconnect(ctx context.Context, userID string, read entry) (done bool, err error) {
	if read.State != disconnecting || read.stored.Before == nil {
		return true, nil
	}
	if s.config.Clock.Now().Before(read.stored.Until) {
		return false, nil
	}
	tombstone, won, err := s.swap(ctx, userID, read, s.graveOf(read))
	if err != nil || !won {
		return won, err
	}
	s.revokeEnded(ctx, s.grants(ctx, userID, read)...)
	return true, s.clear(ctx, userID, tombstone)
}

// clear removes a tombstone, unless the user has connected anew. Who would be connected again without an act of his is
// kept on record as one who doesn't want that.
func (s *Store) clear(ctx context.Context, userID string, tombstone entry) error {
	if s.connectsByItself() {
		_, _, err := s.swap(ctx, userID, tombstone, record{State: declined, Generation: tombstone.Generation})
		return err
	}
	if _, err := s.config.KV.CompareAndDelete(ctx, s.key("conn_", userID), tombstone.raw); err != nil {
		return storeFailed(err)
	}
	return nil
}

// revokeEnded revokes what records gave access with, as well as it can.
func (s *Store) revokeEnded(ctx context.Context, ended ...record) {
	for _, r := range ended {
		var at endpoints
		var err error
		switch {
		case r.State == foreign:
			// What was made under other settings is never sent to where the present ones lead: that may be somebody else's.
			s.config.Log.Warn("A sign-in made under other settings is forgotten without being revoked.", "host", s.config.Host.ID)
			continue
		case !r.gaveAccess():
			continue
		case r.ofSignInServer():
			at, err = s.endpoints(ctx)
		}
		if err != nil {
			s.notRevoked(err)
			continue
		}
		s.revokeAll(ctx, at, r)
	}
}

// revokeReplaced revokes what a new connection took the place of, in the background.
func (s *Store) revokeReplaced(fresh record, replaced ...record) {
	var ended []record
	for _, r := range replaced {
		if !r.gaveAccess() || !r.Password.IsEmpty() && r.Password.Equal(fresh.Password) {
			continue // or the user has entered the same password again
		}
		if r.Grant == codeGrant && fresh.Grant == codeGrant && r.Account == fresh.Account && r.Subject == fresh.Subject && !s.provider.profile.apart {
			// Servers that keep one session for a browser, as Keycloak does, would end the new grant with the old one's
			// refresh token: both belong to that session. They end together when the user disconnects.
			r.RefreshToken = filehost.Secret{}
		}
		ended = append(ended, r)
	}
	if len(ended) == 0 || !s.config.Pending.begin(s.config.Lifetime) {
		return
	}
	defer s.config.Pending.running.Done()
	ctx := context.WithoutCancel(s.config.Lifetime)
	s.config.Pending.background(s.config.Log, func() { s.revokeEnded(ctx, ended...) })
}

// revokeAll revokes a record's tokens at the sign-in server, the refresh token first: it is the one that makes others.
// Where that server revokes nothing, or the record holds a password, the host itself may.
func (s *Store) revokeAll(ctx context.Context, at endpoints, r record) {
	if at.Revocation == "" {
		s.revokeAtHost(ctx, at, r)
		return
	}
	s.revoke(ctx, at, r.RefreshToken, "refresh_token")
	s.revoke(ctx, at, r.AccessToken, "access_token")
}

// revokeAtHost lets a credential of the host's own making end itself. An access token that has run out is first
// exchanged for one that hasn't: the refresh token would go on making others.
func (s *Store) revokeAtHost(ctx context.Context, at endpoints, r record) {
	if s.config.Revoke == nil || r.State == dead || r.State == refreshing { // who holds the lease revokes what he gets
		return
	}
	if r.ofSignInServer() && s.provider.server != s.config.Host.Origin() {
		return
	}
	if !r.usable(s.config.Clock.Now()) && !r.RefreshToken.IsEmpty() {
		answer, err := s.spend(ctx, at, r.RefreshToken)
		if err != nil {
			s.notRevoked(err)
			return
		}
		r.AccessToken = answer.AccessToken
	}
	ctx, cancel := s.withTimeout(ctx, callLimit)
	defer cancel()
	err := s.config.Revoke(ctx, r.credential())
	switch filehost.KindOf(err) {
	case filehost.Forbidden, filehost.CredentialRejected: // a user's own password, or one that has ended already
		return
	}
	if err != nil {
		s.notRevoked(err)
	}
}

func (s *Store) notRevoked(err error) {
	s.config.Log.Warn("A disconnected sign-in could not be revoked.", "host", s.config.Host.ID, "error", err.Error())
}
