package api

import (
	"net/http"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// entryBody is a file or a folder.
type entryBody struct {
	ID           string                `json:"id"`
	Name         string                `json:"name"`
	Path         string                `json:"path"`
	Kind         filehost.EntryKind    `json:"kind"`
	Size         int64                 `json:"size"`
	MIMEType     string                `json:"mime_type"`
	ModifiedAt   *time.Time            `json:"modified_at"`
	ETag         string                `json:"etag,omitempty"`
	Permissions  []filehost.Permission `json:"permissions"`
	Favorite     *bool                 `json:"favorite,omitempty"`
	Shared       *bool                 `json:"shared,omitempty"`
	HasThumbnail bool                  `json:"has_thumbnail"`
	WebURL       string                `json:"web_url,omitempty"`
}

type pageBody struct {
	Folder       entryBody             `json:"folder"`
	Entries      []entryBody           `json:"entries"`
	NextCursor   string                `json:"next_cursor,omitempty"`
	Total        *int                  `json:"total,omitempty"`
	Capabilities filehost.Capabilities `json:"capabilities"`
}

// files serves GET /files.
func (h *Handler) files(r *request) (response, error) {
	listing, host, err := readListing(r)
	if err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(host)
	if err != nil {
		return response{}, err
	}
	page, err := service.Browse(r.ctx, r.userID, listing)
	if err != nil {
		return response{}, err
	}
	body, contentType, err := response{body: newPageBody(service.Host, page)}.encode()
	if err != nil {
		return response{}, err
	}
	answer := response{status: http.StatusOK, body: body, contentType: contentType, header: http.Header{
		"Cache-Control": {"private, no-cache"},
		"Etag":          {filesTag(body, page.NextCursor, page.State, r.Header.Values("Accept-Language"))},
		"Vary":          {varyFiles},
	}}
	return answer.unlessKnown(r.Request), nil
}

func newPageBody(host filehost.Host, page filehost.Page) pageBody {
	body := pageBody{Folder: newEntry(host, page.Folder), Entries: make([]entryBody, len(page.Entries)),
		NextCursor: page.NextCursor, Total: page.Total, Capabilities: page.Capabilities}
	for i, entry := range page.Entries {
		body.Entries[i] = newEntry(host, entry)
	}
	return body
}

func readListing(r *request) (filehost.Listing, string, error) {
	q := newQuery(r, "path", "id", "view", "q", "type", "sort", "order", "limit", "cursor", "host")
	listing := filehost.Listing{
		Types:      q.values["type"],
		Sort:       filehost.Sort(q.oneOf("sort", "name", "modified", "size", "host")),
		Descending: q.oneOf("order", "asc", "desc") == "desc",
		Limit:      q.number("limit", filehost.DefaultPageSize, 1, filehost.MaxPageSize),
		Cursor:     q.one("cursor", ""),
	}
	host := q.one("host", "")
	view, search := q.oneOf("view", "folder", "recent", "favorites", "shared"), q.one("q", "")
	path, err := readPath("", q.one("path", ""), q.one("id", ""))
	listing.Folder = path
	switch {
	case q.err != nil:
		return listing, host, q.err
	case err != nil:
		return listing, host, err
	case view != "folder":
		return listing, host, notYet("view", "Only the folder view is supported on this host.")
	case search != "":
		return listing, host, notYet("q", "Searching is not supported on this host.")
	}
	return listing, host, nil
}

func notYet(field, message string) error {
	return &filehost.Error{Kind: filehost.Unsupported, Field: field, Message: message}
}

// readPath takes an entry by its path or by its id, never by both; by default the root. within is what the names of the two
// fields begin with.
func readPath(within, path, id string) (filehost.Path, error) {
	switch {
	case path != "" && id != "":
		return filehost.Root, filehost.Invalid(within+"path", "Give either a path or an id.")
	case id != "":
		return filehost.ParseID(within+"id", id)
	case path != "":
		return filehost.ParsePath(within+"path", path)
	default:
		return filehost.Root, nil
	}
}

func newEntry(host filehost.Host, entry filehost.Entry) entryBody {
	body := entryBody{
		ID: entry.Path.ID(), Name: entry.Path.DisplayName(), Path: entry.Path.String(), Kind: entry.Kind, Size: entry.Size,
		MIMEType: entry.MIMEType, ETag: entry.ETag, Permissions: entry.Permissions, Favorite: entry.Favorite, Shared: entry.Shared,
		HasThumbnail: entry.Thumbnail, WebURL: entry.WebURL,
	}
	if entry.Path.IsRoot() {
		body.Name = host.Name
	}
	if body.Permissions == nil {
		body.Permissions = []filehost.Permission{}
	}
	if !entry.ModifiedAt.IsZero() {
		modified := entry.ModifiedAt.UTC()
		body.ModifiedAt = &modified
	}
	return body
}
