package api

import (
	"net/http"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

type attachBody struct {
	ChannelID string     `json:"channel_id"`
	RootID    string     `json:"root_id"`
	Message   string     `json:"message"`
	Items     []itemBody `json:"items"`
	As        string     `json:"as"`
	Link      any        `json:"link"`
	DryRun    bool       `json:"dry_run"`
	Host      string     `json:"host"`
}

type itemBody struct {
	Path string `json:"path"`
	ID   string `json:"id"`
	ETag string `json:"etag"`
}

type attachedBody struct {
	PostID string             `json:"post_id"`
	Items  []attachedItemBody `json:"items"`
}

type attachedItemBody struct {
	Path   string     `json:"path"`
	Name   string     `json:"name"`
	Size   int64      `json:"size"`
	FileID string     `json:"file_id,omitempty"`
	Error  *errorBody `json:"error,omitempty"`
}

// attach serves POST /attach.
func (h *Handler) attach(r *request) (response, error) {
	var body attachBody
	if err := decodeBody(r, &body); err != nil {
		return response{}, err
	}
	attachment, err := body.read(r)
	if err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(body.Host)
	if err != nil {
		return response{}, err
	}
	attached, err := service.Attach(r.ctx, r.userID, attachment)
	if err != nil {
		return response{}, err
	}
	answer := attachedBody{PostID: attached.PostID, Items: make([]attachedItemBody, len(attached.Items))}
	for i, item := range attached.Items {
		answer.Items[i] = h.newAttachedItem(r, item)
	}
	return response{status: http.StatusCreated, body: answer}, nil
}

// read refuses what this version can't do instead of ignoring it: a caller relies on what he asks for.
func (b *attachBody) read(r *request) (filehost.Attachment, error) {
	attachment := filehost.Attachment{ChannelID: b.ChannelID, RootID: b.RootID, Message: b.Message}
	switch {
	case b.As == "link" || b.As == "draft":
		return attachment, notYet("as", "Files can be attached as a copy only.")
	case b.As != "" && b.As != "copy":
		return attachment, filehost.Invalid("as", "as must be copy, link or draft.")
	case b.Link != nil:
		return attachment, notYet("link", "Files can be attached as a copy only.")
	case b.DryRun:
		return attachment, notYet("dry_run", "A dry run is not supported.")
	case r.Header.Get("Idempotency-Key") != "":
		return attachment, notYet("Idempotency-Key", "Idempotency keys are not supported.")
	}
	for _, item := range b.Items {
		if item.Path == "" && item.ID == "" {
			return attachment, filehost.Invalid("items", "Each item needs a path or an id.")
		}
		path, err := readPath("items", item.Path, item.ID)
		if err != nil {
			return attachment, err
		}
		attachment.Items = append(attachment.Items, filehost.Item{Path: path, ETag: item.ETag})
	}
	return attachment, nil
}

func (h *Handler) newAttachedItem(r *request, item filehost.AttachedItem) attachedItemBody {
	body := attachedItemBody{Path: item.Path.String(), Name: item.Name, Size: item.Size, FileID: item.FileID}
	if item.Err != nil {
		described := h.describe(r, item.Err)
		h.log(r, described, item.Err)
		body.FileID, body.Error = "", &described
	}
	return body
}
