package mattermost

import (
	"net/http"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const shownPost = "postaaaaaaaaaaaaaaaaaaaaaa"

// answering is a bot on a server that keeps what it shows.
func answering(owner string) (*Bot, *plugintest.API) {
	api := &plugintest.API{}
	api.On("EnsureBotUser", mock.Anything).Return("bot", nil)
	api.On("GetBot", "bot", true).Return(&model.Bot{UserId: "bot", OwnerId: owner}, nil)
	for _, call := range []string{"SendEphemeralPost", "UpdateEphemeralPost"} {
		api.On(call, user, mock.Anything).Return(&model.Post{})
	}
	return NewBot(BotConfig{API: api, PluginID: "plugin", DisplayName: "Files", Actions: "/plugins/p/api/actions"}), api
}

func TestAnswersAreShownToTheirUserOnly(t *testing.T) {
	for owner, author := range map[string]string{"plugin": "bot", "somebody else": user} {
		bot, api := answering(owner)
		place := filehost.Place{UserID: user, ChannelID: channel, RootID: root}
		message := filehost.Message{Text: "Files", Buttons: []filehost.Button{{Action: "command", Label: "Up", HostID: "default", Token: "t1"}, {Action: "connect", Label: "Connect", HostID: "default"}},
			Menus: []filehost.Menu{{Button: filehost.Button{Action: "command", Label: "Open", HostID: "default", Token: "t2"}, Options: []filehost.DialogOption{{Value: "id", Label: "Name"}}}}}
		require.NoError(t, bot.Show(t.Context(), place, message))
		require.NoError(t, bot.Replace(t.Context(), place, shownPost, message))
		assert.Equal(t, filehost.InvalidRequest, kindOf(bot.Replace(t.Context(), place, "../x", message)))
		var posts []*model.Post
		for _, call := range api.Calls {
			if call.Method == "SendEphemeralPost" || call.Method == "UpdateEphemeralPost" {
				posts = append(posts, call.Arguments[1].(*model.Post))
			}
		}
		require.Len(t, posts, 2)
		assert.Equal(t, []string{"", shownPost}, []string{posts[0].Id, posts[1].Id})
		post := posts[0]
		assert.Equal(t, []string{author, channel, root, "Files"}, []string{post.UserId, post.ChannelId, post.RootId, post.Message})
		actions := post.Attachments()[0].Actions
		require.Len(t, actions, 3)
		assert.Equal(t, []string{"command0", "command1", "connect"}, []string{actions[0].Id, actions[1].Id, actions[2].Id}, "each has its own")
		assert.Equal(t, model.PostActionTypeSelect, string(actions[0].Type))
		assert.Equal(t, []*model.PostActionOptions{{Text: "Name", Value: "id"}}, actions[0].Options)
		assert.Equal(t, &model.PostActionIntegration{URL: "/plugins/p/api/actions/command", Context: map[string]any{"host": "default", "token": "t1"}}, actions[1].Integration)
		assert.NotContains(t, actions[2].Integration.Context, "token")
	}
	api := &plugintest.API{}
	api.On("EnsureBotUser", mock.Anything).Return("bot", nil)
	api.On("GetBot", "bot", true).Return(nil, notFound())
	api.On("SendEphemeralPost", user, mock.Anything).Return(nil)
	assert.Error(t, NewBot(BotConfig{API: api}).Show(t.Context(), filehost.Place{UserID: user}, filehost.Message{}), "the way to the server ends")
}

func TestTheSlashCommandIsOfferedAsItIsTyped(t *testing.T) {
	api := &plugintest.API{}
	api.On("RegisterCommand", mock.Anything).Return(nil).Once()
	line := CommandLine{Trigger: "filehost", Description: "Files", Hint: "[command]", Complete: "/api/complete", Subcommands: []SubcommandLine{
		{Name: "attach", Arguments: "[path]", Help: "Attach", Completed: true}, {Name: "search", Arguments: "[words]", Help: "Find"}, {Name: "help", Help: "Help"}}}
	require.NoError(t, RegisterCommand(api, line))
	command := api.Calls[0].Arguments[0].(*model.Command)
	require.NoError(t, command.AutocompleteData.IsValid())
	assert.Equal(t, "filehost", command.Trigger)
	subs := command.AutocompleteData.SubCommands
	require.Len(t, subs, 3)
	assert.Equal(t, "/api/complete", subs[0].Arguments[0].Data.(*model.AutocompleteDynamicListArg).FetchURL)
	assert.Equal(t, model.AutocompleteArgTypeText, subs[1].Arguments[0].Type)
	assert.Empty(t, subs[2].Arguments)

	api.On("RegisterCommand", mock.Anything).Return(model.NewAppError("", "", nil, "", http.StatusInternalServerError))
	assert.Error(t, RegisterCommand(api, line))
	args := &model.CommandArgs{UserId: user, ChannelId: channel, RootId: root, Command: "/filehost help", TriggerId: "t"}
	assert.Equal(t, filehost.Command{Place: filehost.Place{UserID: user, ChannelID: channel, RootID: root}, Text: "/filehost help", TriggerID: "t"}, NewCommand(args))
}
