package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// ActionsPath is where the routes lie that Mattermost calls for a button or a dialog, as the user who has pressed it.
const ActionsPath = Base + "/actions"

// pressBody is what the routes read of what Mattermost sends. Who has pressed stands in Mattermost's header, as for every
// route, and the rest is anybody's to forge: whoever may post a message may give it a button that calls these routes.
type pressBody struct {
	TriggerID string `json:"trigger_id"`
	Context   struct {
		Host string `json:"host"`
	} `json:"context"`
}

// submissionBody is the same of a dialog.
type submissionBody struct {
	State      string `json:"state"`
	Submission struct {
		Code    string `json:"code"`
		Account string `json:"account"`
	} `json:"submission"`
}

// pressedBody answers a press: with a message that only the user who pressed sees, and that is kept nowhere.
type pressedBody struct {
	Text string `json:"ephemeral_text,omitempty"`
	Raw  bool   `json:"skip_slack_parsing"` // the text is Markdown already
}

// submittedBody answers a dialog. The dialog stays open when there is an error.
type submittedBody struct {
	Error  string            `json:"error,omitempty"`  // of the whole
	Errors map[string]string `json:"errors,omitempty"` // by field
}

// decodeAction reads the body of a press or a dialog. Its fields are Mattermost's, which adds some with its versions, so
// unknown ones are passed over, and for its own plugins it sends no Content-Type.
func decodeAction(r *request, into any) error {
	if q := newQuery(r); q.err != nil {
		return q.err
	}
	return bodyError(json.UnmarshalRead(http.MaxBytesReader(nil, r.Body, maxBody), into))
}

// actionConnect serves POST /actions/connect: the button that begins a sign-in.
func (h *Handler) actionConnect(r *request) (response, error) {
	var body pressBody
	if err := decodeAction(r, &body); err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(body.Context.Host)
	if err != nil {
		return response{}, err
	}
	text, err := service.Resume(r.ctx, r.userID, body.TriggerID)
	if err != nil {
		text = h.told(r, err).Message
	}
	return response{status: http.StatusOK, body: pressedBody{Text: text, Raw: true}}, nil
}

// actionCode serves POST /actions/code: the button that asks for the code of a sign-in whose browser had no session.
func (h *Handler) actionCode(r *request) (response, error) {
	var body pressBody
	if err := decodeAction(r, &body); err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(body.Context.Host)
	if err != nil {
		return response{}, err
	}
	answer := pressedBody{Raw: true}
	if err = service.AskCode(r.ctx, body.TriggerID); err != nil {
		answer.Text = h.told(r, err).Message
	}
	return response{status: http.StatusOK, body: answer}, nil
}

// actionConfirm serves POST /actions/confirm: the dialog with the code.
func (h *Handler) actionConfirm(r *request) (response, error) {
	var body submissionBody
	if err := decodeAction(r, &body); err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(body.State)
	if err != nil {
		return response{}, err
	}
	var answer submittedBody
	var wrong *filehost.Error
	switch err = service.Confirm(r.ctx, r.userID, body.Submission.Code); {
	case err == nil:
	case errors.As(err, &wrong) && wrong.Kind == filehost.InvalidRequest && wrong.Field == "confirm":
		answer.Errors = map[string]string{filehost.FieldCode: h.told(r, err).Message}
	default:
		answer.Error = h.told(r, err).Message
	}
	return response{status: http.StatusOK, body: answer}, nil
}

// actionAccount serves POST /actions/account: the dialog that shows an account.
func (h *Handler) actionAccount(r *request) (response, error) {
	var body submissionBody
	if err := decodeAction(r, &body); err != nil {
		return response{}, err
	}
	host, account, _ := strings.Cut(body.State, " ")
	service, err := r.serviceFor(host)
	if err != nil {
		return response{}, err
	}
	said := body.Submission.Account
	if said != filehost.AccountMine && said != filehost.AccountOthers {
		return response{status: http.StatusOK, body: submittedBody{Errors: map[string]string{filehost.FieldAccount: "Choose one."}}}, nil
	}
	var answer submittedBody
	if err = service.AcceptShown(r.ctx, r.userID, account, said == filehost.AccountMine); err != nil {
		answer.Error = h.told(r, err).Message
	}
	return response{status: http.StatusOK, body: answer}, nil
}

// told is an error that Mattermost shows to the user as text: of an answer other than 200 it would show none of ours.
func (h *Handler) told(r *request, err error) errorBody {
	described := h.describe(r, err)
	h.log(r, described, err)
	return described
}
