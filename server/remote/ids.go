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
	idsBySpace             // the same, which tells the path in a space: the id begins with that of the space
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

// StatID implements filehost.Remote. What the host finds is asked for its id again: meanwhile something else may be there.
func (c *Client) StatID(ctx context.Context, credential filehost.Credential, hostID string) (entry filehost.Entry, err error) {
	switch c.profile.ids {
	case idsBySearch:
		entry, err = c.searchID(ctx, credential, hostID)
	case idsByMetaPath:
		var path filehost.Path
		if path, err = c.metaPath(ctx, credential, hostID); err == nil {
			entry, err = c.Stat(ctx, credential, path)
		}
	case idsBySpace:
		return c.statInSpace(ctx, credential, hostID)
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

// statInSpace finds an entry by the path that OpenCloud tells of its id: in the space that the id names, or in what somebody
// shares with the user of a space that he doesn't have.
func (c *Client) statInSpace(ctx context.Context, credential filehost.Credential, hostID string) (filehost.Entry, error) {
	drive, _, ok := driveItem(hostID)
	if !ok {
		return filehost.Entry{}, c.noSuchID(errors.New("the id names no space"))
	}
	told, err := c.toldPath(ctx, credential, hostID)
	if err != nil {
		return filehost.Entry{}, err
	}
	var places []place
	_, err = c.knownSpaces(ctx, credential, func(known *spaces) bool {
		places = known.places(drive, hostID, told)
		return len(places) > 0
	})
	if err != nil {
		return filehost.Entry{}, err
	}
	for _, at := range places[:min(len(places), mostPlaces)] {
		entry, err := c.Stat(ctx, credential, at.path)
		switch {
		case err == nil && entry.HostID == at.hostID:
			return entry, nil
		case err != nil && filehost.KindOf(err) != filehost.NotFound:
			return filehost.Entry{}, err
		}
	}
	return filehost.Entry{}, c.noSuchID(errors.New("it is in no space of the user's"))
}

// place is where an entry may be, and its id there.
type place struct {
	path   filehost.Path
	hostID string
}

// places are where the entry of a drive may be, by its path there. What somebody shares has an id of its own where the user
// has it, and what lies in it the id that it has for its owner.
func (s *spaces) places(drive, hostID string, told filehost.Path) []place {
	if at, ok := s.drive(drive); ok {
		return []place{{told.In(at.path), hostID}}
	}
	var places []place
	top, rest := told.Top()
	for _, each := range s.incoming {
		switch {
		case each.drive != drive || each.name != top.Name():
		case !rest.IsRoot():
			places = append(places, place{rest.In(each.path), hostID})
		case each.item == hostID:
			places = append(places, place{each.path, each.id})
		}
	}
	return places
}

// mostPlaces is at how many paths one file is looked for.
const mostPlaces = 100

// metaPath asks ownCloud for the path of the entry with an id.
func (c *Client) metaPath(ctx context.Context, credential filehost.Credential, hostID string) (filehost.Path, error) {
	path, err := c.toldPath(ctx, credential, hostID)
	if err == nil && path.IsRoot() {
		err = c.noSuchID(errors.New("it is the top folder"))
	}
	return path, err
}

// toldPath is what the host tells of an entry's path by its id. OpenCloud answers as ownCloud 10 does, with the path in the
// entry's space; of what somebody shares with the user, with that below the first folder that he may see.
func (c *Client) toldPath(ctx context.Context, credential filehost.Credential, hostID string) (filehost.Path, error) {
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
	told := false
	err := c.propfind(ctx, ask, func(found found) (err error) {
		if found.values == nil {
			return c.noSuchID(fmt.Errorf("status %d of the path", found.status))
		}
		text, _ := found.values.text(ocMetaPath)
		if told = text != ""; !told { // which OpenCloud says of what is gone, or of nothing
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
	case err == nil && !told:
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
