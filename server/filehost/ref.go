package filehost

import (
	"encoding/base64"
	"strings"
)

// MaxHostIDBytes is the longest id of a host that is taken for one.
const MaxHostIDBytes = 255

// Ref names an entry as a request does: by its path, or by the id that the host has given it.
type Ref struct {
	Path   Path   // not known where HostID is set
	HostID string // of an Entry; "" = by the path
}

// The first letters of the ids of entries.
const (
	pathPrefix = "p"
	hostPrefix = "h"
)

// ID is the opaque id of the entry.
func (r Ref) ID() string {
	if r.HostID == "" {
		return r.Path.ID()
	}
	return hostPrefix + base64.RawURLEncoding.EncodeToString([]byte(r.HostID))
}

// ParseRef reads an id that Ref.ID made. What it says is for the host to judge: an id is no right to anything.
func ParseRef(field, id string) (Ref, error) {
	encoded, ofHost := strings.CutPrefix(id, hostPrefix)
	if !ofHost {
		path, err := ParseID(field, id)
		return Ref{Path: path}, err
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	ref := Ref{HostID: string(raw)}
	if err != nil || !IsHostID(ref.HostID) || ref.ID() != id { // the decoder skips line breaks
		return Ref{}, Invalid(field, field+" is not the id of an entry.")
	}
	return ref, nil
}

// IsHostID tells whether a text can be the id of an entry: visible ASCII without a slash, of at most MaxHostIDBytes.
func IsHostID(text string) bool {
	return text != "" && len(text) <= MaxHostIDBytes &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '/' || r == '\\' })
}
