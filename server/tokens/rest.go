package tokens

import (
	"maps"
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
	mu    sync.Mutex
	all   respite
	codes respite // from codes only: the grants of who is connected may be good all the same
	// vouched is from grants that the plugin makes itself: people may be able to sign in all the same.
	vouched respite
	alone   map[string]respite // from such grants for one user, by his id: others may have them all the same
}

type respite struct {
	until  time.Time
	reason *tokenError
}

// restedError is the failure of a request that was not sent: the endpoint would probably fail it like the last.
type restedError struct{ reason *tokenError }

// Error implements error.
func (e *restedError) Error() string { return "left alone after: " + e.reason.Error() }

// Unwrap gives the last failure to errors.Is and errors.As.
func (e *restedError) Unwrap() error { return e.reason }

// resting returns an error while the token endpoint is left alone, nil when it may be asked. codeOf is whose code it
// would be sent; "" = a refresh token.
func (s *Store) resting(codeOf string) error {
	s.rest.mu.Lock()
	defer s.rest.mu.Unlock()
	now := s.config.Clock.Now()
	switch {
	case now.Before(s.rest.all.until):
		return &restedError{s.rest.all.reason}
	case codeOf != "" && now.Before(s.rest.codes.until):
		return &restedError{s.rest.codes.reason}
	}
	return nil
}

// restAfter begins a rest if the failure calls for one, and ends that from codes after a success (nil). weight is that
// of a refusal of the client: one user's codes give nobody a rest, and those of several leave refreshes alone.
func (s *Store) restAfter(failed *tokenError, weight weight) {
	s.rest.mu.Lock()
	defer s.rest.mu.Unlock()
	begun := respite{s.config.Clock.Now().Add(restTime), failed}
	switch {
	case failed == nil:
		s.rest.codes = respite{}
	case failed.Status == http.StatusTooManyRequests, clientRefused(failed) && weight == ownGrant:
		s.rest.all = begun
	case clientRefused(failed) && weight == ofUsers:
		s.rest.codes = begun
	}
}

// restVouched begins a rest from grants that the plugin makes itself, after a failure that another grant would probably
// meet as well. What one user meets rests him alone (decision 15): something about him may be its cause.
func (s *Store) restVouched(failed *tokenError, userID string, weight weight) {
	throttled := failed.Status == http.StatusTooManyRequests
	if !throttled && failed.about() != ofRequest {
		return
	}
	s.rest.mu.Lock()
	defer s.rest.mu.Unlock()
	now := s.config.Clock.Now()
	begun := respite{now.Add(restTime), failed}
	switch {
	case weight == oneUsers:
		maps.DeleteFunc(s.rest.alone, func(_ string, r respite) bool { return !now.Before(r.until) })
		if s.rest.alone == nil {
			s.rest.alone = map[string]respite{}
		}
		s.rest.alone[userID] = begun
	case throttled:
		s.rest.all = begun
	default:
		s.rest.vouched = begun
	}
}

// restingVouched returns an error while the token endpoint is left alone with grants that the plugin makes for a user.
func (s *Store) restingVouched(userID string) error {
	if err := s.resting(""); err != nil {
		return err
	}
	s.rest.mu.Lock()
	defer s.rest.mu.Unlock()
	for _, r := range []respite{s.rest.vouched, s.rest.alone[userID]} {
		if s.config.Clock.Now().Before(r.until) {
			return &restedError{r.reason}
		}
	}
	return nil
}

// throttled tells whether the token endpoint has refused the plugin for asking too often, as the error for the caller.
func (s *Store) throttled(err error) (*filehost.Error, bool) {
	if !failedWithStatus(err, http.StatusTooManyRequests) {
		return nil, false
	}
	return &filehost.Error{Kind: filehost.RateLimited, RetryAfter: restTime, Err: err,
		Message: "The sign-in server of " + s.config.Host.Name + " takes no more requests from Mattermost at the moment. Try again in a few minutes."}, true
}
