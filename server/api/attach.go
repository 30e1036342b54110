package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

type attachBody struct {
	ChannelID string     `json:"channel_id"`
	RootID    string     `json:"root_id"`
	Message   string     `json:"message"`
	Items     []itemBody `json:"items"`
	As        string     `json:"as"`
	Link      *linkBody  `json:"link"`
	DryRun    bool       `json:"dry_run"`
	Host      string     `json:"host"`
}

type itemBody struct {
	Path string `json:"path"`
	ID   string `json:"id"`
	ETag string `json:"etag"`
}

type attachedBody struct {
	PostID    string             `json:"post_id,omitempty"`
	FileInfos []json.RawMessage  `json:"file_infos,omitempty"`
	Items     []attachedItemBody `json:"items"`
	Audience  *audienceBody      `json:"audience,omitempty"`
	Grants    []grantBody        `json:"grants,omitempty"`
}

type attachedItemBody struct {
	ID     string      `json:"id,omitempty"`
	Path   string      `json:"path"`
	Name   string      `json:"name"`
	Size   int64       `json:"size"`
	FileID string      `json:"file_id,omitempty"`
	Link   *linkedBody `json:"link,omitempty"`
	Error  *errorBody  `json:"error,omitempty"`
}

// attach serves POST /attach.
func (h *Handler) attach(r *request) (response, error) {
	body := attachBody{As: "copy"}
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
	answer := attachedBody{PostID: attached.PostID, FileInfos: attached.FileInfos, Items: make([]attachedItemBody, len(attached.Items)),
		Audience: newAudience(attached.Audience), Grants: h.newGrants(r, attached.Grants)}
	linked := 0
	for i, item := range attached.Items {
		answer.Items[i] = h.newAttachedItem(r, item)
		if link := answer.Items[i].Link; link != nil {
			if attached.PostID != "" && link.Audience == audiencePublic {
				link.ID = filehost.LinkID(attached.PostID, linked)
			}
			linked++
		}
	}
	status := http.StatusCreated
	if attachment.DryRun {
		status = http.StatusOK
	}
	return response{status: status, body: answer}, nil
}

func (b *attachBody) read(r *request) (filehost.Attachment, error) {
	key, err := readIdempotencyKey(r.Header)
	attachment := filehost.Attachment{ChannelID: b.ChannelID, RootID: b.RootID, Message: b.Message, Draft: b.As == "draft", DryRun: b.DryRun, IdempotencyKey: key}
	switch {
	case err != nil:
		return attachment, err
	case b.As != "copy" && b.As != "draft" && b.As != "link":
		return attachment, filehost.Invalid("as", "as must be copy, link or draft.")
	case b.Link != nil && b.As != "link":
		return attachment, filehost.Invalid("link", "link says more of as: link; leave it out of a copy or a draft.")
	case attachment.Draft && b.Message != "":
		return attachment, filehost.Invalid("message", "A draft takes no message; write it in the post that you make of the files.")
	}
	if b.As == "link" {
		if attachment.Link, err = b.Link.read(); err != nil {
			return attachment, err
		}
	}
	for i, item := range b.Items {
		field := "items[" + strconv.Itoa(i) + "]"
		if item.Path == "" && item.ID == "" {
			return attachment, filehost.Invalid(field, "Each item needs a path or an id.")
		}
		ref, err := readRef(field+".", item.Path, item.ID)
		if err != nil {
			return attachment, err
		}
		attachment.Items = append(attachment.Items, filehost.Item{Path: ref.Path, HostID: ref.HostID, ETag: item.ETag})
	}
	return attachment, nil
}

// maxKey is the longest Idempotency-Key, in bytes.
const maxKey = 255

// readIdempotencyKey returns the key of a request (draft-ietf-httpapi-idempotency-key-header-07, with the key as a plain
// text), or "".
func readIdempotencyKey(header http.Header) (string, error) {
	const name = "Idempotency-Key"
	keys := header.Values(name)
	switch {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1:
		return "", filehost.Invalid(name, "Idempotency-Key is given more than once.")
	case keys[0] == "" || len(keys[0]) > maxKey || strings.ContainsFunc(keys[0], func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", &filehost.Error{Kind: filehost.InvalidRequest, Field: name, Limit: maxKey, Message: "Idempotency-Key must have 1 to 255 visible ASCII characters."}
	}
	return keys[0], nil
}

func (h *Handler) newAttachedItem(r *request, item filehost.AttachedItem) attachedItemBody {
	body := attachedItemBody{Path: item.Path.String(), Name: item.Name, Size: item.Size, FileID: item.FileID, Link: newLinked(item.Link, item.Password)}
	if item.HostID != "" {
		body.ID = filehost.Ref{HostID: item.HostID}.ID()
		if item.Path.IsRoot() { // it was not found
			body.Path = ""
		}
	}
	if item.Err != nil {
		described := h.describe(r, item.Err)
		h.log(r, described, item.Err)
		body.FileID, body.Link, body.Error = "", nil, &described
	}
	return body
}
