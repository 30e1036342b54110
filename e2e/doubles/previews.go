package doubles

import (
	"bytes"
	"encoding/xml"
	"image"
	_ "image/gif" // as the hosts do
	_ "image/jpeg"
	"image/png"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// previewed are the types of files that the hosts have a preview of by themselves (enabledPreviewProviders).
var previewed = []string{"image/png", "image/jpeg", "image/gif", "image/bmp", "image/webp", "text/plain", "text/markdown"}

// hasPreview: of a text, there is none of one that is shorter (lib/private/Preview/TXT.php).
func hasPreview(n node) bool {
	return !n.isDir() && slices.Contains(previewed, n.mimeType()) && n.info.Size() > 5
}

// corePreview serves /core/preview and /core/preview.png (core/Controller/PreviewController.php), which nobody has recorded:
// what it answers is what its source says.
func (n *Nextcloud) corePreview(w http.ResponseWriter, r *http.Request) {
	n.counters.Requests.Add(1)
	user, outcome := n.caller(r)
	if outcome != welcome {
		writeJSON(w, http.StatusUnauthorized, map[string]string{"message": "Current user is not logged in"})
		return
	}
	query := r.URL.Query()
	at, ok := n.asked(user, query.Get("fileId"), query.Get("file"))
	width, height, sized := previewSize(query.Get("x"), query.Get("y"))
	switch {
	case r.Method != http.MethodGet || query.Get("a") != "1" || query.Get("forceIcon") != "0":
		n.surprise(r, "a preview that is cut to a square, or an icon: "+r.URL.RawQuery)
	case !sized:
		writeJSON(w, http.StatusBadRequest, []any{})
	case !ok || at.isDir() || !hasPreview(at):
		writeJSON(w, http.StatusNotFound, []any{})
	default:
		n.faults.Serve(w, r, user, at.path, func(w http.ResponseWriter, _ *http.Request) {
			made, ok := n.preview(at, width, height, false)
			if !ok {
				writeJSON(w, http.StatusNotFound, []any{})
				return
			}
			w.Header().Set("Cache-Control", "private, max-age=86400, immutable")
			w.Header().Set("Content-Disposition", `inline; filename="`+strconv.Itoa(width)+"-"+strconv.Itoa(height)+`.png"`)
			w.Header().Set("ETag", `"`+at.fingerprint()+`"`)
			writeImage(w, made)
		})
	}
}

// asked finds a file of a user by its id, or by its path.
func (n *Nextcloud) asked(user, id, name string) (node, bool) {
	if id == "" {
		found, err := n.disk.find(user, norm.NFC.String(fromLatin1(name)))
		return found, err == nil
	}
	all, _ := n.everything(user) // none of a user who has gone
	at := slices.IndexFunc(all, func(each node) bool { return strconv.FormatUint(each.id(), 10) == id })
	if at < 0 {
		return node{}, false
	}
	return all[at], true
}

// asksPreview tells whether a GET of a file is for a small image of it.
func asksPreview(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Query().Has("preview")
}

// filePreview serves ?preview of ownCloud (apps/dav/lib/Files/PreviewPlugin.php).
func (s *sabre) filePreview(w http.ResponseWriter, r *http.Request, n node) {
	width, height, ok := previewSize(r.URL.Query().Get("x"), r.URL.Query().Get("y"))
	made, drawn := s.preview(n, width, height, false)
	if !ok || !drawn {
		s.fail(w, http.StatusNotFound, "NotFound", "")
		return
	}
	w.Header().Set("Cache-Control", "max-age=86400, must-revalidate")
	w.Header().Set("Content-Disposition", "attachment")
	writeImage(w, made)
}

// openCloudPreviewed are the types that OpenCloud has a preview of (services/thumbnails/pkg/thumbnail/thumbnail.go).
var openCloudPreviewed = []string{"image/png", "image/jpeg", "image/gif", "image/bmp", "image/tiff", "text/plain"}

// mostPixels is the longest side of an image that OpenCloud makes a small one of.
const mostPixels = 7680

// filePreview serves ?preview=1 (services/webdav), with the statuses of a live OpenCloud. Without processor=fit it gives a
// square of the image.
func (o *OpenCloud) filePreview(w http.ResponseWriter, r *http.Request, n node) {
	width, height, ok := previewSize(r.URL.Query().Get("x"), r.URL.Query().Get("y"))
	size := pixels(o.disk.file(n.user, n.path))
	switch {
	case !ok:
		davError(w, http.StatusBadRequest, "BadRequest", "Cannot set width of 0 or smaller!")
		return
	case n.isDir():
		davError(w, http.StatusBadRequest, "BadRequest", "Unsupported file type")
		return
	case !slices.Contains(openCloudPreviewed, n.mimeType()):
		davError(w, http.StatusNotFound, "NotFound", "File with name "+n.name()+" could not be located")
		return
	case size.X > mostPixels || size.Y > mostPixels:
		thumbnailError(w, http.StatusForbidden, "thumbnails: image is too large")
		return
	}
	crop := r.URL.Query().Get("processor") != "fit"
	made, ok := o.preview(n, width, height, crop)
	if !ok {
		thumbnailError(w, http.StatusInternalServerError,
			`{"id":"eu.opencloud.api.thumbnails","code":500,"detail":"could not get image","status":"Internal Server Error"}`)
		return
	}
	writeImage(w, made)
}

// thumbnailError is an error that names no exception.
func thumbnailError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.WriteHeader(status)
	writeXML(w, xml.Header+`<d:error xmlns:d="DAV" xmlns:s="http://sabredav.org/ns"><s:exception></s:exception><s:message>`+
		escapeXML(message)+`</s:message></d:error>`)
}

