package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/require"
)

// deactivate has the server say from now on that the user is deactivated, or not.
func (h *host) deactivate(t *testing.T, deletedAt int64) {
	t.Helper()
	api, ok := h.API.(*plugintest.API)
	require.True(t, ok)
	for _, call := range api.ExpectedCalls {
		if call.Method == "GetUser" {
			call.Return(&model.User{Id: user, DeleteAt: deletedAt}, nil)
		}
	}
}

// keeps tells whether the store has a connection.
func (h *host) keeps() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(slices.Collect(maps.Keys(h.kv)), func(key string) bool { return strings.HasPrefix(key, "conn_") })
}

func (h *host) hook() { h.UserHasBeenDeactivated(&plugin.Context{}, &model.User{Id: user}) }

func TestADeactivatedUsersConnectionEnds(t *testing.T) {
	h, _ := connected(t, takes)
	require.True(t, h.keeps())
	h.deactivate(t, 1)
	h.hook()
	require.Eventually(t, func() bool { return !h.keeps() }, 10*time.Second, time.Millisecond)
}

func TestADeactivatedUsersConnectionEndsWhenTheStoreIsBack(t *testing.T) {
	h, _ := connected(t, takes)
	h.deactivate(t, 1)
	down := func(down bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.kvDown = down
	}
	warned := make(chan struct{}, 1)
	h.mu.Lock()
	h.warned = func(message string) {
		if strings.HasPrefix(message, "The access of a deactivated user could not be ended yet") {
			warned <- struct{}{}
		}
	}
	h.mu.Unlock()
	down(true)
	h.hook()
	<-warned
	down(false)
	require.True(t, h.keeps())
	clock := h.clock.(*clockwork.FakeClock)
	require.Eventually(t, func() bool {
		clock.Advance(disconnectFirst)
		return !h.keeps()
	}, 10*time.Second, time.Millisecond)
}

func TestAUserWhoIsActiveAgainKeepsHisConnection(t *testing.T) {
	h, _ := connected(t, takes)
	require.NoError(t, h.tryDisconnect(user))
	require.True(t, h.keeps())
}

func TestAPluginThatHasStoppedBeginsNothing(t *testing.T) {
	h, _ := connected(t, takes)
	h.deactivate(t, 1)
	require.NoError(t, h.OnDeactivate())
	tried := false
	h.mu.Lock()
	h.warned = func(message string) { tried = tried || strings.Contains(message, "deactivated user") } // a check may end late, too
	h.mu.Unlock()
	h.hook()
	h.background.Wait()
	require.True(t, h.keeps())
	h.mu.Lock()
	defer h.mu.Unlock()
	require.False(t, tried)
}

func TestADeactivationBeforeThePluginRunsIsNoFailure(t *testing.T) {
	require.NotPanics(t, func() { (&Plugin{}).UserHasBeenDeactivated(&plugin.Context{}, &model.User{Id: user}) })
}

func TestADeactivatedUserIsRefusedWhateverIsKept(t *testing.T) {
	h, _ := connected(t, takes)
	h.deactivate(t, 1)
	status, body := h.get(t, "/files")
	require.Equal(t, http.StatusForbidden, status, body)
	require.True(t, h.keeps())
}
