package remote

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The first bytes of images.
const (
	pngHead  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	jpegHead = "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01"
	gifHead  = "GIF89a\x01\x00\x01\x00\x00\x00\x00\x00\x00\x00"
	webpHead = "RIFF\x1a\x00\x00\x00WEBPVP8L"
	avifHead = "\x00\x00\x00\x20ftypavif\x00\x00\x00\x00"
)

// preview serves one answer to each request for an image, and tells who asks what is there of /file.png, of /closed.png that
// may not be had, and of a folder.
func preview(t *testing.T, kind string, serveImage http.HandlerFunc) *Client {
	top := "/remote.php/dav/files/alice"
	if kind == "opencloud" {
		top = "/dav/spaces/" + personalID
	}
	return serve(t, kind, "", withDrives(onePersonalSpace, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			serveImage(w, r)
		case r.URL.Path == top+"/file.png":
			answer(stated(top+"/file.png", ""))(w, r)
		case r.URL.Path == top+"/folder":
			answer(stated(top+"/folder", "<d:collection/>"))(w, r)
		case r.URL.Path == top+"/closed.png":
			answer(strings.Replace(stated(top+"/closed.png", ""), "<d:getetag>", "<oc:permissions>SX</oc:permissions><d:getetag>", 1))(w, r)
		case r.URL.Path == top+"/failing.png":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
}

func stated(href, kind string) string {
	return `<d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:response><d:href>` + href + `</d:href><d:propstat><d:prop>` +
		`<d:resourcetype>` + kind + `</d:resourcetype><d:getetag>"a"</d:getetag><oc:fileid>7</oc:fileid></d:prop>` +
		`<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`
}

func TestOnlyImagesThatRunNothingPassAsThumbnails(t *testing.T) {
	cases := map[string]struct {
		declared, body string
		want           string // the type; "" = it is refused
	}{
		"PNG":                           {"image/png", pngHead, "image/png"},
		"JPEG":                          {"image/jpeg", jpegHead, "image/jpeg"},
		"GIF":                           {"image/gif", gifHead, "image/gif"},
		"WebP":                          {"image/webp", webpHead, "image/webp"},
		"AVIF":                          {"image/avif", avifHead, "image/avif"},
		"parameters and upper case":     {"Image/PNG; charset=binary", pngHead, "image/png"},
		"another image than it says":    {"image/png", jpegHead, "image/jpeg"},
		"SVG":                           {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, ""},
		"SVG that is called PNG":        {"image/png", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, ""},
		"SVG that begins as XML":        {"image/png", `<?xml version="1.0"?><svg onload="alert(1)"/>`, ""},
		"HTML":                          {"text/html", "<!doctype html><script>alert(1)</script>", ""},
		"HTML that is called GIF":       {"image/gif", "<!doctype html><script>alert(1)</script>", ""},
		"HTML behind spaces":            {"image/jpeg", "   \n<html><script>alert(1)</script>", ""},
		"an image that is called HTML":  {"text/html", pngHead, ""},
		"an image that is called SVG":   {"image/svg+xml", pngHead, ""},
		"an image of no type":           {"application/octet-stream", pngHead, ""},
		"two types":                     {"image/png, text/html", pngHead, ""},
		"PDF":                           {"application/pdf", "%PDF-1.7 ...........", ""},
		"an icon":                       {"image/x-icon", "\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00\x20\x00", ""},
		"HEIC, which few browsers show": {"image/heic", "\x00\x00\x00\x20ftypheic\x00\x00\x00\x00", ""},
		"a few bytes":                   {"image/png", "\x89PN", ""},
		"nothing":                       {"image/png", "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := preview(t, "owncloud", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.declared)
				_, _ = io.WriteString(w, c.body)
			})
			thumbnail, err := client.Thumbnail(t.Context(), alice, filehost.Ref{Path: path(t, "/file.png")}, 64)
			if c.want == "" {
				require.Error(t, err)
				assert.Equal(t, filehost.Unsupported, filehost.KindOf(err))
				return
			}
			require.NoError(t, err)
			raw, err := io.ReadAll(thumbnail)
			require.NoError(t, err)
			require.NoError(t, thumbnail.Close())
			assert.Equal(t, c.body, string(raw))
			assert.Equal(t, c.want, thumbnail.MIMEType)
			assert.EqualValues(t, len(c.body), thumbnail.Size)
		})
	}
}

