package tokens

import (
	"net/http"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	// exchangeLimit bounds one exchange at the token endpoint. Nextcloud makes an address that has failed wait for up to
	// 25 s, and what it issues after we have given up is lost, with the refresh token that was spent for it.
	exchangeLimit = 30 * time.Second
	// restTime is how long the token endpoint is left alone after it has refused the plugin's client, or the plugin for
	// asking too often. Each further try would feed the throttle that some servers keep for an address, for all users.
	restTime = 5 * time.Minute
)

// rest remembers why the token endpoint is left alone, and until when. New settings begin without one.
type rest struct {
	mu     sync.Mutex
	until  time.Time
	reason *tokenError
}

// resting returns the error that the token endpoint would probably give again, or nil when it may be asked.
func (s *Store) resting() *tokenError {
	s.rest.mu.Lock()
	defer s.rest.mu.Unlock()
	if s.config.Clock.Now().Before(s.rest.until) {
		return s.rest.reason
	}
	return nil
}

// restAfter begins a rest if the failure calls for one.
func (s *Store) restAfter(failed *tokenError) {
	if !clientRefused(failed) && failed.Status != http.StatusTooManyRequests {
		return
	}
	s.rest.mu.Lock()
	defer s.rest.mu.Unlock()
	s.rest.until, s.rest.reason = s.config.Clock.Now().Add(restTime), failed
}

// throttled tells whether the token endpoint has refused the plugin for asking too often, as the error for the caller.
func (s *Store) throttled(err error) (*filehost.Error, bool) {
	if !failedWithStatus(err, http.StatusTooManyRequests) {
		return nil, false
	}
	return &filehost.Error{Kind: filehost.RateLimited, RetryAfter: restTime, Err: err,
		Message: "The sign-in server of " + s.config.Host.Name + " takes no more requests from Mattermost at the moment. Try again in a few minutes."}, true
}
