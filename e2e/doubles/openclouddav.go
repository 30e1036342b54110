package doubles

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// writePlainJSON writes as Go does.
func writePlainJSON(w http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err) // nothing but maps and texts is written
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
	w.WriteHeader(status)
	_, _ = w.Write(encoded)
}

// dav serves WebDAV: a user's own space by his name, or any space of his by its id.
func (o *OpenCloud) dav(w http.ResponseWriter, r *http.Request) {
	o.count(r)
	caller, ok := o.come(w, r)
	if !ok {
		o.counters.Unauthorized.Add(1)
		return
	}
	if isMeta(r) {
		o.meta(w, r, caller)
		return
	}
	if r.URL.Path == davPrefix+"/spaces" {
		o.space(w, r, caller, place{user: caller, path: "/", root: r.URL.Path})
		return
	}
	for _, root := range []string{davPrefix + "/files", davPrefix + "/spaces", "/dav/spaces"} {
		first, name, ok := below(r, root)
		if !ok {
			continue
		}
		at, found := place{user: caller, path: name, root: root + "/" + first, role: Manager}, strings.EqualFold(first, caller)
		if strings.HasSuffix(root, "/spaces") {
			if first == sharesSpace && name == "/" && r.Method == "PROPFIND" {
				o.sharesFolder(w, r, caller, root+"/"+first)
				return
			}
			at, found = o.spaceAt(caller, first, name, root+"/"+first)
			if first == sharesSpace && r.Method == "REPORT" {
				at, found = place{user: caller, path: "/", root: root + "/" + first}, true
			}
		}
		if !found {
			// What belongs to another is not there.
			o.missing(w, r)
			return
		}
		o.space(w, r, caller, at)
		return
	}
	o.unknown(w, r)
}

func (o *OpenCloud) space(w http.ResponseWriter, r *http.Request, caller string, at place) {
	o.faults.Serve(w, r, caller, at.path, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case "PROPFIND":
			o.propfind(w, r, at)
		case http.MethodGet, http.MethodHead:
			o.get(w, r, at)
		case http.MethodPut:
			o.put(w, r, at)
		case http.MethodPost:
			o.createUpload(w, r, at)
		case "MKCOL":
			o.mkcol(w, at)
		case "REPORT":
			if strings.HasPrefix(at.root, "/dav/spaces/") && strings.HasSuffix(r.URL.Path, "/") {
				o.surprise(r, "an id of a space ends in a slash")
			}
			o.report(w, r, caller)
		case "SEARCH":
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			o.unknown(w, r)
		}
	})
}

