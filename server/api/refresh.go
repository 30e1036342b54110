package api

import (
	"net/http"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

type refreshBody struct {
	PostID string `json:"post_id"`
	DryRun bool   `json:"dry_run"`
	Host   string `json:"host"`
}

type refreshedBody struct {
	PostID  string              `json:"post_id"`
	ReplyID string              `json:"reply_id,omitempty"`
	Items   []refreshedItemBody `json:"items"`
}

type refreshedItemBody struct {
	Name   string             `json:"name"`
	State  filehost.Freshness `json:"state"`
	Before versionBody        `json:"before"`
	After  *versionBody       `json:"after,omitempty"`
	FileID string             `json:"file_id,omitempty"`
	Error  *errorBody         `json:"error,omitempty"`
}

type versionBody struct {
	Name       string     `json:"name"`
	Path       string     `json:"path,omitempty"`
	Size       int64      `json:"size"`
	ModifiedAt *time.Time `json:"modified_at"`
}

// refresh serves POST /refresh.
func (h *Handler) refresh(r *request) (response, error) {
	var body refreshBody
	if err := decodeBody(r, &body); err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(body.Host)
	if err != nil {
		return response{}, err
	}
	refreshed, err := service.Refresh(r.ctx, r.userID, body.PostID, body.DryRun)
	if err != nil {
		return response{}, err
	}
	answer := refreshedBody{PostID: refreshed.PostID, ReplyID: refreshed.ReplyID, Items: make([]refreshedItemBody, len(refreshed.Items))}
	for i, item := range refreshed.Items {
		answer.Items[i] = h.newRefreshedItem(r, item)
	}
	return response{status: http.StatusOK, body: answer}, nil
}

func (h *Handler) newRefreshedItem(r *request, item filehost.RefreshedItem) refreshedItemBody {
	body := refreshedItemBody{Name: item.Name, State: item.State, Before: newVersion(item.Before), FileID: item.FileID}
	if item.After != nil {
		after := newVersion(*item.After)
		body.After = &after
	}
	if item.Err != nil {
		described := h.told(r, item.Err)
		body.FileID, body.Error = "", &described
	}
	return body
}

func newVersion(version filehost.Version) versionBody {
	body := versionBody{Name: version.Name, Size: version.Size}
	if version.Path != nil {
		body.Path = version.Path.String()
	}
	if !version.ModifiedAt.IsZero() {
		body.ModifiedAt = &version.ModifiedAt
	}
	return body
}
