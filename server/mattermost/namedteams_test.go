package mattermost

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// configured is the server as a node sees it whose settings name these teams.
func (c *company) configured(t *testing.T, kv filehost.KV, names ...string) *Server {
	t.Helper()
	teams, err := NamedTeams(t.Context(), c, kv, clockwork.NewRealClock(), names)
	require.NoError(t, err)
	return New(Config{API: c, Teams: teams})
}

func (s *Server) has(t *testing.T, user, team string) bool {
	t.Helper()
	in, err := s.IsIn(t.Context(), user, filehost.Audience{Teams: []string{team}})
	require.NoError(t, err)
	return in
}

// found makes a team with one member, as every user may.
func (c *company) found(name, id, member string) {
	c.teams[name] = &model.Team{Id: id, Name: name}
	c.members[id] = map[string]*model.TeamMember{member: {}}
}

func TestATeamThatIsMadeAfterItWasNamedHasNoMembers(t *testing.T) {
	c, kv := newCompany(), filehosttest.NewKV(clockwork.NewRealClock())
	server := c.configured(t, kv, "finance", "sales")
	c.found("finance", "t9", "left")
	for name, node := range map[string]*Server{"the node": server, "another one, or the next start": c.configured(t, kv, "finance", "sales")} {
		assert.False(t, node.has(t, "left", "finance"), name)
		assert.True(t, node.has(t, "ann", "sales"), name)
		err := node.CheckAudience(t.Context(), filehost.Audience{Teams: []string{"finance"}})
		assert.Equal(t, filehost.NotConfigured, filehost.KindOf(err), name)
		assert.ErrorContains(t, err, "“finance”, which was made after")
	}

	c.configured(t, kv, "sales")
	assert.True(t, c.configured(t, kv, "finance", "sales").has(t, "left", "finance"), "the admin has named it anew")
}

func TestATeamThatTakesTheNameOfAnotherHasNoMembers(t *testing.T) {
	c, kv := newCompany(), filehosttest.NewKV(clockwork.NewRealClock())
	require.True(t, c.configured(t, kv, "sales").has(t, "ann", "sales"))
	c.found("sales", "t9", "left") // the first one was deleted for good
	server := c.configured(t, kv, "sales")
	assert.False(t, server.has(t, "left", "sales"))
}

func TestTeamsAreNamedOnceForAllNodes(t *testing.T) {
	c, kv := newCompany(), filehosttest.NewKV(clockwork.NewRealClock())
	replica := kv.Replica(3)
	_, err := replica.Get(t.Context(), namedTeamsKey) // has seen that nothing was named
	require.NoError(t, err)
	c.configured(t, kv, "finance")
	c.found("finance", "t9", "left")
	assert.False(t, c.configured(t, replica, "finance").has(t, "left", "finance"))
	assert.Len(t, kv.Keys(), 1)
}

func TestNoTeamIsNamedWhileItCannotBeLookedUpOrWrittenDown(t *testing.T) {
	c, kv := newCompany(), filehosttest.NewKV(clockwork.NewRealClock())
	c.failed = true
	_, err := NamedTeams(t.Context(), c, kv, clockwork.NewRealClock(), []string{"sales"})
	require.Error(t, err)
	c.failed = false
	for _, op := range []filehosttest.Op{filehosttest.Get, filehosttest.CompareAndSet} {
		down := errors.New("down")
		kv.Fail(func(now filehosttest.Op, _ string) error {
			if now == op {
				return down
			}
			return nil
		})
		_, err = NamedTeams(t.Context(), c, kv, clockwork.NewRealClock(), []string{"sales"})
		require.ErrorIs(t, err, down)
	}
	kv.Fail(nil)
	assert.Empty(t, kv.Keys())
	teams, err := NamedTeams(t.Context(), c, kv, clockwork.NewRealClock(), nil)
	require.NoError(t, err)
	assert.Empty(t, teams)
	assert.Empty(t, kv.Keys(), "who names no team writes nothing")
}

func TestWaitingForOtherNodesToNameTeamsEnds(t *testing.T) {
	c, kv := newCompany(), filehosttest.NewKV(clockwork.NewRealClock())
	c.configured(t, kv, "finance")
	clock := clockwork.NewFakeClock()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	done := make(chan error)
	go func() {
		_, err := NamedTeams(ctx, c, stale{kv}, clock, []string{"sales"})
		done <- err
	}()
	for range namedTeamsRounds {
		require.NoError(t, clock.BlockUntilContext(ctx, 1))
		clock.Advance(namedTeamsPause)
	}
	require.ErrorContains(t, <-done, "too often")
}

// stale is a store that never shows what was written.
type stale struct{ filehost.KV }

func (stale) Get(context.Context, string) ([]byte, error) { return nil, nil }

func TestNamesThatUsersCanHaveChosenAreWarnedOf(t *testing.T) {
	on, off := true, false
	for name, test := range map[string]struct {
		transfer *bool
		warns    bool
	}{"accounts can be moved": {&on, true}, "they can't": {&off, false}, "they can't, as false arrives": {nil, false}} {
		t.Run(name, func(t *testing.T) {
			api := newKeeper("11.1.0").set(func(c *model.Config) { c.ServiceSettings.ExperimentalEnableAuthenticationTransfer = test.transfer })
			err := New(Config{API: api}).CheckNames(t.Context())
			if !test.warns {
				require.NoError(t, err)
				return
			}
			var degraded *filehost.Degraded
			require.ErrorAs(t, err, &degraded)
			assert.Contains(t, degraded.Remedy, "ServiceSettings.ExperimentalEnableAuthenticationTransfer")
		})
	}
	require.Error(t, New(Config{API: &keeper{}}).CheckNames(t.Context()), "the server gives no configuration")
}
