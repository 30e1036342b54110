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
	Permissions  []filehost.Permission `json:"permissions,omitzero"` // nil = they are not asked for
	Favorite     *bool                 `json:"favorite,omitempty"`
	Shared       *bool                 `json:"shared,omitempty"`
	HasThumbnail bool                  `json:"has_thumbnail"`
	Space        filehost.SpaceKind    `json:"space,omitempty"`
	WebURL       string                `json:"web_url,omitempty"`
}

type pageBody struct {
	Folder       *entryBody            `json:"folder,omitempty"`
	Entries      []entryBody           `json:"entries"`
	Truncated    bool                  `json:"truncated,omitempty"`
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
	body, contentType, err := response{body: newPageBody(service.Host, page, listing.Basic)}.encode()
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

func newPageBody(host filehost.Host, page filehost.Page, basic bool) pageBody {
	body := pageBody{Entries: make([]entryBody, len(page.Entries)), Truncated: page.Truncated,
		NextCursor: page.NextCursor, Total: page.Total, Capabilities: page.Capabilities}
	if page.Folder != nil {
		folder := newEntry(host, *page.Folder)
		body.Folder = &folder
		if basic {
			folder.Permissions = nil // not said
		}
	}
	for i, entry := range page.Entries {
		body.Entries[i] = newEntry(host, entry)
		if basic {
			body.Entries[i].Permissions = nil
		}
	}
	return body
}

func readListing(r *request) (filehost.Listing, string, error) {
	q := newQuery(r, "path", "id", "view", "q", "type", "sort", "order", "limit", "cursor", "fields", "host")
	listing := filehost.Listing{
		View:       filehost.View(q.oneOf("view", "folder", "recent", "favorites", "shared")),
		Text:       q.one("q", ""),
		Types:      q.values["type"],
		Sort:       filehost.Sort(q.oneOf("sort", "name", "modified", "size", "host")),
		Descending: q.oneOf("order", "asc", "desc") == "desc",
		Limit:      q.number("limit", filehost.DefaultPageSize, 1, filehost.MaxPageSize),
		Cursor:     q.one("cursor", ""),
		Basic:      q.oneOf("fields", "all", "basic") == "basic",
	}
	host := q.one("host", "")
	if listing.View == filehost.Recent && !q.values.Has("sort") { // the newest first
		listing.Sort, listing.Descending = filehost.ByModified, !q.values.Has("order") || listing.Descending
	}
	ref, err := readRef("", q.one("path", ""), q.one("id", ""))
	listing.Folder, listing.FolderID = ref.Path, ref.HostID
	if q.err != nil {
		return listing, host, q.err
	}
	return listing, host, err
}

// readRef takes an entry by its path or by its id, never by both; by default the root. within is what the names of the two
// fields begin with.
func readRef(within, path, id string) (filehost.Ref, error) {
	switch {
	case path != "" && id != "":
		return filehost.Ref{}, filehost.Invalid(within+"path", "Give either a path or an id.")
	case id != "":
		return filehost.ParseRef(within+"id", id)
	case path != "":
		parsed, err := filehost.ParsePath(within+"path", path)
		return filehost.Ref{Path: parsed}, err
	default:
		return filehost.Ref{Path: filehost.Root}, nil
	}
}

func newEntry(host filehost.Host, entry filehost.Entry) entryBody {
	body := entryBody{
		ID: entry.ID(), Name: entry.Path.DisplayName(), Path: entry.Path.String(), Kind: entry.Kind, Size: entry.Size,
		MIMEType: entry.MIMEType, ETag: entry.ETag, Permissions: entry.Permissions, Favorite: entry.Favorite, Shared: entry.Shared,
		HasThumbnail: entry.Thumbnail, Space: entry.Space, WebURL: entry.WebURL,
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