// pixels is the size of the image that a file holds; zero = it holds none.
func pixels(file string) image.Point {
	raw, err := os.ReadFile(file)
	if err != nil {
		return image.Point{}
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return image.Point{}
	}
	return image.Pt(config.Width, config.Height)
}

func writeImage(w http.ResponseWriter, made []byte) {
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Content-Length", strconv.Itoa(len(made)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(made)
}

func previewSize(x, y string) (width, height int, ok bool) {
	width, xErr := strconv.Atoi(x)
	height, yErr := strconv.Atoi(y)
	return width, height, xErr == nil && yErr == nil && width > 0 && height > 0
}

// preview makes an image of a file that fits into a box, in the file's proportions, and never larger than the file's own.
// Of a text it is a white sheet. It fails for what can't be drawn. One that is cropped is of the square in the middle.
func (s *server) preview(n node, width, height int, crop bool) ([]byte, bool) {
	if !hasPreview(n) {
		return nil, false
	}
	drawn := image.Image(image.White)
	bounds := image.Rect(0, 0, 32, 32)
	if !strings.HasPrefix(n.mimeType(), "text/") {
		raw, err := os.ReadFile(s.disk.file(n.user, n.path))
		if err != nil {
			return nil, false
		}
		if drawn, _, err = image.Decode(bytes.NewReader(raw)); err != nil {
			return nil, false
		}
		bounds = drawn.Bounds()
	}
	if side := min(bounds.Dx(), bounds.Dy()); crop {
		bounds = image.Rect(0, 0, side, side).Add(bounds.Min).Add(bounds.Size().Sub(image.Pt(side, side)).Div(2))
	}
	scale := min(1, float64(width)/float64(bounds.Dx()), float64(height)/float64(bounds.Dy()))
	small := image.NewRGBA(image.Rect(0, 0, max(1, int(scale*float64(bounds.Dx()))), max(1, int(scale*float64(bounds.Dy())))))
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			small.Set(x, y, drawn.At(bounds.Min.X+int(float64(x)/scale), bounds.Min.Y+int(float64(y)/scale)))
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		panic(err) // a buffer takes everything
	}
	return out.Bytes(), true
}
