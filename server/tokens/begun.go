package tokens

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// maxBegun is how many sign-ins a user may have begun at a time. A further one ends the oldest.
const maxBegun = 5

// begunSignIns are the sign-ins that may still connect a user, the latest last. What is not among them connects nobody,
// whatever else the store holds of it.
type begunSignIns struct {
	SignIns []begunSignIn `json:"sign_ins"`
}

type begunSignIn struct {
	Key      string    `json:"key"`      // under which the store has it
	Deadline time.Time `json:"deadline"` // of its code, should that be held for a confirmation
}

// changeBegun replaces a user's list by what change makes of it, under compare-and-set: change may be called again.
func (s *Store) changeBegun(ctx context.Context, userID string, change func([]begunSignIn) []begunSignIn) error {
	key, at := s.key("begun_", userID), s.place(begunPurpose, userID)
	return s.contest(ctx, func() (bool, error) {
		old, err := s.config.KV.Get(ctx, key)
		if err != nil {
			return false, storeFailed(err)
		}
		var list begunSignIns
		if old != nil && s.config.Cipher.decryptJSON(at, old, &list) != nil {
			list = begunSignIns{} // of a key that is gone, as the sign-ins themselves
		}
		now := s.config.Clock.Now()
		list.SignIns = change(slices.DeleteFunc(list.SignIns, func(b begunSignIn) bool { return !now.Before(b.Deadline) }))
		raw, err := s.config.Cipher.encryptJSON(at, list)
		if err != nil {
			return false, filehost.E(filehost.Internal, "The sign-in could not be encrypted.", err)
		}
		// Also where nothing changes: only a compare-and-set knows that the list is the latest.
		won, err := s.config.KV.CompareAndSet(ctx, key, old, raw, signInTime+heldTime)
		if err != nil {
			return false, storeFailed(err)
		}
		if won && len(list.SignIns) == 0 {
			_, _ = s.config.KV.CompareAndDelete(ctx, key, raw) // else it expires
		}
		return won, nil
	})
}

// enlist adds a sign-in to those that may connect its user.
func (s *Store) enlist(ctx context.Context, begun signIn) error {
	var dropped []begunSignIn
	err := s.changeBegun(ctx, begun.UserID, func(list []begunSignIn) []begunSignIn {
		list = append(list, begunSignIn{Key: begun.Key, Deadline: begun.Deadline.Add(heldTime)})
		excess := max(0, len(list)-maxBegun)
		dropped = list[:excess]
		return list[excess:]
	})
	if err == nil {
		s.forgetStates(ctx, dropped)
	}
	return err
}

// claim takes a sign-in from the list, right before it connects. It fails when the sign-in was ended in the meantime.
func (s *Store) claim(ctx context.Context, begun signIn) error {
	var listed bool
	err := s.changeBegun(ctx, begun.UserID, func(list []begunSignIn) []begunSignIn {
		before := len(list)
		list = slices.DeleteFunc(list, func(b begunSignIn) bool { return b.Key == begun.Key })
		listed = len(list) < before
		return list
	})
	if err == nil && !listed {
		return filehost.Invalid("state", "This sign-in was ended by later ones, or because you have disconnected. Begin again in Mattermost.")
	}
	return err
}

// EndSignIns implements filehost.Connections.
func (s *Store) EndSignIns(ctx context.Context, userID string) error {
	return errors.Join(s.dropSignIns(ctx, userID), s.dropFlows(ctx, userID, ""))
}

// dropSignIns ends all sign-ins that a user has begun, also one that waits for its confirmation.
func (s *Store) dropSignIns(ctx context.Context, userID string) error {
	var dropped []begunSignIn
	err := s.changeBegun(ctx, userID, func(list []begunSignIn) []begunSignIn {
		dropped = list
		return nil
	})
	if err != nil {
		return err
	}
	s.forgetStates(ctx, dropped)
	s.forget(ctx, s.key("held_", userID))
	return nil
}

func (s *Store) forgetStates(ctx context.Context, ended []begunSignIn) {
	for _, begun := range ended {
		s.forget(ctx, begun.Key)
	}
}

// forget deletes a value, as well as it can.
func (s *Store) forget(ctx context.Context, key string) {
	if raw, err := s.config.KV.Get(ctx, key); err == nil && raw != nil {
		_, _ = s.config.KV.CompareAndDelete(ctx, key, raw)
	}
}
