package api

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// commands keeps what the routes hand to the slash command.
type commands struct {
	pressed []filehost.Press
	typed   []string
	fail    error
}

func (c *commands) Press(_ context.Context, _ *filehost.Service, press filehost.Press) {
	c.pressed = append(c.pressed, press)
}

func (c *commands) Complete(_ context.Context, _ *filehost.Service, userID, input string) ([]filehost.Suggestion, error) {
	c.typed = append(c.typed, userID+": "+input)
	return []filehost.Suggestion{{Text: "/a b", Help: "5 B"}}, c.fail
}

func TestAPressOfACommandsButtonIsOfWhoHasPressed(t *testing.T) {
	w := newWorld(t)
	body := `{"user_id":"` + alice + `","channel_id":"` + channel + `","post_id":"p","trigger_id":"t","type":"select","context":{"host":"default","token":"sealed","selected_option":"7"}}`
	assert.JSONEq(t, `{"skip_slack_parsing":true}`, w.call(t, bob, http.MethodPost, "/actions/command", body).Body.String())
	assert.Equal(t, []filehost.Press{{UserID: bob, ChannelID: channel, PostID: "p", TriggerID: "t", Token: "sealed", Selected: "7"}}, w.commands.pressed)
	f := failureOf(t, w.call(t, bob, http.MethodPost, "/actions/command", `{"context":{"host":"other"}}`))
	assert.Equal(t, "invalid_request", f.Code)
}

func TestWhatIsTypedIsCompletedForWhoTypes(t *testing.T) {
	w := newWorld(t)
	target := "/complete?user_input=filehost+attach+%2Fa&parsed=filehost+attach+&request_id=r&session_id=s&ip_address=&accept_language=&user_agent=&channel_id=c&team_id=t&root_id=&user_id=" + alice + "&site_url=x"
	assert.JSONEq(t, `[{"Item":"/a b","Hint":"","HelpText":"5 B"}]`, w.call(t, bob, http.MethodGet, target, "").Body.String())
	assert.Equal(t, []string{bob + ": filehost attach /a"}, w.commands.typed)
	w.commands.fail = errors.New("down")
	assert.Equal(t, http.StatusOK, w.call(t, bob, http.MethodGet, target, "").Code)
}
