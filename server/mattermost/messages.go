package mattermost

import (
	"context"
	"net/http"
	"strconv"
	"sync"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// BotUsername is the user name of the plugin's bot.
const BotUsername = "filehost"

// BotConfig is what a Bot works with. All of it is required.
type BotConfig struct {
	API         plugin.API
	PluginID    string // who must own the account
	DisplayName string
	Actions     string // path of the routes behind buttons, below the site's subpath
}

// Bot implements filehost.Bot and filehost.Answers. The account is made when it is first needed. It is safe for concurrent use.
type Bot struct {
	BotConfig
	mu sync.Mutex
	id string // of the user with the bot's name; "" until there is one
}

// NewBot returns the bot. It calls nobody.
func NewBot(config BotConfig) *Bot { return &Bot{BotConfig: config} }

// Check implements filehost.Bot. It makes the account when there is none.
func (b *Bot) Check(context.Context) error {
	if _, err := b.account(); err != nil {
		return &filehost.Degraded{Remedy: err.Message, Err: err}
	}
	return nil
}

// account returns the id of the bot's user, or NotConfigured with a remedy for the admin. The server takes whatever account
// has the name: who owns another one could put words into the plugin's mouth, so it is not used.
func (b *Bot) account() (string, *filehost.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	unusable := func(remedy string, cause error) *filehost.Error {
		return filehost.E(filehost.NotConfigured, "Nobody is reminded to connect again when his connection has ended: "+remedy, cause)
	}
	if b.id == "" {
		id, err := b.API.EnsureBotUser(&model.Bot{Username: BotUsername, DisplayName: b.DisplayName,
			Description: "Asks users to connect their files again when the file host has ended their sign-in."})
		if err != nil || id == "" {
			return "", unusable("Mattermost could not make the bot account @"+BotUsername+". Look for the reason in its log.", err)
		}
		b.id = id
	}
	bot, appErr := b.API.GetBot(b.id, true)
	switch {
	case appErr != nil && appErr.StatusCode != http.StatusNotFound:
		return "", unusable("Mattermost could not look up the bot account @"+BotUsername+". Look for the reason in its log.", appErr)
	case appErr != nil, bot == nil, bot.OwnerId != b.PluginID:
		return "", unusable("the name @"+BotUsername+" belongs to an account that is not the plugin's. Rename that account, then disable and enable the plugin.", nil)
	case bot.DeleteAt != 0:
		return "", unusable("the bot account @"+BotUsername+" is disabled. Enable it under Integrations, Bot Accounts, or leave it so if you want no such messages.", nil)
	}
	return b.id, nil
}

// Message implements filehost.Bot.
func (b *Bot) Message(_ context.Context, userID string, message filehost.Message) (string, error) {
	bot, channel, err := b.channel(userID)
	if err != nil {
		return "", err
	}
	post := &model.Post{UserId: bot, ChannelId: channel}
	b.fill(post, message)
	created, appErr := b.API.CreatePost(post)
	switch {
	case appErr != nil:
		return "", errors.Wrap(appErr, "send a direct message")
	case created == nil:
		return "", errNoAnswer
	}
	return created.Id, nil
}

// Edit implements filehost.Bot. Anybody may post what looks like a message of the bot's, so its author and channel are
// compared.
func (b *Bot) Edit(_ context.Context, userID, postID string, message filehost.Message) error {
	bot, channel, err := b.channel(userID)
	if err != nil {
		return err
	}
	post, appErr := b.API.GetPost(postID)
	switch {
	case appErr != nil:
		return classify(appErr, "The message could not be read.")
	case post == nil:
		return errNoAnswer
	case post.UserId != bot || post.ChannelId != channel || post.DeleteAt != 0:
		return filehost.E(filehost.NotFound, "There is no such message of the bot's.", nil)
	}
	b.fill(post, message)
	if _, appErr = b.API.UpdatePost(post); appErr != nil {
		return classify(appErr, "The message could not be changed.")
	}
	return nil
}

// channel returns the bot's user and the channel in which it talks with a user.
func (b *Bot) channel(userID string) (bot, channel string, err error) {
	bot, unusable := b.account()
	if unusable != nil {
		return "", "", unusable
	}
	direct, appErr := b.API.GetDirectChannel(bot, userID)
	switch {
	case appErr != nil:
		return "", "", errors.Wrap(appErr, "open a direct channel")
	case direct == nil:
		return "", "", errNoAnswer
	}
	return bot, direct.Id, nil
}

// fill puts a message into a post. Mattermost calls the route of a button itself, with the session of who has pressed it: a
// path without a host needs no way out of the server and back.
func (b *Bot) fill(post *model.Post, message filehost.Message) {
	post.Message = message.Text
	post.DelProp(model.PostPropsAttachments)
	if len(message.Buttons)+len(message.Menus) == 0 {
		return
	}
	attachment := &model.MessageAttachment{}
	for _, menu := range message.Menus {
		action := b.action(menu.Button, len(attachment.Actions))
		action.Type = model.PostActionTypeSelect
		for _, option := range menu.Options {
			action.Options = append(action.Options, &model.PostActionOptions{Text: option.Label, Value: option.Value})
		}
		attachment.Actions = append(attachment.Actions, action)
	}
	for i, button := range message.Buttons {
		action := b.action(button, len(attachment.Actions))
		if i == 0 {
			action.Style = "primary"
		}
		attachment.Actions = append(attachment.Actions, action)
	}
	post.AddProp(model.PostPropsAttachments, []*model.MessageAttachment{attachment})
}

// action is a button as Mattermost has it. Those with a token may be several of one kind: their ids tell their places.
func (b *Bot) action(button filehost.Button, place int) *model.PostAction {
	action := &model.PostAction{Id: button.Action, Type: model.PostActionTypeButton, Name: button.Label, Style: "default",
		Integration: &model.PostActionIntegration{URL: b.Actions + "/" + button.Action, Context: map[string]any{"host": button.HostID}}}
	if button.Token != "" {
		action.Id += strconv.Itoa(place)
		action.Integration.Context["token"] = button.Token
	}
	return action
}

// Show implements filehost.Answers.
func (b *Bot) Show(_ context.Context, place filehost.Place, message filehost.Message) error {
	post := b.newAnswer(place, message)
	if b.API.SendEphemeralPost(place.UserID, post) == nil {
		return errNoAnswer
	}
	return nil
}

// Replace implements filehost.Answers. Only the user's own clients are told, whichever post he names.
func (b *Bot) Replace(_ context.Context, place filehost.Place, postID string, message filehost.Message) error {
	if !model.IsValidId(postID) {
		return filehost.Invalid("post_id", "post_id must be the id of a post.")
	}
	post := b.newAnswer(place, message)
	post.Id = postID
	if b.API.UpdateEphemeralPost(place.UserID, post) == nil {
		return errNoAnswer
	}
	return nil
}

// newAnswer is from the bot, or from the user himself while there is no bot.
func (b *Bot) newAnswer(place filehost.Place, message filehost.Message) *model.Post {
	author, unusable := b.account()
	if unusable != nil {
		author = place.UserID
	}
	post := &model.Post{UserId: author, ChannelId: place.ChannelID, RootId: place.RootID, CreateAt: model.GetMillis()}
	b.fill(post, message)
	return post
}

// Ask implements filehost.Mattermost.
func (s *Server) Ask(_ context.Context, dialog filehost.Dialog) error {
	element := model.DialogElement{Name: dialog.Field.Name, DisplayName: dialog.Field.Label, Placeholder: dialog.Field.Placeholder, Type: "text", MaxLength: 20}
	if len(dialog.Field.Options) > 0 {
		element.Type, element.MaxLength = "radio", 0
		for _, option := range dialog.Field.Options {
			element.Options = append(element.Options, &model.PostActionOptions{Text: option.Label, Value: option.Value})
		}
	}
	appErr := s.API.OpenInteractiveDialog(model.OpenDialogRequest{
		TriggerId: dialog.TriggerID,
		URL:       s.Actions + "/" + dialog.Action,
		Dialog: model.Dialog{CallbackId: dialog.Action, State: dialog.State, Title: dialog.Title, IntroductionText: dialog.Text,
			SubmitLabel: "OK", Elements: []model.DialogElement{element}},
	})
	switch {
	case appErr == nil:
		return nil
	case appErr.StatusCode == http.StatusBadRequest:
		return filehost.Invalid("trigger_id", "This press of a button is too old; press it again.")
	}
	return classify(appErr, "Mattermost could not show the dialog.")
}
