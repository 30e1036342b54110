package main

import (
	"net/http"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
)

// runs types a command in a session, and gives what its user is shown.
func (h *host) runs(t *testing.T, session, text string) string {
	t.Helper()
	api, ok := h.API.(*plugintest.API)
	require.True(t, ok)
	var shown *model.Post
	api.On("SendEphemeralPost", user, mock.Anything).Return(func(_ string, post *model.Post) *model.Post {
		shown = post
		return post
	}).Once()
	response, appErr := h.ExecuteCommand(&plugin.Context{RequestId: "request1", SessionId: session}, &model.CommandArgs{UserId: user, ChannelId: "channel", Command: "/filehost " + text})
	require.Nil(t, appErr)
	assert.Empty(t, response.Text, "the server would show it as the user's own")
	require.NotNil(t, shown)
	return shown.Message
}

func TestTheSlashCommandRunsAsItsUser(t *testing.T) {
	h := newHost(t, good())
	assert.Contains(t, h.runs(t, "session1", "status"), "You are not connected")
	h.API.(*plugintest.API).On("GetSession", "").Return(nil, model.NewAppError("GetSession", "id", nil, "", http.StatusUnauthorized))
	assert.Contains(t, h.runs(t, "", "status"), "Something went wrong", "another plugin runs it in his name")
	h.deactivate(t, 1)
	assert.Equal(t, "Your account is deactivated.", h.runs(t, "session1", "status"))
	h.change(t, map[string]any{"hosturl": "nonsense"})
	assert.Equal(t, "The file host is not configured yet. Ask your system admin.", h.runs(t, "session1", "status"))
}

func TestThePluginWorksWithoutItsSlashCommand(t *testing.T) {
	h := newHost(t, good())
	h.API.(*plugintest.API).ExpectedCalls = append([]*mock.Call{{Parent: &h.API.(*plugintest.API).Mock, Method: "RegisterCommand",
		Arguments: mock.Arguments{mock.Anything}, ReturnArguments: mock.Arguments{assert.AnError}}}, h.API.(*plugintest.API).ExpectedCalls...)
	var warned string
	h.mu.Lock()
	h.warned = func(message string) { warned = message }
	h.mu.Unlock()
	h.registerCommand()
	h.mu.Lock()
	defer h.mu.Unlock()
	assert.Equal(t, "The slash command is not offered.", warned)
}
