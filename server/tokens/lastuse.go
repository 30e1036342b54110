package tokens

import (
	"context"
	"sync"
	"time"
)

const lastUsePrecision = time.Hour

// lastUses remembers when this node last wrote down that a user used his connection.
type lastUses struct {
	mu     sync.Mutex
	byUser map[string]time.Time
}

// due tells whether a use is to be written down, and takes it as written.
func (l *lastUses) due(userID string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, ok := l.byUser[userID]; ok && now.Sub(last) < lastUsePrecision {
		return false
	}
	l.byUser[userID] = now
	return true
}

func (l *lastUses) forget(userID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byUser, userID)
}

type lastUse struct {
	At time.Time `json:"at"`
}

// noteUse writes down that a connection was used: once an hour at most, and as well as it can. A use that isn't noted
// must not fail.
func (s *Store) noteUse(ctx context.Context, userID string) {
	now := s.config.Clock.Now().UTC()
	if !s.used.due(userID, now) {
		return
	}
	key, at := s.key("used_", userID), s.place(lastUsePurpose, userID)
	old, err := s.config.KV.Get(ctx, key)
	if err != nil {
		return
	}
	var last lastUse
	if old != nil && s.config.Cipher.decryptJSON(at, old, &last) == nil && now.Sub(last.At) < lastUsePrecision {
		return
	}
	if value, err := s.config.Cipher.encryptJSON(at, lastUse{now}); err == nil {
		_, _ = s.config.KV.CompareAndSet(ctx, key, old, value, 0) // lost: another node has just noted it
	}
}

// lastUsed returns when the connection that began at since was last used; zero for never.
func (s *Store) lastUsed(ctx context.Context, userID string, since time.Time) (time.Time, error) {
	raw, err := s.config.KV.Get(ctx, s.key("used_", userID))
	if err != nil {
		return time.Time{}, storeFailed(err)
	}
	var last lastUse
	if raw == nil || s.config.Cipher.decryptJSON(s.place(lastUsePurpose, userID), raw, &last) != nil || last.At.Before(since) {
		return time.Time{}, nil
	}
	return last.At, nil
}

// forgetUse deletes the note, as well as it can.
func (s *Store) forgetUse(ctx context.Context, userID string) {
	s.used.forget(userID)
	s.forget(ctx, s.key("used_", userID))
}
