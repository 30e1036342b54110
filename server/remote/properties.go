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
}

// properties are those that an entry has. They are of one entry only until the next one is read.
type properties struct {
	content string // the texts of all of them, and of the rest of the entry
	values  [propertyCount]value
}

// value is what the host says of one property.
type value struct {
	told       bool
	start, end int  // of its text in the content
	elements   bool // it holds any
	collection bool // DAV:collection is one of them (RFC 4918 15.9)
}

// has tells whether the entry has a property, be it an empty one.
func (p *properties) has(name property) bool { return p.values[name].told }

// text returns the trimmed text of a property, and whether the entry has it. The text shares its memory with all of the
// entry's others: who keeps it long, clones it.
func (p *properties) text(name property) (string, bool) {
	value := &p.values[name]
	return strings.TrimSpace(p.content[value.start:value.end]), value.told
}

// elements tells whether a property holds elements.
func (p *properties) elements(name property) bool { return p.values[name].elements }

// collection tells whether the entry is one: a folder.
func (p *properties) collection() bool { return p.values[resourceType].collection }
