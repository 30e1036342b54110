package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// idLookup is how a kind of host finds an entry by its id.
type idLookup int

const (
	noIDs         idLookup = iota
	idsBySearch            // by SEARCH (RFC 5323): ids are numbers
	idsByMetaPath          // by PROPFIND on its own resource, which tells the path
)

// hostID is the host's own id of the entry at path. The user's top folder needs none: it is never renamed, and no search
// finds it.
func (c *Client) hostID(path filehost.Path, values *properties) string {
	id, _ := values.text(ocFileID)
	if c.profile.ids == noIDs || path.IsRoot() || !filehost.IsHostID(id) {
		return ""
	}
	return id
}

// StatID implements filehost.Remote. What the host finds is asked for its id again: an id of OpenCloud can be of another
// space, where its path means something else.
func (c *Client) StatID(ctx context.Context, credential filehost.Credential, hostID string) (entry filehost.Entry, err error) {
	switch c.profile.ids {
	case idsBySearch:
		entry, err = c.searchID(ctx, credential, hostID)
	case idsByMetaPath:
		var path filehost.Path
		if path, err = c.metaPath(ctx, credential, hostID); err == nil {
			entry, err = c.Stat(ctx, credential, path)
		}
	default:
		return filehost.Entry{}, &filehost.Error{Kind: filehost.Unsupported, Field: "id", Message: c.host.Name + " has no ids of its own: list the folder again."}
	}
	switch {
	case err != nil:
		return filehost.Entry{}, err
	case entry.HostID != hostID:
		return filehost.Entry{}, c.noSuchID(fmt.Errorf("at %s is another entry", entry.Path))
	}
	return entry, nil
}

func (c *Client) noSuchID(cause error) error {
	refusal := c.statusError(http.StatusNotFound)
	refusal.Err = cite(cause)
	return refusal
}

// searchID finds an entry by SEARCH. A file that came to the user in several ways is found at each: the first path counts.
func (c *Client) searchID(ctx context.Context, credential filehost.Credential, hostID string) (filehost.Entry, error) {
	number, err := strconv.ParseInt(hostID, 10, 64)
	if err != nil {
		return filehost.Entry{}, c.noSuchID(err)
	}
	search := basicSearch{properties: c.profile.properties, where: equal("oc:fileid", strconv.FormatInt(number, 10)), most: mostPlaces}
	ask, err := c.search(ctx, &credential, filehost.Root, search)
	if err != nil {
		return filehost.Entry{}, err
	}
	var first *filehost.Entry
	err = c.propfind(ctx, ask, func(found found) error {
		if found.values == nil {
			return nil
		}
		entry, err := c.entry(found)
		if err == nil && (first == nil || entry.Path.String() < first.Path.String()) {
			first = &entry
		}
		return err
	})
	switch {
	case err != nil:
		return filehost.Entry{}, err
	case first == nil:
		return filehost.Entry{}, c.noSuchID(errors.New("no entry has the id"))
	}
	return *first, nil
}

// mostPlaces is at how many paths one file is looked for.
const mostPlaces = 100

// metaPath asks ownCloud for the path of the entry with an id. OpenCloud answers as ownCloud 10 does, with the path in the
// entry's space.
func (c *Client) metaPath(ctx context.Context, credential filehost.Credential, hostID string) (filehost.Path, error) {
	top, _ := within([]string{"remote.php", "dav", "meta"})
	resource, ok := filehost.Root.Join(hostID)
	if !ok {
		return filehost.Root, c.noSuchID(errors.New("the id is no segment of a path"))
	}
	ask := propfind{
		credential: &credential,
		tree:       tree{origin: c.host.Origin(), top: c.below(top)},
		path:       resource,
		folder:     true,
		depth:      "0",
		body:       propfindBody(ocMetaPath),
	}
	var path filehost.Path
	err := c.propfind(ctx, ask, func(found found) (err error) {
		if found.values == nil {
			return c.noSuchID(fmt.Errorf("status %d of the path", found.status))
		}
		text, _ := found.values.text(ocMetaPath)
		if text == "" { // which OpenCloud says of what is gone, or of nothing
			return nil
		}
		if path, err = filehost.ParsePath("path", text); err != nil {
			return c.nonsense(err)
		}
		return nil
	})
	switch {
	case answeredWith(err) == http.StatusBadRequest: // it has no ids of this form
		return filehost.Root, c.noSuchID(err)
	case err == nil && path.IsRoot():
		return filehost.Root, c.noSuchID(errors.New("the host told no path"))
	}
	return path, err
}

// below is a path below that of the host's base URL.
func (c *Client) below(path filehost.Path) filehost.Path {
	whole := c.base
	for _, name := range path.Segments() {
		whole, _ = whole.Join(name) // a segment already
	}
	return whole
}
