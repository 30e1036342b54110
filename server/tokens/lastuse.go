package tokens

import (
	"context"
	"sync"
	"time"
)

// lastUsePrecision is how exactly a use is told: nobody needs to know when somebody was at work.
const lastUsePrecision = time.Hour

// lastUses remembers the hour in which this node last wrote down that a user used his connection.
type lastUses struct {
	mu     sync.Mutex
	byUser map[string]time.Time
}

func newLastUses() lastUses { return lastUses{byUser: map[string]time.Time{}} }

// due tells whether a use is to be written down, and takes it as written.
func (l *lastUses) due(userID string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	hour := now.Truncate(lastUsePrecision)
	if last, ok := l.byUser[userID]; ok && !hour.After(last) {
		return false
	}
	l.byUser[userID] = hour
	return true
}

func (l *lastUses) forget(userID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byUser, userID)
}

type lastUse struct {
	At time.Time `json:"at"` // the beginning of the hour
}

// noteUse writes down that a connection was used: once in an hour of the clock, and as well as it can. A use that isn't
// noted must not fail.
func (s *Store) noteUse(ctx context.Context, userID string) {
	now := s.config.Clock.Now().UTC()
	if !s.used.due(userID, now) {
		return
	}
	hour := now.Truncate(lastUsePrecision)
	key, at := s.key("used_", userID), s.place(lastUsePurpose, userID)
	old, err := s.config.KV.Get(ctx, key)
	if err != nil {
		return
	}
	var last lastUse
	if old != nil && s.config.Cipher.decryptJSON(at, old, &last) == nil && !hour.After(last.At) {
		return
	}
	if value, err := s.config.Cipher.encryptJSON(at, lastUse{hour}); err == nil {
		_, _ = s.config.KV.CompareAndSet(ctx, key, old, value, 0) // lost: another node has just noted it
	}
}

// lastUsed returns the hour in which the connection that began at since was last used; zero for never.
func (s *Store) lastUsed(ctx context.Context, userID string, since time.Time) (time.Time, error) {
	raw, err := s.config.KV.Get(ctx, s.key("used_", userID))
	if err != nil {
		return time.Time{}, storeFailed(err)
	}
	var last lastUse
	if raw == nil || s.config.Cipher.decryptJSON(s.place(lastUsePurpose, userID), raw, &last) != nil || last.At.Before(since.Truncate(lastUsePrecision)) {
		return time.Time{}, nil
	}
	return last.At, nil
}

// forgetUse deletes the note, as well as it can.
func (s *Store) forgetUse(ctx context.Context, userID string) {
	s.used.forget(userID)
	s.forget(ctx, s.key("used_", userID))
}
