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

// exchanges is what the real exchanges at the token endpoint have shown under these settings. The health check tells it: it
// sends no grant itself.
type exchanges struct {
	mu       sync.Mutex
	answered bool        // once at least, in the way of a token endpoint (RFC 6749 5)
	failed   *tokenError // the last failure that says something of the endpoint; nil = there is none, or a success came after
	at       time.Time   // of failed
}

var (
	// errUnreadable means an answer of status 200 without a token that can be used.
	errUnreadable = errors.New("the answer can't be read")
	errThrottled  = errors.New("the token endpoint has refused requests as too many")
)

// noteExchange takes down how an exchange ended: nil = with tokens. It asks for a health check when that tells another story
// now.
func (s *Store) noteExchange(failed *tokenError) {
	var spared interface{ SparedFor() time.Duration }
	if failed != nil && (errors.Is(failed, context.Canceled) || errors.As(failed, &spared)) {
		return // by us
	}
	s.exchanges.mu.Lock()
	before := s.exchanges.failed
	switch {
	case failed == nil:
		s.exchanges.answered, s.exchanges.failed = true, nil
	case failed.Code == "" || failed.refusesClient() || s.declined(failed):
		s.exchanges.failed, s.exchanges.at = failed, s.config.Clock.Now()
	case !before.refusesClient(): // the user's grant is not good any more, and that is all
		s.exchanges.failed = nil
	}
	s.exchanges.answered = s.exchanges.answered || (failed != nil && failed.Code != "")
	after := s.exchanges.failed
	s.exchanges.mu.Unlock()
	if after.refusesClient() && !before.refusesClient() {
		s.config.Log.Error(clientRefusedMessage, "host", s.config.Host.ID, "code", after.Code)
	}
	if (before == nil) != (after == nil) || (before != nil && before.Error() != after.Error()) {
		s.config.Changed()
	}
}

// declined tells whether a code is about the plugin's request, and not about the grant in it.
func (s *Store) declined(failed *tokenError) bool {
	return !slices.Contains(s.provider.profile.deadCode, failed.Code) && !slices.Contains(s.provider.profile.deadRefresh, failed.Code)
}

// exchangeRemedy is the error of a health check for what the last exchange has shown; nil = nothing that is still worth
// telling. A refused client is told until an exchange succeeds, anything else for as long as a refusal is heeded.
func (s *Store) exchangeRemedy(name, setting string) error {
	s.exchanges.mu.Lock()
	failed, recent := s.exchanges.failed, s.config.Clock.Since(s.exchanges.at) < restTime
	s.exchanges.mu.Unlock()
	switch {
	case failed == nil:
		return nil
	case failed.refusesClient():
		return filehost.E(filehost.NotConfigured, fmt.Sprintf(
			"%s refused “%s” or “%s” at the last sign-in (%s): enter those of its registration in the plugin's settings. New sign-ins are tried again after five minutes, or at once with new settings.",
			name, filehost.LabelOAuthClientID, filehost.LabelOAuthSecret, failed.Code), failed)
	case !recent:
		return nil
	case failed.Status == http.StatusTooManyRequests:
		return throttledRemedy(name, failed)
	case failed.Code != "":
		return &filehost.Degraded{Err: failed, Remedy: fmt.Sprintf(
			"%s declined the plugin's last request (%s): compare the OAuth settings of the plugin with its registration there, the scopes and the redirect URI above all.", name, failed.Code)}
	case failed.Status >= http.StatusInternalServerError:
		return &filehost.Degraded{Err: failed, Remedy: fmt.Sprintf(
			"%s answered the last sign-in with an error of its own (%d): look into its log.", name, failed.Status)}
	case failed.Status != 0 || errors.Is(failed, errUnreadable):
		return filehost.E(filehost.HostUnavailable, fmt.Sprintf(
			"%s did not answer the last sign-in as a token endpoint does (%s): correct “%s” in the plugin's settings.", name, failed.seen(), setting), failed)
	}
	return &filehost.Degraded{Err: failed, Remedy: name + " gave no answer to the last sign-in: look at its load and its log, and at the firewall or proxy in between."}
}

func throttledRemedy(name string, cause error) error {
	return &filehost.Degraded{Err: fmt.Errorf("%w: %w", errThrottled, cause), Remedy: name +
		" refuses requests as too many (429), so that sign-ins wait: let it accept the Mattermost server's address without a limit (Nextcloud: the app “Brute-force settings”)."}
}

// refusesClient tells whether it is the plugin that the server does not accept; nil = no failure.
func (e *tokenError) refusesClient() bool { return e != nil && clientRefused(e) }

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
