package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Stat implements filehost.Remote.
func (c *Client) Stat(ctx context.Context, credential filehost.Credential, path filehost.Path) (filehost.Entry, error) {
	if c.profile.spaces && path.IsRoot() {
		_, err := c.askSpaces(ctx, credential)
		return c.top(), err
	}
	tree, err := c.tree(ctx, credential, path)
	if err != nil {
		return filehost.Entry{}, err
	}
	ask := propfind{credential: &credential, tree: tree, path: path, depth: "0"}
	entry, err := c.statOnce(ctx, ask)
	if answeredWith(err)/100 == 3 && !path.IsRoot() {
		// Apache redirects to a folder's address with the slash. We ask there ourselves: what the answer points to is not
		// to be trusted with the credential.
		ask.folder = true
		return c.statOnce(ctx, ask)
	}
	if slices.Contains(behindFile, answeredWith(err)) && path != tree.mount.path {
		ask.path = path.Parent()
		if parent, parentErr := c.statOnce(ctx, ask); parentErr == nil && parent.Kind == filehost.File {
			return filehost.Entry{}, c.statusError(http.StatusNotFound)
		}
	}
	return entry, err
}

// behindFile are the statuses, other than 404, for a path that goes on behind a file: Apache's and x/net/webdav's.
var behindFile = []int{http.StatusBadRequest, http.StatusMethodNotAllowed}

func (c *Client) statOnce(ctx context.Context, ask propfind) (filehost.Entry, error) {
	var entry *filehost.Entry
	err := c.propfind(ctx, ask, func(found found) error {
		if relate(found.path, ask.path) != self {
			return c.nonsense(fmt.Errorf("asked for %s, the host told of %s", ask.path, found.path))
		}
		seen, err := c.asked(found)
		entry = &seen
		return err
	})
	if err == nil && entry == nil {
		err = c.nonsense(errors.New("the host did not tell of the entry"))
	}
	if err != nil {
		return filehost.Entry{}, err
	}
	return *entry, nil
}

// asked makes the entry that was asked for itself.
func (c *Client) asked(found found) (filehost.Entry, error) {
	if found.values == nil {
		return filehost.Entry{}, c.statusError(found.status)
	}
	entry, err := c.entry(found)
	if err == nil && c.profile.alwaysETag && entry.ETag == "" {
		// Nextcloud answers so for another user's home: it is there, and that is all.
		err = filehost.E(filehost.Forbidden, c.host.Name+" does not show this folder to your account.",
			errors.New("the host gave none of the properties that it always gives"))
	}
	return entry, err
}

// fileWithSlash are the statuses for a file that is asked for as if it were a folder; Apache has the first.
var fileWithSlash = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict}

// listPatience is how long a host may gather a large folder before the first byte.
const listPatience = time.Minute

// List implements filehost.Remote.
func (c *Client) List(
	ctx context.Context, credential filehost.Credential, path filehost.Path, each func(filehost.Entry) error,
) (filehost.Entry, error) {
	if c.profile.spaces && path.IsRoot() {
		return c.listSpaces(ctx, credential, each)
	}
	ask, err := c.children(ctx, &credential, path)
	if err != nil {
		return filehost.Entry{}, err
	}
	listing := &listing{client: c, path: path, each: each}
	return c.listed(ctx, ask, listing, c.propfind(ctx, ask, listing.add))
}

// children is the request for a folder and what is in it.
func (c *Client) children(ctx context.Context, credential *filehost.Credential, path filehost.Path) (propfind, error) {
	tree, err := c.tree(ctx, *credential, path)
	return propfind{credential: credential, tree: tree, path: path, folder: true, depth: "1", patience: listPatience}, err
}

// listed is what comes of a listing that ended with err.
func (c *Client) listed(ctx context.Context, ask propfind, listing *listing, err error) (filehost.Entry, error) {
	switch {
	case err == nil && listing.folder == nil:
		err = c.nonsense(errors.New("the host did not tell of the folder itself"))
	case listing.folder == nil && !ask.path.IsRoot() && slices.Contains(fileWithSlash, answeredWith(err)):
		switch entry, statErr := c.Stat(ctx, *ask.credential, ask.path); {
		case statErr == nil && entry.Kind == filehost.File:
			err = noFolder(ask.path)
		case filehost.KindOf(statErr) == filehost.NotFound:
			err = statErr
		}
	}
	if err != nil {
		return filehost.Entry{}, err
	}
	return *listing.folder, nil
}

// listing sorts what the host tells of into the folder itself and what is in it.
type listing struct {
	client *Client
	path   filehost.Path
	each   func(filehost.Entry) error
	folder *filehost.Entry
}

func (l *listing) add(found found) error {
	switch relate(found.path, l.path) {
	case self:
		return l.addFolder(found)
	case child:
		return l.addChild(found)
	default:
		return l.client.nonsense(fmt.Errorf("asked for the folder %s, the host told of %s", l.path, found.path))
	}
}

func (l *listing) addFolder(found found) error {
	entry, err := l.client.asked(found)
	if err != nil {
		return err
	}
	if entry.Kind != filehost.Folder {
		return noFolder(l.path)
	}
	l.folder = &entry
	return nil
}

func (l *listing) addChild(found found) error {
	switch {
	case found.values != nil:
		entry, err := l.client.entry(found)
		if err != nil {
			return err
		}
		return l.each(entry)
	case found.status == http.StatusForbidden || found.status == http.StatusNotFound || found.status == http.StatusGone:
		// The host says that the user can't see it, or that it went away in between.
		return nil
	default:
		return l.client.nonsense(fmt.Errorf("the host tells nothing of %s but status %d", found.path, found.status))
	}
}

func noFolder(path filehost.Path) error {
	return filehost.Invalid("path", path.String()+" is a file, not a folder.")
}
