package api

import (
	"net/http"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// CompletePath is the route, below the plugin's own, that Mattermost asks to complete what is typed.
const CompletePath = "/api/complete"

// commandPressBody is what the route reads of a press of a button of an answer to the slash command.
type commandPressBody struct {
	ChannelID string `json:"channel_id"`
	PostID    string `json:"post_id"`
	TriggerID string `json:"trigger_id"`
	Context   struct {
		Host     string `json:"host"`
		Token    string `json:"token"`
		Selected string `json:"selected_option"`
	} `json:"context"`
}

// actionCommand serves POST /actions/command. The outcome is shown in the place of the message with the button.
func (h *Handler) actionCommand(r *request) (response, error) {
	var body commandPressBody
	if err := decodeAction(r, &body); err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(body.Context.Host)
	if err != nil {
		return response{}, err
	}
	h.Commands.Press(r.ctx, service, filehost.Press{UserID: r.userID, ChannelID: body.ChannelID, PostID: body.PostID, TriggerID: body.TriggerID,
		Token: body.Context.Token, Selected: body.Context.Selected})
	return response{status: http.StatusOK, body: pressedBody{Raw: true}}, nil
}

// suggestionBody is a suggestion as Mattermost reads it.
type suggestionBody struct {
	Item     string
	Hint     string
	HelpText string
}

// completeParameters are all that Mattermost tells of a command that is being typed. Who types stands in its header.
var completeParameters = []string{"user_input", "parsed", "request_id", "session_id", "ip_address", "accept_language", "user_agent",
	"channel_id", "team_id", "root_id", "user_id", "site_url"}

// complete serves GET /complete. Where nothing can be offered, nothing is: the command itself says why.
func (h *Handler) complete(r *request) (response, error) {
	q := newQuery(r, completeParameters...)
	input := q.one("user_input", "")
	if q.err != nil {
		return response{}, q.err
	}
	service, err := r.service()
	if err != nil {
		return response{}, err
	}
	suggestions, err := h.Commands.Complete(r.ctx, service, r.userID, input)
	if err != nil {
		h.told(r, err)
	}
	answer := []suggestionBody{}
	for _, suggestion := range suggestions {
		answer = append(answer, suggestionBody{Item: suggestion.Text, HelpText: suggestion.Help})
	}
	return response{status: http.StatusOK, body: answer}, nil
}
