package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// pressed is what Mattermost sends for a button: it says who has pressed in its header, and the rest is in the post.
const pressed = `{"user_id":"` + alice + `","user_name":"alice","channel_id":"` + channel + `","channel_name":"c","team_id":"","team_domain":"",` +
	`"post_id":"` + channel + `","trigger_id":"trigger","type":"","data_source":"","context":{"host":"default","user_id":"` + alice + `"},"new_field":1}`

func TestAPressBeginsTheSignInOfWhoHasPressed(t *testing.T) {
	w := newWorld(t)
	recorder := w.call(t, bob, http.MethodPost, "/actions/connect", pressed)
	assert.Equal(t, http.StatusOK, recorder.Code)
	assert.Contains(t, recorder.Body.String(), `"ephemeral_text":"[Sign in](https://login.example.com/authorize?state=state) to connect`)
	assert.Contains(t, recorder.Body.String(), `"skip_slack_parsing":true`)
	assert.Equal(t, []string{bob}, w.tokens.Begun(), "never of who the message was for")
}

func TestAPressAnswersWithTheCodesDialog(t *testing.T) {
	w := newWorld(t)
	assert.JSONEq(t, `{"skip_slack_parsing":true}`, w.call(t, bob, http.MethodPost, "/actions/code", pressed).Body.String())
	asked := w.mattermost.Asked()
	if assert.Len(t, asked, 1) {
		assert.Equal(t, "trigger", asked[0].TriggerID)
		assert.Equal(t, "default", asked[0].State)
		assert.Equal(t, "confirm", asked[0].Action)
		assert.LessOrEqual(t, len(asked[0].Title), 24, "Mattermost's limit")
	}
	assert.Contains(t, w.call(t, bob, http.MethodPost, "/actions/code", `{"trigger_id":"old"}`).Body.String(), "too old")
}

func TestTheDialogConfirmsForWhoTypes(t *testing.T) {
	w := newWorld(t)
	w.tokens.BeginConfirm(bob)
	submit := func(caller, code string) string {
		body := `{"type":"dialog_submission","callback_id":"confirm","state":"default","user_id":"` + bob + `","channel_id":"","team_id":"","submission":{"code":"` + code + `"},"cancelled":false}`
		return w.call(t, caller, http.MethodPost, "/actions/confirm", body).Body.String()
	}
	assert.JSONEq(t, `{"errors":{"code":"The code is not the one shown."}}`, submit(bob, "WRONG"))
	assert.JSONEq(t, `{"errors":{"code":"The code is not the one shown."}}`, submit(alice, "ABCD-EFGH"))
	assert.Empty(t, w.mattermost.Changed())
	assert.JSONEq(t, `{}`, submit(bob, "ABCD-EFGH"))
	assert.Equal(t, []string{bob}, w.mattermost.Changed())
}

func TestTheDialogDecidesOnTheAccountThatItShows(t *testing.T) {
	w := newWorld(t)
	w.tokens.Offer(bob, filehost.Pending{Account: "b o b"})
	assert.JSONEq(t, `{"skip_slack_parsing":true}`, w.call(t, bob, http.MethodPost, "/actions/connect", pressed).Body.String())
	submit := func(caller, account, said string) string {
		return w.call(t, caller, http.MethodPost, "/actions/account", `{"state":"default `+account+`","submission":{"account":"`+said+`"}}`).Body.String()
	}
	assert.JSONEq(t, `{"errors":{"account":"Choose one."}}`, submit(bob, "b o b", ""))
	assert.Contains(t, submit(bob, "other", "mine"), `{"error":"You have signed in with another account since.`)
	assert.Contains(t, submit(alice, "b o b", "mine"), `"error"`, "it is not hers")
	assert.Empty(t, w.mattermost.Changed())
	assert.JSONEq(t, `{}`, submit(bob, w.mattermost.Asked()[0].State[len("default "):], "mine"))
	assert.Equal(t, []string{bob}, w.mattermost.Changed())
	connection, err := w.tokens.Connection(t.Context(), bob)
	assert.NoError(t, err)
	assert.Equal(t, filehost.Connected, connection.State)
	w.tokens.Offer(alice, filehost.Pending{Account: "mallory"})
	assert.JSONEq(t, `{}`, submit(alice, "mallory", "others"))
	assert.Contains(t, submit(alice, "mallory", "mine"), `"error"`, "it is forgotten")
}

// TestAFailureBehindAButtonIsToldInWords shows that the user reads what went wrong: of any status but 200 Mattermost shows
// a text of its own.
func TestAFailureBehindAButtonIsToldInWords(t *testing.T) {
	w := newWorld(t)
	w.runtime.Service.NoReturn = true
	recorder := w.call(t, bob, http.MethodPost, "/actions/connect", pressed)
	assert.Equal(t, http.StatusOK, recorder.Code)
	assert.Contains(t, recorder.Body.String(), "Site URL")
	const unknown = "unknownuseraaaaaaaaaaaaaaa"
	body := w.call(t, unknown, http.MethodPost, "/actions/confirm", `{"submission":{"code":"ABCD-EFGH"}}`).Body.String()
	assert.JSONEq(t, `{"error":"There is no such user."}`, body)
}

func TestWhatMattermostDoesNotSendIsRefused(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		``: "invalid_request body", `[]`: "invalid_request body", `{"context":{"host":"other"}}`: "invalid_request host",
		`{"context":{"host":5}}`: "invalid_request context.host", `{"trigger_id":{}}`: "invalid_request trigger_id",
	} {
		for _, target := range []string{"/actions/connect", "/actions/code"} {
			f := failureOf(t, w.call(t, bob, http.MethodPost, target, body))
			assert.Equal(t, want, f.Code+" "+f.Details.Field, body)
		}
	}
	f := failureOf(t, w.call(t, bob, http.MethodPost, "/actions/confirm", `{"submission":{"code":["ABCD-EFGH"]}}`))
	assert.Equal(t, "submission.code", f.Details.Field)
	assert.Equal(t, "host", failureOf(t, w.call(t, bob, http.MethodPost, "/actions/confirm", `{"state":"other"}`)).Details.Field)
	assert.Empty(t, w.tokens.Begun())
}

// TestAForgedButtonCallsNoOtherRoute shows that a message of anybody's, whose button or dialog calls another route with the
// session of who presses, gets nothing: those routes take no body of Mattermost's.
func TestAForgedButtonCallsNoOtherRoute(t *testing.T) {
	w := newWorld(t)
	w.tokens.Connect(bob)
	for _, route := range routes {
		if route.method != http.MethodPost || len(route.path) > len("/api/actions/") && route.path[:len("/api/actions/")] == "/api/actions/" {
			continue
		}
		for _, contentType := range []string{"", "application/json"} {
			f := failureOf(t, w.call(t, bob, route.method, route.path[len("/api"):], pressed, "Content-Type", contentType))
			assert.Equal(t, "invalid_request", f.Code, route.path)
		}
	}
	assert.Empty(t, w.tokens.Begun())
	assert.Empty(t, w.mattermost.Changed())
	assert.Empty(t, w.mattermost.Posts())
	connection, err := w.tokens.Connection(t.Context(), bob)
	assert.NoError(t, err)
	assert.Equal(t, filehost.Connected, connection.State)
}