func TestWhatAHostIsAskedForAThumbnail(t *testing.T) {
	byPath, byID := filehost.Ref{Path: path(t, "/a ä+&#.png")}, filehost.Ref{HostID: "7"}
	cases := map[string]struct {
		kind string
		ref  filehost.Ref
		path string
		want map[string]string
	}{
		"Nextcloud, by path": {"nextcloud", byPath, "/index.php/core/preview.png",
			map[string]string{"file": "/a ä+&#.png", "x": "64", "y": "64", "a": "1", "forceIcon": "0"}},
		"Nextcloud, by id": {"nextcloud", byID, "/index.php/core/preview",
			map[string]string{"fileId": "7", "x": "64", "y": "64", "a": "1", "forceIcon": "0"}},
		"ownCloud": {"owncloud", byPath, "/remote.php/dav/files/alice/a ä+&#.png",
			map[string]string{"preview": "1", "x": "64", "y": "64", "a": "1", "scalingup": "0"}},
		"OpenCloud": {"opencloud", filehost.Ref{Path: byPath.Path.In(personal)}, "/dav/spaces/" + personalID + "/a ä+&#.png",
			map[string]string{"preview": "1", "x": "64", "y": "64", "processor": "fit"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			asked := 0
			client := serve(t, c.kind, "/base", func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/base/graph/v1.0/me/drives" {
					onePersonalSpace(w, r)
					return
				}
				asked++
				got := map[string]string{}
				for name, values := range r.URL.Query() {
					got[name] = strings.Join(values, "|")
				}
				assert.Equal(t, http.MethodGet, r.Method)
				assert.Equal(t, "/base"+c.path, r.URL.Path)
				assert.Equal(t, c.want, got)
				w.Header().Set("Content-Type", "image/png")
				_, _ = io.WriteString(w, pngHead)
			})
			thumbnail, err := client.Thumbnail(t.Context(), alice, c.ref, 64)
			require.NoError(t, err)
			require.NoError(t, thumbnail.Close())
			assert.Equal(t, 1, asked, "one round trip")
		})
	}
}

func TestAThumbnailByIDIsLookedUpWhereTheHostKnowsPathsOnly(t *testing.T) {
	var asked []string
	client := serve(t, "owncloud", "", func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		switch {
		case r.URL.Path == "/remote.php/dav/meta/7/":
			answer(`<d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:response><d:href>/remote.php/dav/meta/7/</d:href><d:propstat><d:prop>`+
				`<oc:meta-path-for-user>/file.png</oc:meta-path-for-user></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`)(w, r)
		case r.Method == "PROPFIND":
			answer(stated("/remote.php/dav/files/alice/file.png", ""))(w, r)
		default:
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, pngHead)
		}
	})
	thumbnail, err := client.Thumbnail(t.Context(), alice, filehost.Ref{HostID: "7"}, 64)
	require.NoError(t, err)
	require.NoError(t, thumbnail.Close())
	assert.Equal(t, "GET /remote.php/dav/files/alice/file.png", asked[len(asked)-1])
}

func TestWhyThereIsNoThumbnail(t *testing.T) {
	cases := map[string]struct {
		kind   string
		path   string
		status int
		after  string // Retry-After
		want   filehost.Kind
		wait   time.Duration
	}{
		"the host has none of it":             {"nextcloud", "/file.png", 404, "", filehost.Unsupported, 0},
		"OpenCloud makes none of the type":    {"opencloud", "/file.png", 400, "", filehost.Unsupported, 0},
		"OpenCloud can't read it":             {"opencloud", "/file.png", 500, "", filehost.Unsupported, 0},
		"OpenCloud finds it too large":        {"opencloud", "/file.png", 403, "", filehost.Unsupported, 0},
		"OpenCloud lets it only be looked at": {"opencloud", "/closed.png", 403, "", filehost.Forbidden, 0},
		"OpenCloud fails altogether":          {"opencloud", "/failing.png", 500, "", filehost.HostUnavailable, 0},
		"Nextcloud makes none of the type":    {"nextcloud", "/file.png", 400, "", filehost.Unsupported, 0},
		"the file is gone":                    {"nextcloud", "/gone.png", 404, "", filehost.NotFound, 0},
		"it is a folder":                      {"nextcloud", "/folder", 404, "", filehost.InvalidRequest, 0},
		"it is not to be seen":                {"nextcloud", "/file.png", 403, "", filehost.Forbidden, 0},
		"the sign-in is no longer good":       {"opencloud", "/file.png", 401, "", filehost.CredentialRejected, 0},
		"the file is still being worked on":   {"opencloud", "/file.png", 425, "", filehost.Conflict, 5 * time.Second},
		"it is, and the host says how long":   {"opencloud", "/file.png", 425, "9", filehost.Conflict, 9 * time.Second},
		"the host has enough to do":           {"opencloud", "/file.png", 429, "7", filehost.RateLimited, 7 * time.Second},
		"the host fails":                      {"owncloud", "/file.png", 500, "", filehost.HostUnavailable, 0},
		"it redirects to its page of sign-in": {"nextcloud", "/file.png", 303, "", filehost.HostUnavailable, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := preview(t, c.kind, func(w http.ResponseWriter, _ *http.Request) {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status)
			})
			_, err := client.Thumbnail(t.Context(), alice, filehost.Ref{Path: path(t, c.path).In(topOf(c.kind))}, 64)
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			assert.Equal(t, c.want.Code(), known.Kind.Code(), "%v", err)
			assert.Equal(t, c.wait, known.RetryAfter)
		})
	}
}

