package tokens

import (
	"context"
	"log/slog"
	"sync"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Pending is what one node has under way and must not lose, whatever becomes of the configuration that it was begun
// under: refreshes, writes, tokens that are not saved yet, and how many sign-ins have failed. The plugin makes one and hands it to each Store.
type Pending struct {
	starting sync.Mutex
	running  sync.WaitGroup // refreshes and writes that outlive their callers

	attempts nodeAttempts

	mu sync.Mutex
	// unsaved are the tokens whose refresh succeeded and whose record the store did not take yet, by the record's key.
	// They are the only ones that work: until they are saved, this node gives them out and spends no refresh token.
	unsaved map[string]record
}

// NewPending returns a Pending with nothing under way.
func NewPending() *Pending { return &Pending{unsaved: map[string]record{}} }

// Wait returns when no refresh and no write is under way any more. Call it after Config.Lifetime has ended; a refresh
// that has begun by then is still finished and saved, so that no spent refresh token is all that is left.
func (p *Pending) Wait() {
	// No begin after this one succeeds, since Lifetime has ended.
	p.starting.Lock()
	p.starting.Unlock() //nolint:staticcheck // the empty section orders Wait behind the last begin
	p.running.Wait()
}

// begin registers work that outlives its caller. It reports false when the plugin is stopping. The work ends with
// running.Done.
func (p *Pending) begin(lifetime context.Context) bool {
	p.starting.Lock()
	defer p.starting.Unlock()
	if lifetime.Err() != nil {
		return false
	}
	p.running.Add(1)
	return true
}

// background runs work that outlives the call. The caller is itself registered with begin.
func (p *Pending) background(log *slog.Logger, work func()) {
	p.running.Go(func() {
		err := filehost.Recovered(func() error {
			work()
			return nil
		})
		if err != nil {
			log.Error("What a refresh left to be done has failed.", "error", err.Error())
		}
	})
}

// notSaved returns a user's tokens that are not saved yet, unless they were made for other settings.
func (s *Store) notSaved(userID string) (record, bool) {
	p := s.config.Pending
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, ok := p.unsaved[s.key("conn_", userID)]
	if !ok || !s.made(kept) {
		return record{}, false
	}
	return kept, true
}

func (s *Store) keepUnsaved(userID string, tokens record) {
	p := s.config.Pending
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unsaved[s.key("conn_", userID)] = tokens
}

// dropUnsaved forgets a user's tokens, whatever they were made for, and returns those that notSaved would.
func (s *Store) dropUnsaved(userID string) record {
	kept, _ := s.notSaved(userID)
	p := s.config.Pending
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.unsaved, s.key("conn_", userID))
	return kept
}

// saved forgets tokens that need not be kept any longer, unless newer ones are in their place.
func (s *Store) saved(userID string, tokens record) {
	p := s.config.Pending
	p.mu.Lock()
	defer p.mu.Unlock()
	if key := s.key("conn_", userID); p.unsaved[key].Generation == tokens.Generation {
		delete(p.unsaved, key)
	}
}
