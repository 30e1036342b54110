package remote

import (
	"encoding/xml"
	"strings"
)

// The namespaces of the properties.
const (
	nsDAV = "DAV:"
	nsOC  = "http://owncloud.org/ns"
	nsNC  = "http://nextcloud.org/ns"
)

// property is one that a host may be asked for.
type property int

const (
	resourceType property = iota
	contentLength
	contentType
	lastModified
	etag
	ocSize
	ocPermissions
	ocFileID
	ocFavorite
	ocShareTypes
	ocPrivateLink
	ncShareAttributes
	ncHasPreview
	ocMetaPath
	ocOwnerID
	ncMountType
	propertyCount
)

// propertyNames are the names of the properties.
var propertyNames = [propertyCount]xml.Name{
	resourceType:      {Space: nsDAV, Local: "resourcetype"},
	contentLength:     {Space: nsDAV, Local: "getcontentlength"},
	contentType:       {Space: nsDAV, Local: "getcontenttype"},
	lastModified:      {Space: nsDAV, Local: "getlastmodified"},
	etag:              {Space: nsDAV, Local: "getetag"},
	ocSize:            {Space: nsOC, Local: "size"},
	ocPermissions:     {Space: nsOC, Local: "permissions"},
	ocFileID:          {Space: nsOC, Local: "fileid"},
	ocFavorite:        {Space: nsOC, Local: "favorite"},
	ocShareTypes:      {Space: nsOC, Local: "share-types"},
	ocPrivateLink:     {Space: nsOC, Local: "privatelink"},
	ncShareAttributes: {Space: nsNC, Local: "share-attributes"},
	ncHasPreview:      {Space: nsNC, Local: "has-preview"},
	ocMetaPath:        {Space: nsOC, Local: "meta-path-for-user"},
	ocOwnerID:         {Space: nsOC, Local: "owner-id"},
	ncMountType:       {Space: nsNC, Local: "mount-type"},
}

// properties are those that an entry has. They are of one entry only until the next one is read.
type properties struct {
	content string // the texts of all of them, and of the rest of the entry
	values
}

// values are what the host says of properties.
type values struct {
	told uint32 // the bit 1<<property is set for each that is there
	each [propertyCount]value
}

// value is what the host says of one property.
type value struct {
	start, end int  // of its text in the content
	elements   bool // it holds any
	collection bool // DAV:collection is one of them (RFC 4918 15.9)
}

func (v *values) set(name property, to value) {
	v.told |= 1 << name
	v.each[name] = to
}

// of returns what is said of a property; the zero value where that is nothing.
func (v *values) of(name property) value {
	if !v.has(name) {
		return value{}
	}
	return v.each[name]
}

// has tells whether a property is there, be it an empty one.
func (v *values) has(name property) bool { return v.told&(1<<name) != 0 }

// elements tells whether a property holds elements.
func (v *values) elements(name property) bool { return v.of(name).elements }

// collection tells whether the entry is one: a folder.
func (v *values) collection() bool { return v.of(resourceType).collection }

// text returns the trimmed text of a property, and whether the entry has it. The text shares its memory with all of the
// entry's others: who keeps it long, clones it.
func (p *properties) text(name property) (string, bool) {
	value := p.of(name)
	return strings.TrimSpace(p.content[value.start:value.end]), p.has(name)
}
