package filehost

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"
)

// MaxPathBytes is the longest path that a caller may name, in bytes.
const MaxPathBytes = 4096

// Path is an absolute path on the file host, relative to the user's root: "/" or "/folder/file". It holds the host's own
// bytes: not percent-encoded, not normalised, not necessarily UTF-8. The zero value is the root.
type Path struct{ segments string }

// Root is the user's top folder.
var Root = Path{}

// ParsePath reads the path of a request's field. A trailing slash is allowed; "." and "..", empty segments and NUL are
// not, neither behind a backslash, which some hosts take for a separator.
func ParsePath(field, raw string) (Path, error) {
	switch {
	case !strings.HasPrefix(raw, "/"):
		return Root, Invalid(field, field+" must start with a slash.")
	case len(raw) > MaxPathBytes:
		return Root, &Error{Kind: InvalidRequest, Field: field, Message: field + " is longer than 4096 bytes.", Limit: MaxPathBytes}
	case !utf8.ValidString(raw):
		return Root, Invalid(field, field+" is not valid UTF-8.")
	case raw == "/":
		return Root, nil
	}
	path := Root
	for _, name := range strings.Split(strings.TrimSuffix(raw[1:], "/"), "/") {
		if !validName(name) {
			return Root, Invalid(field, field+` has a segment that no file can have: it is empty, "." or "..", or holds a NUL.`)
		}
		path = path.append(name)
	}
	return path, nil
}

// Join returns the path of a child. It reports false when name cannot be the name of one, as a hostile host may claim.
func (p Path) Join(name string) (Path, bool) {
	if !validName(name) || strings.Contains(name, "/") {
		return Root, false
	}
	return p.append(name), true
}

func (p Path) append(name string) Path { return Path{p.segments + "/" + name} }

func validName(name string) bool {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return false
	}
	for more := true; more; {
		var part string
		if part, name, more = strings.Cut(name, `\`); part == "." || part == ".." {
			return false
		}
	}
	return true
}

// IsRoot tells whether p is the user's top folder.
func (p Path) IsRoot() bool { return p.segments == "" }

// Len is the length of p in bytes, as the host has it, with a slash before each name.
func (p Path) Len() int { return len(p.segments) }

// Parent is the folder that p is in; the root's is the root.
func (p Path) Parent() Path { return Path{p.segments[:max(0, strings.LastIndexByte(p.segments, '/'))]} }

// IsBelow tells whether p is somewhere in folder.
func (p Path) IsBelow(folder Path) bool { return strings.HasPrefix(p.segments, folder.segments+"/") }

// Top splits p into the top-level folder that it is in, or is, and the path from there; both are the root for the root.
func (p Path) Top() (top, rest Path) {
	if p.IsRoot() {
		return Root, Root
	}
	end := strings.IndexByte(p.segments[1:], '/') + 1
	if end == 0 {
		return p, Root
	}
	return Path{p.segments[:end]}, Path{p.segments[end:]}
}

// In is the path of what is at p as it is seen from a folder.
func (p Path) In(folder Path) Path { return Path{folder.segments + p.segments} }

// Name is the last segment as the host has it; "" for the root.
func (p Path) Name() string { return p.segments[strings.LastIndexByte(p.segments, '/')+1:] }

// Segments returns the names from the top folder down, as the host has them.
func (p Path) Segments() []string {
	if p.IsRoot() {
		return nil
	}
	return strings.Split(p.segments[1:], "/")
}

// Escaped is the path for a URL: each segment percent-encoded (RFC 3986 2.1), "" for the root.
func (p Path) Escaped() string {
	var escaped strings.Builder
	for _, name := range p.Segments() {
		escaped.WriteByte('/')
		escaped.WriteString(url.PathEscape(name))
	}
	return escaped.String()
}

// String is the path for people and for JSON; bytes that are not UTF-8 become U+FFFD.
func (p Path) String() string {
	if p.IsRoot() {
		return "/"
	}
	return strings.ToValidUTF8(p.segments, "\uFFFD")
}

// ID is the opaque id of the entry at p. It carries the host's own bytes, so that it also finds what String cannot name.
func (p Path) ID() string { return "p" + base64.RawURLEncoding.EncodeToString([]byte(p.segments)) }

// ParseID reads an id that Path.ID made.
func ParseID(field, id string) (Path, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimPrefix(id, "p"))
	if err != nil || !strings.HasPrefix(id, "p") || len(raw) > MaxPathBytes {
		return Root, Invalid(field, field+" is not the id of an entry.")
	}
	path := Root
	for i, name := range strings.Split(string(raw), "/") {
		if i == 0 {
			if name != "" {
				return Root, Invalid(field, field+" is not the id of an entry.")
			}
			continue
		}
		if !validName(name) {
			return Root, Invalid(field, field+" is not the id of an entry.")
		}
		path = path.append(name)
	}
	if path.ID() != id { // base64 has more than one spelling
		return Root, Invalid(field, field+" is not the id of an entry.")
	}
	return path, nil
}

// DisplayName is Name for people and for JSON; bytes that are not UTF-8 become U+FFFD.
func (p Path) DisplayName() string { return strings.ToValidUTF8(p.Name(), "\uFFFD") }
