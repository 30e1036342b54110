package mattermost

import (
	"errors"
	"net/http"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	botUser = "botaaaaaaaaaaaaaaaaaaaaaaa"
	direct  = "directaaaaaaaaaaaaaaaaaaaa"
)

// botWorld is a server on which the bot can talk with the user.
type botWorld struct {
	*plugintest.API
	account   *model.Bot
	ensureErr error
	getErr    *model.AppError
	posts     map[string]*model.Post
}

func newBotWorld() (*botWorld, *Bot) {
	w := &botWorld{API: &plugintest.API{}, posts: map[string]*model.Post{},
		account: &model.Bot{UserId: botUser, OwnerId: "filehost-attach", Username: BotUsername}}
	w.On("EnsureBotUser", mock.MatchedBy(func(bot *model.Bot) bool { return bot.Username == BotUsername && bot.DisplayName == "File Host Attach" })).
		Return(func(*model.Bot) (string, error) { return w.account.UserId, w.ensureErr })
	w.On("GetBot", mock.Anything, true).Return(func(string, bool) (*model.Bot, *model.AppError) { return w.account, w.getErr })
	w.On("GetDirectChannel", botUser, user).Return(&model.Channel{Id: direct}, nil)
	w.On("CreatePost", mock.Anything).Return(func(post *model.Post) (*model.Post, *model.AppError) {
		post.Id = root
		w.posts[root] = post.Clone()
		return post, nil
	})
	w.On("GetPost", mock.Anything).Return(func(id string) (*model.Post, *model.AppError) {
		if post := w.posts[id]; post != nil {
			return post.Clone(), nil
		}
		return nil, notFound()
	})
	w.On("UpdatePost", mock.Anything).Return(func(post *model.Post) (*model.Post, *model.AppError) {
		w.posts[post.Id] = post.Clone()
		return post, nil
	})
	return w, NewBot(BotConfig{API: w.API, PluginID: "filehost-attach", DisplayName: "File Host Attach", Actions: "/plugins/filehost-attach/api/actions"})
}

var asking = filehost.Message{Text: "Connect again.", Buttons: []filehost.Button{{Action: "connect", Label: "Connect again", HostID: "default"}, {Action: "code", Label: "Enter a code", HostID: "default"}}}

func TestTheBotSendsADirectMessageWithButtons(t *testing.T) {
	w, bot := newBotWorld()
	id, err := bot.Message(t.Context(), user, asking)
	require.NoError(t, err)
	post := w.posts[id]
	assert.Equal(t, "Connect again.", post.Message)
	assert.Equal(t, botUser, post.UserId)
	assert.Equal(t, direct, post.ChannelId)
	require.Len(t, post.Attachments(), 1)
	actions := post.Attachments()[0].Actions
	require.Len(t, actions, 2)
	assert.Equal(t, "/plugins/filehost-attach/api/actions/connect", actions[0].Integration.URL, "a path: it is called within the server")
	assert.Equal(t, map[string]any{"host": "default"}, actions[0].Integration.Context)
	for _, action := range actions {
		assert.NoError(t, action.IsValid())
	}
	w.AssertNumberOfCalls(t, "EnsureBotUser", 1)
	require.NoError(t, bot.Check(t.Context()))
	w.AssertNumberOfCalls(t, "EnsureBotUser", 1)
}

func TestAMessageLosesItsButtonsWhenItIsSettled(t *testing.T) {
	w, bot := newBotWorld()
	id, err := bot.Message(t.Context(), user, asking)
	require.NoError(t, err)
	require.NoError(t, bot.Edit(t.Context(), user, id, filehost.Message{Text: "You are connected."}))
	assert.Equal(t, "You are connected.", w.posts[id].Message)
	assert.Nil(t, w.posts[id].GetProp(model.PostPropsAttachments))
}

