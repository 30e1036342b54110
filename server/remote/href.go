package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The limits of what names an entry. What is above them is an error of the host: of a listing, each name is held several
// times over.
const (
	maxNameBytes = 1024
	maxHrefBytes = 20 << 10 // a path of filehost.MaxPathBytes, all of it escaped, below the longest top folder
)

var errTooLong = errors.New("too long")

// tree is a user's part of the host.
type tree struct {
	origin string
	top    filehost.Path // the path, at the origin, of what is at the mount
	also   []string      // the segments of another path of it, which answers may have; nil = none
	mount  mount
	mounts *mounts // nil = there is one; else the name below top tells which it is
}

// mount is where the user has a part of the host. The zero value is his top folder.
type mount struct {
	path  filehost.Path
	space filehost.SpaceKind
	id    string // the host's id of what is there, whatever an answer says; "" = what an answer says
}

// at returns the mount at a path, if there is one other than the user's top folder.
func (t tree) at(path filehost.Path) (mount, bool) {
	if t.mounts != nil {
		at, ok := t.mounts.byPath[path]
		return at, ok
	}
	return t.mount, !path.IsRoot() && path == t.mount.path
}

// tree returns the part of the host that belongs to the credential's user and that a path of his is in.
func (c *Client) tree(ctx context.Context, credential filehost.Credential, path filehost.Path) (tree, error) {
	if c.profile.spaces {
		return c.spaceTree(ctx, credential, path)
	}
	top := c.base
	for _, segment := range c.profile.davRoot {
		if segment == userSegment {
			segment = credential.Account
		}
		var ok bool
		if top, ok = top.Join(segment); !ok {
			return tree{}, filehost.E(filehost.NotConnected, "Your account at "+c.host.Name+" is not known: connect again.",
				errors.New("the credential has no account that fits into a path"))
		}
	}
	return tree{origin: c.host.Origin(), top: top}, nil
}

// url is the address of path. A folder's ends in a slash: without it Apache answers with a redirect.
func (t tree) url(path filehost.Path, folder bool) string {
	if !t.mount.path.IsRoot() {
		_, path = path.Top()
	}
	address := t.origin + t.top.Escaped() + path.Escaped()
	if folder || path.IsRoot() {
		address += "/"
	}
	return address
}

// path reads the href of a multistatus answer (RFC 4918 8.3): an absolute path, or a URL whose origin is not looked at,
// since a host behind a proxy may not know its own. It fails for what lies outside the tree, and for a name that no
// entry can have.
func (t tree) path(href string) (filehost.Path, error) {
	href = strings.TrimSpace(href)
	if len(href) > maxHrefBytes {
		return filehost.Root, fmt.Errorf("%w: an href above %d bytes", errTooLong, maxHrefBytes)
	}
	if !strings.HasPrefix(href, "/") {
		_, rest, ok := strings.Cut(href, "://")
		slash := strings.IndexByte(rest, '/')
		if !ok || slash < 0 {
			return filehost.Root, fmt.Errorf("no absolute path: href %q", href)
		}
		href = rest[slash:]
	}
	whole, err := decodePath(href)
	if err != nil {
		return filehost.Root, err
	}
	top, segments := t.top.Segments(), whole.Segments()
	if t.also != nil && startsWith(segments, t.also) {
		top = t.also
	}
	if !startsWith(segments, top) {
		return filehost.Root, fmt.Errorf("outside of %s: href %q", t.top, href)
	}
	return t.mounted(segments[len(top):])
}

// errElsewhere is the cause of the error for an href in a part of the host that the user has nowhere.
var errElsewhere = errors.New("in no folder of the user's")

// mounted is the user's path of what has these names below the top.
func (t tree) mounted(names []string) (filehost.Path, error) {
	at := t.mount
	if t.mounts != nil {
		var ok bool
		if len(names) == 0 {
			return filehost.Root, errElsewhere
		}
		if at, ok = t.mounts.named(names[0]); !ok {
			return filehost.Root, errElsewhere
		}
		names = names[1:]
	}
	path, err := within(names)
	if err == nil && at.path.Len()+path.Len() > filehost.MaxPathBytes {
		err = fmt.Errorf("%w: a path above %d bytes", errTooLong, filehost.MaxPathBytes)
	}
	return path.In(at.path), err
}