// missing answers that there is no such thing; who asks by PROPFIND gets it in XML.
func (o *OpenCloud) missing(w http.ResponseWriter, r *http.Request) {
	if r.Method == "PROPFIND" {
		davError(w, http.StatusNotFound, "NotFound", "Resource not found")
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

// davError is the host's imitation of an error of sabre/dav. Its namespace lacks the colon of DAV:.
func davError(w http.ResponseWriter, status int, exception, message string) {
	body := xml.Header + `<d:error xmlns:d="DAV" xmlns:s="http://sabredav.org/ns"><s:exception>Sabre\DAV\Exception\` + exception +
		`</s:exception><s:message>` + escapeXML(message) + `</s:message><s:errorcode></s:errorcode></d:error>`
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.WriteHeader(status)
	writeXML(w, body)
}

func openCloudETag(n node) string { return `"` + n.fingerprint() + `"` }

// property tells what a file or folder has of a property.
func (o *OpenCloud) property(name xml.Name, n node, at place) value {
	if n.isDir() && filesOnly[name] || !n.isDir() && foldersOnly[name] {
		return absent
	}
	switch name {
	case davName("getetag"):
		return markup(`"` + o.disk.risen(n) + `"`) // with its quotes as they are
	case davName("displayname"), ocName("name"):
		return markup(escapeText(displayName(n)))
	case davName("resourcetype"):
		if n.isDir() {
			return markup("<d:collection/>")
		}
		return markup("")
	case davName("getlastmodified"):
		return markup(n.modified("GMT"))
	case davName("getcontenttype"):
		return markup(n.mimeType())
	case davName("getcontentlength"), davName("quota-used-bytes"), ocName("size"):
		return markup(strconv.FormatInt(o.disk.size(n), 10))
	case davName("quota-available-bytes"):
		return markup("-2") // not known
	case ocName("fileid"), ocName("id"):
		return markup(at.resourceID(n))
	case ocName("spaceid"):
		return markup(spaceID(n.user))
	case ocName("permissions"):
		return markup(at.letters(n))
	case ocName("favorite"):
		return markup("0")
	case ocName("privatelink"):
		return markup(escapeText(o.Origin() + (&url.URL{Path: "/f/" + at.resourceID(n)}).EscapedPath()))
	case ocName("owner-display-name"), ocName("owner-id"):
		return markup(escapeText(n.user))
	}
	return absent
}

var (
	filesOnly   = map[xml.Name]bool{davName("getcontenttype"): true, davName("getcontentlength"): true}
	foldersOnly = map[xml.Name]bool{davName("quota-used-bytes"): true, davName("quota-available-bytes"): true}
)

func openCloudLetters(n node) string {
	if n.isDir() {
		return "RDNVCKZP"
	}
	return "RDNVWZP"
}

// openCloudAll is what a request for all properties gets.
var openCloudAll = []xml.Name{
	ocName("id"), ocName("fileid"), ocName("spaceid"), ocName("name"), davName("displayname"), davName("getetag"),
	ocName("permissions"), davName("resourcetype"), davName("getcontentlength"), davName("getcontenttype"),
	davName("getlastmodified"), ocName("favorite"),
}

func (o *OpenCloud) propfind(w http.ResponseWriter, r *http.Request, at place) {
	asked, err := readPropfind(r.Body)
	if err != nil {
		o.surprise(r, "the body: "+err.Error())
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	depth, known := depths[strings.ToLower(r.Header.Get("Depth"))]
	if r.Header.Get("Depth") == "" {
		depth, known = 1, true
	}
	if !known || depth == endless {
		davError(w, http.StatusBadRequest, "BadRequest", "Invalid Depth header value: "+r.Header.Get("Depth"))
		return
	}
	top, err := o.disk.find(at.user, at.path)
	if err != nil {
		o.missing(w, r)
		return
	}
	nodes, err := o.gather(top, depth)
	if err != nil {
		o.missing(w, r)
		return
	}
	rows := make([]string, len(nodes))
	for i, n := range nodes {
		rows[i] = o.response(n, at, asked, isMinimal(r))
	}
	o.multistatus(w, r, rows, top.isDir())
}

// multistatus answers a PROPFIND.
func (o *OpenCloud) multistatus(w http.ResponseWriter, r *http.Request, rows []string, folder bool) {
	header := w.Header()
	header.Set("Content-Type", "application/xml; charset=utf-8")
	header.Set("Dav", "1, 3, extended-mkcol")
	header.Set("Vary", "Prefer")
	if isMinimal(r) {
		header.Set("Preference-Applied", "return=minimal")
	}
	if folder {
		header.Set("Access-Control-Expose-Headers", "Tus-Resumable, Tus-Version, Tus-Extension")
		header.Set("Tus-Resumable", "1.0.0")
		header.Set("Tus-Version", "1.0.0")
		header.Set("Tus-Extension", "creation, creation-with-upload, checksum, expiration")
	}
	w.WriteHeader(http.StatusMultiStatus)
	writeXML(w, `<d:multistatus xmlns:s="http://sabredav.org/ns" xmlns:d="DAV:" xmlns:oc="`+nsOC+`">`+strings.Join(rows, "")+"</d:multistatus>")
}

func (o *OpenCloud) response(n node, at place, asked propfind, minimal bool) string {
	href := at.root + strings.TrimSuffix(strings.TrimPrefix(n.path, at.base), "/")
	if n.isDir() {
		href += "/"
	}
	return o.row(href, asked, minimal, func(name xml.Name) value { return o.property(name, n, at) })
}

// row is one response of a multistatus.
func (o *OpenCloud) row(href string, asked propfind, minimal bool, property func(xml.Name) value) string {
	names := asked.names
	if asked.all {
		names, minimal = openCloudAll, true
	}
	var found, missing strings.Builder
	for _, name := range names {
		if v := property(name); v.there {
			found.WriteString(openCloudElement(name, v.markup))
		} else {
			missing.WriteString(openCloudElement(name, ""))
		}
	}
	var out strings.Builder
	out.WriteString("<d:response><d:href>" + escapeText((&url.URL{Path: href}).EscapedPath()) + "</d:href>")
	if found.Len() > 0 {
		out.WriteString("<d:propstat><d:prop>" + found.String() + "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>")
	}
	if missing.Len() > 0 && !minimal {
		out.WriteString("<d:propstat><d:prop>" + missing.String() + "</d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>")
	}
	out.WriteString("</d:response>")
	return out.String()
}

// openCloudElement never closes itself.
func openCloudElement(name xml.Name, content string) string {
	tag, attribute := name.Local, ` xmlns="`+escapeXML(name.Space)+`"`
	if prefix, ok := map[string]string{nsDAV: "d", nsOC: "oc"}[name.Space]; ok {
		tag, attribute = prefix+":"+name.Local, ""
	}
	return "<" + tag + attribute + ">" + content + "</" + tag + ">"
}

// escapeText leaves quotes as they are.
func escapeText(plain string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(plain)
}

// get serves a file, and nothing for a folder. It looks at no condition.
func (o *OpenCloud) get(w http.ResponseWriter, r *http.Request, at place) {
	n, err := o.disk.find(at.user, at.path)
	if err != nil {
		o.missing(w, r)
		return
	}
	if asksPreview(r) {
		o.filePreview(w, r, n)
		return
	}
	if n.isDir() {
		w.WriteHeader(http.StatusOK)
		return
	}
	size := n.info.Size()
	if r.Method == http.MethodHead {
		o.describe(w.Header(), n)
		w.Header().Set("Content-Type", n.mimeType())
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		return
	}
	ranges, ok := allRanges(r.Header.Get("Range"), size)
	switch {
	case !ok:
		w.Header().Set("Content-Range", fmt.Sprintf("bytes */%d", size))
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
	case len(ranges) == 0:
		o.describeDownload(w.Header(), n)
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		o.send(w, n, 0, size)
	case len(ranges) == 1:
		o.describeDownload(w.Header(), n)
		w.Header().Set("Content-Range", ranges[0].header(size))
		w.Header().Set("Content-Length", strconv.FormatInt(ranges[0].length(), 10))
		w.WriteHeader(http.StatusPartialContent)
		o.send(w, n, ranges[0].first, ranges[0].length())
	default:
		o.sendParts(w, n, ranges)
	}
}

// describe sets the headers that tell of a file. Its times end in +0000.
func (o *OpenCloud) describe(header http.Header, n node) {
	header.Set("Accept-Ranges", "bytes")
	header.Set("Etag", openCloudETag(n))
	header.Set("Oc-Etag", openCloudETag(n))
	header.Set("Oc-Fileid", resourceID(n))
	header.Set("Last-Modified", n.modified("+0000"))
	if sum := o.checksum(n); sum != "" {
		header.Set("Oc-Checksum", "SHA1:"+sum)
	}
}

func (o *OpenCloud) describeDownload(header http.Header, n node) {
	o.describe(header, n)
	header.Set("Content-Type", contentType(n))
	header.Set("Content-Disposition", "attachment; filename*=UTF-8''"+rawurlencode(n.name())+`; filename="`+n.name()+`"`)
}

func contentType(n node) string {
	if kind := n.mimeType(); !strings.HasPrefix(kind, "text/") {
		return kind
	}
	return n.mimeType() + "; charset=UTF-8"
}

// sendParts answers with several ranges (RFC 9110 14.6). The host announces a length that it works out
// with another type than it sends, and so the end of the answer is cut off.
func (o *OpenCloud) sendParts(w http.ResponseWriter, n node, ranges []byteRange) {
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	announced := 0
	for _, each := range ranges {
		part, err := parts.CreatePart(textproto.MIMEHeader{
			"Content-Range": {each.header(n.info.Size())}, "Content-Type": {contentType(n)},
		})
		if err != nil {
			panic(err) // a Buffer takes everything
		}
		o.send(part, n, each.first, each.length())
		announced -= len(contentType(n)) - len(n.mimeType())
	}
	_ = parts.Close()
	announced += body.Len()
	o.describeDownload(w.Header(), n)
	w.Header().Set("Content-Type", "multipart/byteranges; boundary="+parts.Boundary())
	w.Header().Set("Content-Length", strconv.Itoa(announced))
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(body.Bytes()[:announced])
}

// byteRange is a part of a file, both ends included.
type byteRange struct{ first, last int64 }

func (b byteRange) length() int64 { return b.last - b.first + 1 }

func (b byteRange) header(size int64) string {
	return fmt.Sprintf("bytes %d-%d/%d", b.first, b.last, size)
}

// allRanges reads Range (RFC 9110 14.1.2): none without the header; false when no part of the file
// is meant.
func allRanges(header string, size int64) ([]byteRange, bool) {
	specs, ok := strings.CutPrefix(header, "bytes=")
	if !ok {
		return nil, true
	}
	var ranges []byteRange
	for spec := range strings.SplitSeq(specs, ",") {
		from, to, _ := strings.Cut(strings.TrimSpace(spec), "-")
		first, err := strconv.ParseInt(from, 10, 64)
		last, endErr := strconv.ParseInt(to, 10, 64)
		switch {
		case err != nil && endErr != nil:
			return nil, false
		case err != nil: // the last so many bytes
			first, last = max(0, size-last), size-1
		case endErr != nil || last >= size:
			last = size - 1
		}
		if first <= last {
			ranges = append(ranges, byteRange{first, last})
		}
	}
	return ranges, len(ranges) > 0
}

// put makes or replaces a file, whatever If-None-Match says.
func (o *OpenCloud) put(w http.ResponseWriter, r *http.Request, at place) {
	if at.role == Viewer {
		davError(w, http.StatusForbidden, "Forbidden", "permission denied")
		return
	}
	if !o.disk.takes(path.Base(at.path)) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	n, err := o.disk.find(at.user, at.path)
	created := err != nil
	if header := r.Header.Get("If-Match"); header != "" && (created || !matches(header, openCloudETag(n))) {
		w.WriteHeader(http.StatusConflict)
		return
	}
	if parent, err := o.disk.find(at.user, path.Dir(at.path)); err != nil || !parent.isDir() {
		w.WriteHeader(http.StatusConflict)
		return
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if n, err = o.disk.write(at.user, at.path, content, o.mtime(r.Header.Get("X-OC-Mtime"))); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	o.keepChecksum(n, content)
	o.describe(w.Header(), n)
	w.Header().Del("Accept-Ranges")
	if created {
		w.WriteHeader(http.StatusCreated)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
