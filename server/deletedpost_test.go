package main

import (
	"testing"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/stretchr/testify/require"
)

func TestWhatIsKnownOfADeletedPostIsForgotten(t *testing.T) {
	h := newHost(t, good())
	h.mu.Lock()
	h.kv["post_1"], h.kv["draft_2"], h.kv["post_3"] = []byte("{}"), []byte("{}"), []byte("{}")
	h.mu.Unlock()
	h.MessageHasBeenDeleted(&plugin.Context{}, &model.Post{Id: "1", FileIds: []string{"2"}})
	has := func(key string) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.kv[key] != nil
	}
	require.Eventually(t, func() bool { return !has("post_1") && !has("draft_2") }, 10*time.Second, time.Millisecond)
	require.True(t, has("post_3"))
}

func TestAPostThatIsDeletedBeforeThePluginRunsIsNoFault(*testing.T) {
	(&Plugin{}).MessageHasBeenDeleted(&plugin.Context{}, &model.Post{Id: "1"})
}