func TestPlainWebDAVIsNotAskedForThumbnails(t *testing.T) {
	client := serve(t, "webdav", "", func(http.ResponseWriter, *http.Request) { t.Error("the host is asked") })
	_, err := client.Thumbnail(t.Context(), alice, filehost.Ref{Path: path(t, "/file.png")}, 64)
	assert.Equal(t, filehost.Unsupported, filehost.KindOf(err))
}

func TestACompressedThumbnailIsNone(t *testing.T) {
	client := preview(t, "owncloud", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = io.WriteString(w, pngHead)
	})
	_, err := client.Thumbnail(t.Context(), alice, filehost.Ref{Path: path(t, "/file.png")}, 64)
	assert.Equal(t, filehost.Unsupported, filehost.KindOf(err))
}

func TestAThumbnailThatBreaksOffIsAnError(t *testing.T) {
	client := preview(t, "nextcloud", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, pngHead+"some of it")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	thumbnail, err := client.Thumbnail(t.Context(), alice, filehost.Ref{Path: path(t, "/file.png")}, 64)
	require.NoError(t, err)
	_, err = io.ReadAll(thumbnail)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
	require.NoError(t, thumbnail.Close())
}

func TestWhichFilesHaveAThumbnail(t *testing.T) {
	told := func(kind, mime, size, letters, preview string) bool {
		base := map[string]string{"webdav": "/remote.php/dav/files/alice"}[kind]
		top := "/remote.php/dav/files/alice"
		if kind == "opencloud" {
			top = "/dav/spaces/" + personalID
		}
		client := serve(t, kind, base, withDrives(onePersonalSpace, answer(`<d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"><d:response>`+
			`<d:href>`+top+`/x</d:href><d:propstat><d:prop><d:resourcetype/><d:getetag>"a"</d:getetag><d:getcontenttype>`+mime+
			`</d:getcontenttype><d:getcontentlength>`+size+`</d:getcontentlength><oc:permissions>`+letters+`</oc:permissions>`+preview+
			`</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`)))
		entry, err := client.Stat(t.Context(), alice, path(t, "/x").In(topOf(kind)))
		require.NoError(t, err)
		return entry.Thumbnail
	}
	const has, hasNone = "<nc:has-preview>true</nc:has-preview>", "<nc:has-preview>false</nc:has-preview>"
	assert.True(t, told("nextcloud", "application/pdf", "9", "RGDNVW", has), "the host says so")
	assert.False(t, told("nextcloud", "image/png", "9", "RGDNVW", hasNone), "the host says so")
	assert.False(t, told("nextcloud", "image/png", "9", "RGDNVW", ""), "previews are switched off")
	assert.False(t, told("nextcloud", "image/png", "9", "RDNVW", has), "may not be read")
	assert.True(t, told("opencloud", "image/tiff", "9", "RDNVW", ""))
	assert.False(t, told("opencloud", "image/svg+xml", "9", "RDNVW", ""))
	assert.True(t, told("opencloud", "text/plain", "6", "RDNVW", ""))
	assert.False(t, told("owncloud", "text/plain", "5", "RDNVW", ""), "too short to be drawn")
	assert.False(t, told("opencloud", "image/png", "0", "RDNVW", ""), "empty")
	assert.False(t, told("opencloud", "image/png", "9", "RDNVWX", ""), "to be looked at, not to be had")
	assert.True(t, told("owncloud", "image/jpeg", "9", "RDNVW", ""))
	assert.False(t, told("owncloud", "image/tiff", "9", "RDNVW", ""))
	assert.False(t, told("webdav", "image/png", "9", "", ""))
}
