package remote

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The limits of what is kept of an entry beside its path, in bytes. What is longer counts as not said.
const (
	maxMIMETypeBytes = 255 // RFC 6838 4.2: 127 a part
	maxIDBytes       = 255
	maxLinkBytes     = 1 << 10
)

// entry makes an entry of what the host says of it. It fails when the host leaves open what it is.
func (c *Client) entry(path filehost.Path, values *properties) (filehost.Entry, error) {
	kind, err := kindOf(values)
	if err != nil {
		return filehost.Entry{}, c.nonsense(err)
	}
	size, err := sizeOf(kind, values)
	if err != nil {
		return filehost.Entry{}, c.nonsense(err)
	}
	entry := filehost.Entry{
		Path:        path,
		Kind:        kind,
		Size:        size,
		Permissions: c.profile.granted(values),
		Favorite:    favoriteOf(values),
		Shared:      sharedOf(values),
		WebURL:      c.webURL(values),
	}
	if kind == filehost.File {
		declared, _ := values.text(contentType)
		entry.MIMEType = mimeType(declared, path.Name())
	}
	modified, _ := values.text(lastModified)
	entry.ModifiedAt = parseTime(modified)
	tag, _ := values.text(etag)
	entry.ETag = quoteETag(tag)
	return entry, nil
}

func kindOf(values *properties) (filehost.EntryKind, error) {
	switch {
	case !values.has(resourceType):
		return "", errors.New("the host doesn't say whether an entry is a folder")
	case values.collection():
		return filehost.Folder, nil
	default:
		return filehost.File, nil
	}
}

// sizeOf takes the length of a file's content, and oc:size where there is none. A host that doesn't know yet says -1
// there.
func sizeOf(kind filehost.EntryKind, values *properties) (int64, error) {
	text, told := values.text(contentLength)
	if kind == filehost.Folder || !told || text == "" {
		if text, told = values.text(ocSize); !told || text == "" {
			return 0, nil
		}
	}
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the size of an entry: %w", err)
	}
	return max(0, size), nil
}

func favoriteOf(values *properties) *bool {
	text, told := values.text(ocFavorite)
	if !told {
		return nil
	}
	favorite := text == "1"
	return &favorite
}

// sharedOf tells whether an entry is shared with the user or by him.
func sharedOf(values *properties) *bool {
	letters, with := values.text(ocPermissions)
	if !with && !values.has(ocShareTypes) {
		return nil
	}
	shared := strings.Contains(letters, "S") || values.elements(ocShareTypes)
	return &shared
}

// webURL is the entry's page in the host's own web interface. A link of the host's making counts only within its origin.
func (c *Client) webURL(values *properties) string {
	if id, told := values.text(ocFileID); told && id != "" && len(id) <= maxIDBytes && len(c.profile.webPath) > 0 {
		address := c.host.Origin() + c.base.Escaped()
		for _, segment := range c.profile.webPath {
			address += "/" + strings.ReplaceAll(segment, "{id}", url.PathEscape(id))
		}
		return address
	}
	link, _ := values.text(ocPrivateLink)
	if len(link) > maxLinkBytes {
		return ""
	}
	if parsed, err := url.Parse(link); err != nil || parsed.User != nil || filehost.OriginOf(parsed) != c.host.Origin() {
		return ""
	}
	return strings.Clone(link) // of a text that may be longer
}

// parseTime reads the date of a property or header (RFC 9110 5.6.7), and the form with +0000 that OpenCloud uses. Zero =
// it is none of them.
func parseTime(text string) time.Time {
	if parsed, err := http.ParseTime(text); err == nil {
		return parsed.UTC()
	}
	if parsed, err := time.Parse(time.RFC1123Z, text); err == nil {
		return parsed.UTC()
	}
	return time.Time{}
}

// mimeType is what the host declares, or else what the name's extension stands for.
func mimeType(declared, name string) string {
	if parsed, _, err := mime.ParseMediaType(declared); err == nil && len(parsed) <= maxMIMETypeBytes && strings.Contains(parsed, "/") {
		return strings.Clone(parsed) // of a text that may be longer
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		if known, ok := mimeTypes[strings.ToLower(name[dot+1:])]; ok {
			return known
		}
	}
	return "application/octet-stream"
}
