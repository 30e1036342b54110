package remote

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The limits of what is kept of an entry beside its path, in bytes. What is longer counts as not said.
const (
	maxMIMETypeBytes = 255 // RFC 6838 4.2: 127 a part
	maxLinkBytes     = 1 << 10
)

// entry makes an entry of what the host says of it. It fails when the host leaves open what it is.
func (c *Client) entry(found found) (filehost.Entry, error) {
	path, values := found.path, found.values
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
		HostID:      c.hostID(path, values),
		Kind:        kind,
		Size:        size,
		Permissions: c.granted(values, found.readOnly),
		Favorite:    favoriteOf(values),
		Shared:      sharedOf(values),
		WebURL:      c.webURL(values),
	}
	if kind == filehost.File {
		declared, _ := values.text(contentType)
		entry.MIMEType = mimeType(declared, path.Name())
	}
	if found.mount != nil {
		mountEntry(&entry, *found.mount)
	}
	modified, _ := values.text(lastModified)
	entry.ModifiedAt = parseTime(modified)
	tag, _ := values.text(etag)
	entry.ETag = quoteETag(tag)
	entry.Thumbnail = c.thumbnail(entry, values)
	entry.Tracked = c.tracked(found)
	return entry, nil
}

// mountEntry makes the entry that of a mount. A space is neither deleted nor renamed by who may do so with what is in it.
func mountEntry(entry *filehost.Entry, at mount) {
	if at.id != "" {
		entry.HostID = at.id
	}
	if entry.Space = at.space; at.space != "" {
		entry.Permissions = slices.DeleteFunc(slices.Clone(entry.Permissions), func(permission filehost.Permission) bool {
			return permission == filehost.Delete || permission == filehost.Rename
		})
	}
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
	return truth(text == "1")
}

// sharedOf tells whether an entry is shared with the user or by him.
func sharedOf(values *properties) *bool {
	letters, with := values.text(ocPermissions)
	if !with && !values.has(ocShareTypes) {
		return nil
	}
	return truth(strings.Contains(letters, "S") || values.elements(ocShareTypes))
}

// tracked tells whether an entry's changes show in the ETags of the folders that it is in. Those of what is mounted (M) may
// happen elsewhere.
func (c *Client) tracked(found found) bool {
	letters, told := found.values.text(ocPermissions)
	elsewhere := strings.Contains(letters, "M") ||
		found.mount != nil && found.mount.space != filehost.PersonalSpace && found.mount.space != filehost.ProjectSpace
	return c.profile.etagsRise && told && !elsewhere
}

var yes, no = true, false

// truth returns a pointer that all entries share.
func truth(value bool) *bool {
	if value {
		return &yes
	}
	return &no
}

// webPage is the address of the page of an entry: before and after its id. Both are empty where there is none.
type webPage struct{ before, after string }

func newWebPage(origin string, base filehost.Path, segments []string) webPage {
	if len(segments) == 0 {
		return webPage{}
	}
	before, after, _ := strings.Cut(origin+base.Escaped()+"/"+strings.Join(segments, "/"), "{id}")
	return webPage{before, after}
}

// webURL is the entry's page in the host's own web interface. A link of the host's making counts only within its origin.
func (c *Client) webURL(values *properties) string {
	if id, told := values.text(ocFileID); told && filehost.IsHostID(id) && c.webPage != (webPage{}) {
		return c.webPage.before + url.PathEscape(id) + c.webPage.after
	}
	link, _ := values.text(ocPrivateLink)
	if len(link) > maxLinkBytes {
		return ""
	}
	if parsed, err := url.Parse(link); err != nil || parsed.User != nil || filehost.OriginOf(parsed) != c.host.Origin() {
		return ""
	}
	return link
}

// parseTime reads the date of a property or header (RFC 9110 5.6.7), and the form with +0000 that OpenCloud uses. Zero =
// it is none of them, or one that RFC 3339 can't write in UTC: its years have four digits.
func parseTime(text string) time.Time {
	parsed, err := http.ParseTime(text)
	if err != nil {
		parsed, err = time.Parse(time.RFC1123Z, text)
	}
	if parsed = parsed.UTC(); err != nil || parsed.Year() < 0 || parsed.Year() > 9999 {
		return time.Time{}
	}
	return parsed
}

// mimeType is what the host declares, or else what the name's extension stands for.
func mimeType(declared, name string) string {
	if !isBareType(declared) {
		parsed, _, err := mime.ParseMediaType(declared)
		if declared = parsed; err != nil {
			declared = ""
		}
	}
	if len(declared) <= maxMIMETypeBytes && strings.Contains(declared, "/") {
		return declared
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		if known, ok := mimeTypes[strings.ToLower(name[dot+1:])]; ok {
			return known
		}
	}
	return "application/octet-stream"
}

// isBareType tells whether a declared type is one in lower case without parameters, which nothing needs to be parsed of.
func isBareType(declared string) bool {
	slash := strings.IndexByte(declared, '/')
	return slash > 0 && slash < len(declared)-1 && isBareToken(declared[:slash]) && isBareToken(declared[slash+1:])
}

// isBareToken takes most tokens (RFC 9110 5.6.2) without upper case.
func isBareToken(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '+' && c != '_' {
			return false
		}
	}
	return true
}
