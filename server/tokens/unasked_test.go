package tokens

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// unaskedTokens gives many users a refresh token each that nobody asked for.
func unaskedTokens(t *testing.T, w *world, users int, edits ...func(*Config)) (*Store, *trustingServer) {
	t.Helper()
	node, server := w.vouching(filehost.MethodJWTBearer, edits...)
	for i := range users {
		user := fmt.Sprint("user", i)
		server.set(func(s *trustingServer) {
			s.accounts[user], s.answer = user, map[string]any{"refresh_token": "canary-of-" + user}
		})
		_, err := node.For(t.Context(), user)
		require.NoError(t, err)
	}
	return node, server
}

func (s *trustingServer) revocations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.revoked)
}

func TestOneGoroutineWaitsForAllTokensThatNobodyAskedFor(t *testing.T) {
	w := newWorld(t)
	const users = 50
	_, server := unaskedTokens(t, w, users)
	w.waiting(1)
	w.clock.Advance(2 * callLimit) // nothing that is sent already still has a timer
	ended, end := context.WithCancel(t.Context())
	end()
	require.Error(t, w.clock.BlockUntilContext(ended, 2), "one timer waits")
	require.Empty(t, server.revocations())
	w.clock.Advance(automaticLife)
	eventually(t, func() bool { return len(server.revocations()) == users })
}

func TestTokensThatNobodyAskedForAreRevokedWhenThePluginStops(t *testing.T) {
	w := newWorld(t)
	lifetime, stop := context.WithCancel(t.Context())
	node, server := unaskedTokens(t, w, 20, func(c *Config) { c.Lifetime = lifetime })
	stop()
	node.config.Pending.Wait()
	require.Len(t, server.revocations(), 20)
}

func TestTooManyTokensThatNobodyAskedForAreRevokedEarlyTheOldestFirst(t *testing.T) {
	waiting, now := newUnasked(), time.Now()
	for i := range maxUnasked + 3 {
		begin := waiting.add(unaskedToken{token: filehost.NewSecret(fmt.Sprint(i)), due: now.Add(automaticLife)})
		assert.Equal(t, i == 0, begin)
	}
	<-waiting.full
	due, _, done := waiting.take(now, false)
	require.False(t, done)
	require.Len(t, due, 3)
	assert.Equal(t, "0", due[0].token.Reveal())
	due, wait, _ := waiting.take(now, false)
	assert.Empty(t, due)
	assert.Equal(t, automaticLife, wait)
	due, _, _ = waiting.take(now.Add(automaticLife), false)
	assert.Len(t, due, maxUnasked)
	_, _, done = waiting.take(now.Add(automaticLife), false)
	assert.True(t, done)
	assert.True(t, waiting.add(unaskedToken{}), "the next one is waited for anew")
}
