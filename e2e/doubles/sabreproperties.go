package doubles

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

func davName(local string) xml.Name { return xml.Name{Space: nsDAV, Local: local} }
func ocName(local string) xml.Name  { return xml.Name{Space: nsOC, Local: local} }
func ncName(local string) xml.Name  { return xml.Name{Space: nsNC, Local: local} }

// What a request for all properties gets.
var (
	allFolder = []xml.Name{
		davName("getlastmodified"), davName("resourcetype"), davName("quota-used-bytes"),
		davName("quota-available-bytes"), davName("getetag"),
	}
	allFile = []xml.Name{
		davName("getlastmodified"), davName("getcontentlength"), davName("resourcetype"), davName("getetag"),
		davName("getcontenttype"),
	}
)

// ofFile tells something of files only, ofFolder of folders only.
func ofFile(tell func(s *sabre, n node) value) func(*sabre, node) value {
	return func(s *sabre, n node) value {
		if n.isDir() {
			return absent
		}
		return tell(s, n)
	}
}

func ofFolder(tell func(s *sabre, n node) value) func(*sabre, node) value {
	return func(s *sabre, n node) value {
		if !n.isDir() {
			return absent
		}
		return tell(s, n)
	}
}

func always(v value) func(*sabre, node) value { return func(*sabre, node) value { return v } }

func either(folder, file value) func(*sabre, node) value {
	return func(_ *sabre, n node) value {
		if n.isDir() {
			return folder
		}
		return file
	}
}

func favorite(s *sabre, n node) value {
	if s.favorites.has(mark{n.user, n.id()}) {
		return text("1")
	}
	return text("0")
}

func sizeOf(s *sabre, n node) value { return text(strconv.FormatInt(s.disk.size(n), 10)) }

// sabreProperties are those of the whole family.
var sabreProperties = map[xml.Name]func(*sabre, node) value{
	davName("getlastmodified"):                 func(_ *sabre, n node) value { return text(n.modified("GMT")) },
	davName("resourcetype"):                    either(markup("<d:collection/>"), null),
	davName("getcontentlength"):                ofFile(sizeOf),
	davName("getcontenttype"):                  ofFile(func(_ *sabre, n node) value { return text(n.mimeType()) }),
	davName("getetag"):                         func(s *sabre, n node) value { return text(s.etag(n)) },
	davName("quota-used-bytes"):                ofFolder(sizeOf),
	davName("quota-available-bytes"):           ofFolder(always(text("-3"))), // no limit
	ocName("fileid"):                           func(_ *sabre, n node) value { return text(strconv.FormatUint(n.id(), 10)) },
	ocName("id"):                               func(_ *sabre, n node) value { return text(longID(n)) },
	ocName("size"):                             sizeOf,
	ocName("favorite"):                         favorite,
	ocName("share-types"):                      always(null),
	ocName("owner-id"):                         func(_ *sabre, n node) value { return text(n.user) },
	ocName("owner-display-name"):               func(_ *sabre, n node) value { return text(n.user) },
	ocName("downloadURL"):                      ofFile(always(text(""))),
	{Space: nsOCS, Local: "share-permissions"}: either(text("31"), text("19")),
}

// sabreETag is a file's, in quotes.
func sabreETag(n node) string { return `"` + n.fingerprint() + `"` }

// etag is any entry's. A folder's is a time in 13 hexadecimal digits, and another one whenever something changes below it.
func (s *sabre) etag(n node) string {
	if n.isDir() {
		return `"` + s.disk.risen(n)[:13] + `"`
	}
	return sabreETag(n)
}

func longID(n node) string { return fmt.Sprintf("%08d%s", n.id(), instance) }

// describe sets the headers that tell of a file.
func (s *sabre) describe(header http.Header, n node) {
	kind := n.mimeType()
	if strings.HasPrefix(kind, "text/") {
		kind += ";charset=UTF-8"
	}
	header.Set("Content-Type", kind)
	header.Set("OC-ETag", sabreETag(n))
	header.Set("Content-Disposition", "attachment; filename*=UTF-8''"+rawurlencode(n.name())+`; filename="`+rawurlencode(n.name())+`"`)
	if sum := s.checksum(n); sum != "" && s.checksums {
		header.Set("OC-Checksum", "SHA1:"+sum)
	}
}

// rawurlencode escapes as PHP's function of that name does (RFC 3986 2.3).
func rawurlencode(name string) string {
	var out strings.Builder
	for _, b := range []byte(name) {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', strings.IndexByte("_-.~", b) >= 0:
			out.WriteByte(b)
		default:
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}