// TestTheBotEditsNoPostButItsOwn shows that an id that leads elsewhere changes nothing there.
func TestTheBotEditsNoPostButItsOwn(t *testing.T) {
	for name, post := range map[string]*model.Post{
		"of somebody else":    {Id: root, UserId: user, ChannelId: direct},
		"in another channel":  {Id: root, UserId: botUser, ChannelId: channel},
		"deleted":             {Id: root, UserId: botUser, ChannelId: direct, DeleteAt: 1},
		"that does not exist": nil,
	} {
		t.Run(name, func(t *testing.T) {
			w, bot := newBotWorld()
			w.posts[root] = post
			err := bot.Edit(t.Context(), user, root, filehost.Message{Text: "You are connected."})
			assert.Equal(t, filehost.NotFound, kindOf(err))
			w.AssertNotCalled(t, "UpdatePost", mock.Anything)
		})
	}
}

// TestNoAccountButThePluginsOwnIsUsed shows that a failure warns, and that the server's choice of an account that only has
// the name is not taken.
func TestNoAccountButThePluginsOwnIsUsed(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*botWorld)
		remedy string
	}{
		"none can be made":              {func(w *botWorld) { w.ensureErr = errors.New("no") }, "could not make"},
		"the name is a person's":        {func(w *botWorld) { w.getErr = notFound() }, "Rename"},
		"the name is another owner's":   {func(w *botWorld) { w.account.OwnerId = user }, "Rename"},
		"disabled":                      {func(w *botWorld) { w.account.DeleteAt = 1 }, "Enable it"},
		"the database can't be reached": {func(w *botWorld) { w.getErr = model.NewAppError("", "", nil, "", http.StatusInternalServerError) }, "could not look up"},
	} {
		t.Run(name, func(t *testing.T) {
			w, bot := newBotWorld()
			test.change(w)
			var degraded *filehost.Degraded
			require.ErrorAs(t, bot.Check(t.Context()), &degraded, "a warning, not a stop")
			assert.Contains(t, degraded.Remedy, test.remedy)
			assert.Contains(t, degraded.Remedy, "@filehost")
			_, err := bot.Message(t.Context(), user, asking)
			assert.Equal(t, filehost.NotConfigured, kindOf(err))
			assert.Error(t, bot.Edit(t.Context(), user, root, asking))
			w.AssertNotCalled(t, "CreatePost", mock.Anything)
		})
	}
}

func TestAMissingAccountIsMadeWhenItCanBe(t *testing.T) {
	w, bot := newBotWorld()
	w.ensureErr = errors.New("down")
	require.Error(t, bot.Check(t.Context()))
	w.ensureErr = nil
	require.NoError(t, bot.Check(t.Context()))
}

func TestADialogIsShownToWhoHasPressed(t *testing.T) {
	api := &plugintest.API{}
	var shown model.OpenDialogRequest
	api.On("OpenInteractiveDialog", mock.Anything).Return(func(request model.OpenDialogRequest) *model.AppError {
		shown = request
		if request.TriggerId == "old" {
			return model.NewAppError("", "", nil, "", http.StatusBadRequest)
		}
		return nil
	})
	server := New(Config{API: api, Actions: "/plugins/filehost-attach/api/actions"})
	code := filehost.Dialog{TriggerID: "trigger", Action: "confirm", State: "default", Title: "Enter a code", Text: "Type it.", Field: filehost.DialogField{Name: "code", Label: "Code"}}
	require.NoError(t, server.Ask(t.Context(), code))
	assert.Equal(t, "trigger", shown.TriggerId)
	assert.Equal(t, "/plugins/filehost-attach/api/actions/confirm", shown.URL)
	assert.Equal(t, "default", shown.Dialog.State)
	assert.Equal(t, "text", shown.Dialog.Elements[0].Type)
	require.NoError(t, shown.IsValid())

	choice := code
	choice.Field = filehost.DialogField{Name: "account", Label: "Account", Options: []filehost.DialogOption{{Value: "mine", Label: "Mine"}, {Value: "others", Label: "Not mine"}}}
	require.NoError(t, server.Ask(t.Context(), choice))
	assert.Equal(t, "radio", shown.Dialog.Elements[0].Type)
	require.NoError(t, shown.IsValid())

	code.TriggerID = "old"
	assert.Equal(t, filehost.InvalidRequest, kindOf(server.Ask(t.Context(), code)))
}