func startsWith(segments, first []string) bool {
	return len(segments) >= len(first) && slices.Equal(segments[:len(first)], first)
}

// hrefs reads the hrefs of one answer. Nearly all of a listing's begin alike: what that beginning stands for is read once.
type hrefs struct {
	tree   tree
	before string // of an href, up to and with the last slash before the name
	folder filehost.Path
}

// path is tree.path.
func (h *hrefs) path(href string) (filehost.Path, error) {
	href = strings.TrimSpace(href)
	slash := strings.LastIndexByte(strings.TrimSuffix(href, "/"), '/')
	before, escaped := href[:slash+1], strings.TrimSuffix(href[slash+1:], "/")
	if before == "" || before != h.before || escaped == "" || len(href) > maxHrefBytes {
		return h.first(href)
	}
	name, err := url.PathUnescape(escaped)
	if err != nil || len(name) > maxNameBytes || h.folder.Len()+len("/")+len(name) > filehost.MaxPathBytes {
		return h.tree.path(href)
	}
	if path, ok := h.folder.Join(name); ok {
		return path, nil
	}
	return h.tree.path(href)
}

// first reads an href whose beginning is a new one.
func (h *hrefs) first(href string) (filehost.Path, error) {
	path, err := h.tree.path(href)
	_, top := h.tree.at(path)
	if slash := strings.LastIndexByte(strings.TrimSuffix(href, "/"), '/'); err == nil && !path.IsRoot() && !top && strings.HasPrefix(href, "/") {
		h.before, h.folder = strings.Clone(href[:slash+1]), path.Parent()
	}
	return path, err
}

// within joins the names below the user's top folder, if an entry may be so long.
func within(segments []string) (filehost.Path, error) {
	length := 0
	for _, name := range segments {
		if len(name) > maxNameBytes {
			return filehost.Root, fmt.Errorf("%w: a name above %d bytes", errTooLong, maxNameBytes)
		}
		length += len("/") + len(name)
	}
	if length > filehost.MaxPathBytes {
		return filehost.Root, fmt.Errorf("%w: a path above %d bytes", errTooLong, filehost.MaxPathBytes)
	}
	return join(segments)
}

// decodePath reads an escaped path. Each segment is unescaped by itself, so that %2F in a name doesn't become a
// separator. A raw # or ? is taken as part of the name: some hosts forget to escape them, none sends a query.
func decodePath(escaped string) (filehost.Path, error) {
	trimmed := strings.TrimSuffix(strings.TrimPrefix(escaped, "/"), "/")
	if trimmed == "" {
		return filehost.Root, nil
	}
	segments := strings.Split(trimmed, "/")
	for i, segment := range segments {
		name, err := url.PathUnescape(segment)
		if err != nil {
			return filehost.Root, fmt.Errorf("%w: path %q", err, escaped)
		}
		segments[i] = name
	}
	return join(segments)
}

func join(segments []string) (path filehost.Path, err error) {
	for _, name := range segments {
		var ok bool
		if path, ok = path.Join(name); !ok {
			return filehost.Root, fmt.Errorf("no name of a file: %q", name)
		}
	}
	return path, nil
}

// relation tells how an entry stands to the folder that was asked for.
type relation int

const (
	self relation = iota
	child
	stranger
)

// relate compares names as Unicode says they are equal (NFC): a host on macOS answers in another form than it was asked.
func relate(entry, folder filehost.Path) relation {
	switch {
	case entry == folder:
		return self
	case entry.Parent() == folder:
		return child
	}
	names, parents := entry.Segments(), folder.Segments()
	if len(names) < len(parents) {
		return stranger
	}
	for i, parent := range parents {
		if names[i] != parent && norm.NFC.String(names[i]) != norm.NFC.String(parent) {
			return stranger
		}
	}
	switch len(names) - len(parents) {
	case 0:
		return self
	case 1:
		return child
	default:
		return stranger
	}
}
