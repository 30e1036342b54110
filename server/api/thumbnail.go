package api

import (
	"net/http"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// thumbnail serves GET /thumbnail, for an <img> as well: it is a GET, so that the session's cookie is enough.
func (h *Handler) thumbnail(r *request) (response, error) {
	q := newQuery(r, "path", "id", "size", "etag", "host")
	path, id, host := q.one("path", ""), q.one("id", ""), q.one("host", "")
	size := q.number("size", filehost.DefaultThumbnailSize, filehost.MinThumbnailSize, filehost.MaxThumbnailSize)
	etag := q.one("etag", "")
	ref, err := readRef("", path, id)
	switch {
	case q.err != nil:
		return response{}, q.err
	case err != nil:
		return response{}, err
	}
	service, err := r.serviceFor(host)
	switch {
	case err != nil:
		return response{}, err
	case path == "" && id == "":
		return response{}, filehost.Invalid("path", "Give the path of a file, or an id.")
	}
	picture, err := service.Thumbnail(r.ctx, r.userID, ref, size)
	if err != nil {
		return response{}, err
	}
	answer := response{status: http.StatusOK, body: picture.Bytes, contentType: picture.MIMEType, header: http.Header{
		"Cache-Control":                {keptAs(etag)},
		"Content-Disposition":          {`inline; filename="thumbnail"`},
		"Content-Security-Policy":      {"default-src 'none'; sandbox"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Etag":                         {`"` + digest([]byte(picture.MIMEType), picture.Bytes, []byte(picture.State)) + `"`},
		"Vary":                         {"Authorization, Cookie"},
	}}
	return answer.unlessKnown(r.Request), nil
}

// keptAs says how long a browser may show an image without asking. An address with the file's ETag is that of one version
// of the file.
func keptAs(etag string) string {
	if etag == "" {
		return "private, no-cache"
	}
	return "private, max-age=3600, immutable"
}
