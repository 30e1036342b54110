package doubles

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	nsDAV = "DAV:"
	nsOC  = "http://owncloud.org/ns"
	nsNC  = "http://nextcloud.org/ns"
	nsOCS = "http://open-collaboration-services.org/ns"

	davPrefix = "/remote.php/dav"
)

// sabre is WebDAV as ownCloud and Nextcloud have it, both over the library sabre/dav. What differs
// between them is data.
type sabre struct {
	*server
	davHeader     string
	allow         string
	challenges    []string          // of WWW-Authenticate
	prefixes      map[string]string // of the namespaces that an answer declares, beside DAV:
	declared      string            // the same as attributes
	properties    map[xml.Name]func(s *sabre, n node) value
	missingParent int  // status of a PUT below a folder that isn't there
	infinity      bool // whether Depth: infinity is answered
	othersHome    bool // whether another user's home is there, though nothing is told of it
	checksums     bool // whether GET tells the checksum
	searchFiles   bool // whether there is a report of that name
	previews      bool // whether a GET of a file may ask for a small image of it
	favorites     marks
	locks         locks
	// reply writes a multistatus, which a host may cut into pages.
	reply func(w http.ResponseWriter, r *http.Request, entries []string)
}

// instance is part of the ids that these hosts give their files.
const instance = "ocr1ba2wr9dt"

// sabreTakes tells which names a host of the family has: it neither stores nor finds others
// (its file name validator, and its scanner for files that come to the disk by another way).
func sabreTakes(longest int) func(string) bool {
	return func(name string) bool {
		trimmed, lower := strings.TrimSpace(name), strings.ToLower(name)
		switch {
		case trimmed == "" || trimmed == "." || trimmed == "..", len(name) > longest:
			return false
		case !utf8.ValidString(name), !norm.NFC.IsNormalString(name):
			return false
		case lower == ".htaccess", strings.HasSuffix(lower, ".part"), strings.HasSuffix(lower, ".filepart"):
			return false
		}
		return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\\' || r == '/' })
	}
}

