package tokens

import (
	"context"
	"errors"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// A node that dies between the tombstone and its deletion leaves nothing behind for longer than this.
const tombstoneTime = 10 * time.Minute

// Disconnect implements filehost.Connections. First a tombstone takes the record's place, so that no refresh in flight
// can bring it back; then the tokens are revoked; then the tombstone goes.
func (s *Store) Disconnect(ctx context.Context, userID string) error {
	ctx = context.WithoutCancel(ctx) // who leaves now still wants to be disconnected
	var ended, tombstone entry
	err := s.contest(ctx, func() (bool, error) {
		read, err := s.load(ctx, userID)
		if err != nil {
			return false, err
		}
		if errors.Is(read.cause, errUnknownKey) {
			return false, filehost.E(filehost.NotConfigured, "The plugin's encryption key has changed and your connection can't be revoked. "+
				"Ask your admin to restore the key, or end the access in "+s.config.Host.Name+" itself.", read.cause)
		}
		// Also where nothing was read: only a compare-and-set knows that nothing is there.
		grave := record{State: disconnecting, Generation: read.Generation}
		next, won, err := s.swapFor(ctx, userID, read, grave, tombstoneTime)
		ended, tombstone = read, next
		return won, err
	})
	if err != nil {
		return err
	}
	s.revokeEnded(ctx, ended.record, s.dropUnsaved(userID))
	if _, err := s.config.KV.CompareAndDelete(ctx, s.key("conn_", userID), tombstone.raw); err != nil {
		return storeFailed(err)
	}
	s.forgetUse(ctx, userID)
	return nil
}

// revokeEnded revokes the tokens of records that were made for the server that is configured now.
func (s *Store) revokeEnded(ctx context.Context, ended ...record) {
	if s.provider == nil {
		return
	}
	at, err := s.endpoints(ctx)
	if err != nil {
		s.config.Log.Warn("A disconnected sign-in could not be revoked.", "host", s.config.Host.ID, "error", err.Error())
		return
	}
	for _, r := range ended {
		s.revokeBoth(ctx, at, r)
	}
}

// revokeBoth revokes the refresh token first: it is the one that makes others.
func (s *Store) revokeBoth(ctx context.Context, at endpoints, r record) {
	s.revoke(ctx, at, r.RefreshToken, "refresh_token")
	s.revoke(ctx, at, r.AccessToken, "access_token")
}