// fail answers with an error of the library.
func (s *sabre) fail(w http.ResponseWriter, status int, exception, message string, more ...string) {
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	begin(w, status)
	text := "<s:message/>"
	if message != "" {
		text = "<s:message>" + escapeText(message) + "</s:message>"
	}
	// Which header the error is about comes last, as an element of its own.
	if len(more) > 0 {
		text += "\n  " + strings.Join(more, "\n  ")
	}
	if !strings.Contains(exception, `\`) {
		exception = `Sabre\DAV\Exception\` + exception
	}
	writeXML(w, fmt.Sprintf(`<?xml version="1.0" encoding="utf-8"?>
<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">
  <s:exception>%s</s:exception>
  %s
</d:error>
`, exception, text))
}

// begin sends the status and makes the body a chunked one, since PHP doesn't know its length.
func begin(w http.ResponseWriter, status int) {
	w.WriteHeader(status)
	_ = http.NewResponseController(w).Flush()
}

func (s *sabre) notFound(w http.ResponseWriter, user, name string) {
	missing := name
	for parent := path.Dir(name); parent != "/"; parent = path.Dir(parent) {
		if _, err := s.disk.find(user, parent); err != nil {
			missing = parent
		}
	}
	if path.Dir(missing) == "/" {
		missing = "/" + missing // the library puts the name behind the parent's path and a slash
	}
	s.fail(w, http.StatusNotFound, "NotFound", "File with name "+missing+" could not be located")
}

// files serves /remote.php/dav/files/{user}/.
func (s *sabre) files(w http.ResponseWriter, r *http.Request, caller string) {
	owner, name, ok := below(r, davPrefix+"/files")
	if !ok {
		s.unknown(w, r)
		return
	}
	name = norm.NFC.String(fromLatin1(name)) // as names are kept, in whatever form they are asked for
	if r.Method == "PROPFIND" {
		w.Header().Set("DAV", s.davHeader)
	}
	if owner != caller {
		s.foreign(w, r, owner)
		return
	}
	s.faults.Serve(w, r, caller, name, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case "PROPFIND":
			s.propfind(w, r, caller, name)
		case http.MethodGet, http.MethodHead:
			s.get(w, r, caller, name)
		case http.MethodPut:
			s.put(w, r, caller, name)
		case "MKCOL":
			s.mkcol(w, caller, name)
		case http.MethodOptions:
			s.options(w)
		case "REPORT":
			s.report(w, r, caller, name)
		case "LOCK", "SEARCH":
			s.fail(w, http.StatusNotImplemented, "NotImplemented",
				"There was no plugin in the system that was willing to handle this "+r.Method+" method.")
		default:
			s.unknown(w, r)
		}
	})
}

// fromLatin1 reads a path as the library does: what is not UTF-8 is Latin-1.
func fromLatin1(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	latin := make([]rune, len(name))
	for i := range len(name) {
		latin[i] = rune(name[i])
	}
	return string(latin)
}

// foreign answers for another user's home.
func (s *sabre) foreign(w http.ResponseWriter, r *http.Request, owner string) {
	_, known := s.users[owner]
	if !known || !s.othersHome || r.Method != "PROPFIND" {
		s.unknown(w, r)
		return
	}
	asked, err := readPropfind(r.Body)
	if err != nil {
		s.fail(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	told := func(name xml.Name) value {
		if name == (xml.Name{Space: nsDAV, Local: "resourcetype"}) {
			return markup("<d:collection/>")
		}
		return absent
	}
	if asked.all {
		asked.names = []xml.Name{{Space: nsDAV, Local: "resourcetype"}}
	}
	s.reply(w, r, []string{s.response(davPrefix+"/files/"+owner+"/", asked.names, isMinimal(r), told)})
}

func (s *sabre) options(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=UTF-8")
	header.Set("Content-Length", "0")
	header.Set("Allow", s.allow)
	header.Set("DAV", s.davHeader)
	header.Set("MS-Author-Via", "DAV")
	header.Set("Accept-Ranges", "bytes")
}

func (s *sabre) propfind(w http.ResponseWriter, r *http.Request, user, name string) {
	w.Header().Set("Vary", "Brief,Prefer")
	asked, err := readPropfind(r.Body)
	if err != nil {
		s.fail(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	depth, ok := depths[strings.ToLower(r.Header.Get("Depth"))]
	switch {
	case !ok:
		s.surprise(r, "Depth is "+r.Header.Get("Depth"))
	case depth == endless && !s.infinity:
		s.fail(w, http.StatusPreconditionFailed, "PreconditionFailed", "Depth infinity is not supported", "<s:header>Depth</s:header>")
		return
	}
	top, err := s.disk.find(user, name)
	if err != nil {
		s.notFound(w, user, name)
		return
	}
	nodes, err := s.gather(top, depth)
	if err != nil {
		s.notFound(w, user, name)
		return
	}
	entries := make([]string, 0, len(nodes))
	for _, n := range nodes {
		entries = append(entries, s.entry(n, asked, isMinimal(r)))
	}
	s.reply(w, r, entries)
}

// gather gives a node, and what is below it as deep as asked.
func (s *server) gather(top node, depth int) ([]node, error) {
	nodes := []node{top}
	if depth == 0 || !top.isDir() {
		return nodes, nil
	}
	children, err := s.disk.children(top)
	if err != nil {
		return nil, err
	}
	for _, child := range children {
		below, err := s.gather(child, depth-1)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, below...)
	}
	return nodes, nil
}

// entry is one response of a multistatus.
func (s *sabre) entry(n node, asked propfind, minimal bool) string {
	names := asked.names
	if asked.all {
		names = allFile
		if n.isDir() {
			names = allFolder
		}
	}
	href := davPrefix + "/files/" + n.user + n.path
	if n.isDir() && n.path != "/" {
		href += "/"
	}
	return s.response(href, names, minimal, func(name xml.Name) value {
		tell, known := s.properties[name]
		if !known {
			return absent
		}
		return tell(s, n)
	})
}

// response writes the properties that there are, and those that there aren't unless the client
// prefers an answer without them (RFC 8144 2.1).
func (s *sabre) response(href string, names []xml.Name, minimal bool, tell func(xml.Name) value) string {
	var found, missing strings.Builder
	for _, name := range names {
		if v := tell(name); v.there {
			found.WriteString(s.element(name, v))
		} else {
			missing.WriteString(s.element(name, null))
		}
	}
	var out strings.Builder
	out.WriteString("<d:response><d:href>" + escapeXML(sabreHref(href)) + "</d:href>")
	if found.Len() > 0 {
		out.WriteString("<d:propstat><d:prop>" + found.String() + "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>")
	}
	if missing.Len() > 0 && !minimal {
		out.WriteString("<d:propstat><d:prop>" + missing.String() + "</d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>")
	}
	if found.Len() == 0 && (missing.Len() == 0 || minimal) {
		// An entry must have one (RFC 4918 14.24), and the library has this one for nothing.
		out.WriteString("<d:propstat><d:prop/><d:status>HTTP/1.1 418 I'm a teapot</d:status></d:propstat>")
	}
	out.WriteString("</d:response>")
	return out.String()
}

// element writes a property. A namespace that isn't declared comes with a prefix of its own.
func (s *sabre) element(name xml.Name, v value) string {
	tag, attribute := "x1:"+name.Local, ` xmlns:x1="`+escapeXML(name.Space)+`"`
	if prefix, ok := s.prefixes[name.Space]; ok {
		tag, attribute = prefix+":"+name.Local, ""
	}
	if v == null {
		return "<" + tag + attribute + "/>"
	}
	return "<" + tag + attribute + ">" + v.markup + "</" + tag + ">"
}

// multistatus writes all entries in one answer.
func (s *sabre) multistatus(w http.ResponseWriter, entries []string) {
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	begin(w, http.StatusMultiStatus)
	head := `<?xml version="1.0"?>` + "\n" + `<d:multistatus xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"` + s.declared
	if len(entries) == 0 {
		writeXML(w, head+"/>\n")
		return
	}
	writeXML(w, head+">"+strings.Join(entries, "")+"</d:multistatus>\n")
}

// sabreHref escapes a path as the library does: with small letters, and more than must be.
func sabreHref(name string) string {
	var out strings.Builder
	for _, b := range []byte(name) {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', strings.IndexByte("_-.~()/", b) >= 0:
			out.WriteByte(b)
		default:
			fmt.Fprintf(&out, "%%%02x", b)
		}
	}
	return out.String()
}

// below splits a request's path into the first segment below prefix and the decoded rest, which
// begins with a slash. Segments are unescaped one by one, so that %2F doesn't separate.
func below(r *http.Request, prefix string) (first, rest string, ok bool) {
	escaped, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix+"/")
	if !ok {
		return "", "", false
	}
	segments := split(escaped)
	for i, segment := range segments {
		name, err := url.PathUnescape(segment)
		if err != nil || strings.ContainsAny(name, "/\x00") {
			return "", "", false
		}
		segments[i] = name
	}
	if len(segments) == 0 {
		return "", "", false
	}
	return segments[0], "/" + strings.Join(segments[1:], "/"), true
}
