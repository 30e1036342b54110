package remote

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// space is a top-level folder of a user's.
type space struct {
	id string // of the drive
	mount
}

// incoming is what somebody shares with a user, and where that lies below the space of shares.
type incoming struct {
	mount
	share string // the id of the share
	drive string // the id of the drive that it is in
	item  string // its id there
	name  string // its name there
}

// spaces are a user's, as the host has told them at one time.
type spaces struct {
	list     []space
	incoming []incoming
}

// at finds the space at a top-level path. Names are the same as Unicode says (NFC).
func (s *spaces) at(top filehost.Path) (space, bool) {
	for _, each := range s.list {
		if each.path == top || each.path.Name() == norm.NFC.String(top.Name()) {
			return each, true
		}
	}
	return space{}, false
}

// drive finds the space that is a drive.
func (s *spaces) drive(id string) (space, bool) {
	at := slices.IndexFunc(s.list, func(each space) bool { return each.id == id })
	if at < 0 {
		return space{}, false
	}
	return s.list[at], true
}

// mounts finds where a user has the parts of the host that answers are about.
type mounts struct {
	byName map[string]mount // as answers name them: the id of a drive, or that of a share behind an exclamation mark
	byPath map[filehost.Path]mount
}

// mounts returns where each space is, and each entry that somebody shares.
func (s *spaces) mounts() *mounts {
	m := &mounts{byName: map[string]mount{}, byPath: map[filehost.Path]mount{}}
	for _, each := range s.list {
		m.byName[each.id], m.byPath[each.path] = each.mount, each.mount
	}
	for _, each := range s.incoming {
		m.byName["!"+each.share], m.byPath[each.path] = each.mount, each.mount
	}
	return m
}

// named finds the mount that a segment of an href names. Of a share it has the storage as well, in one form or another.
func (m *mounts) named(segment string) (mount, bool) {
	if shared := strings.IndexByte(segment, '!'); shared >= 0 {
		segment = segment[shared:]
	}
	at, ok := m.byName[segment]
	return at, ok
}

// spaceTree returns the tree of the space that a path is in.
func (c *Client) spaceTree(ctx context.Context, credential filehost.Credential, path filehost.Path) (tree, error) {
	top, _ := path.Top()
	if top.IsRoot() {
		return tree{}, filehost.E(filehost.Unsupported, "There are only spaces at the top of "+c.host.Name+": choose one of them.",
			errors.New("the top folder is no resource of the host"))
	}
	var at space
	_, err := c.knownSpaces(ctx, credential, func(known *spaces) (ok bool) {
		at, ok = known.at(top)
		return ok
	})
	switch {
	case err != nil:
		return tree{}, err
	case at.id == "":
		return tree{}, c.statusError(http.StatusNotFound)
	}
	return c.treeOf(at)
}

// treeOf is the tree of a space.
func (c *Client) treeOf(at space) (tree, error) {
	top, err := within([]string{"dav", "spaces", at.id})
	if err != nil {
		return tree{}, c.nonsense(err)
	}
	return tree{origin: c.host.Origin(), top: c.below(top), mount: at.mount}, nil
}

// knownSpaces returns a user's spaces as they were told lately, if they are enough for what is wanted of them, or else as the
// host tells them now.
func (c *Client) knownSpaces(ctx context.Context, credential filehost.Credential, enough func(*spaces) bool) (*spaces, error) {
	if known := c.spaces.of(credential, c.clock.Now()); known != nil && enough(known) {
		return known, nil
	}
	told, err := c.askSpaces(ctx, credential)
	if err != nil {
		return nil, err
	}
	enough(told)
	return told, nil
}

// askSpaces asks the host for a user's spaces and keeps them for a while.
func (c *Client) askSpaces(ctx context.Context, credential filehost.Credential) (*spaces, error) {
	asked := c.clock.Now()
	told, err := c.drives(ctx, credential)
	if err != nil {
		return nil, err
	}
	c.spaces.keep(credential, told, asked)
	return told, nil
}

// top is the user's top folder at a host with spaces, which the host doesn't have.
func (c *Client) top() filehost.Entry {
	return filehost.Entry{Path: filehost.Root, Kind: filehost.Folder, Permissions: onlyRead}
}

// spacesAtOnce are looked at together.
const spacesAtOnce = 8

// listSpaces lists a user's spaces as his top-level folders, each as it is. One that has gone meanwhile, or that may not be
// looked at, is left out.
func (c *Client) listSpaces(ctx context.Context, credential filehost.Credential, each func(filehost.Entry) error) (filehost.Entry, error) {
	told, err := c.askSpaces(ctx, credential)
	if err != nil {
		return filehost.Entry{}, err
	}
	entries, err := inParallel(ctx, told.list, spacesAtOnce, func(ctx context.Context, at space) (filehost.Entry, error) {
		tree, err := c.treeOf(at)
		if err != nil {
			return filehost.Entry{}, err
		}
		return c.statOnce(ctx, propfind{credential: &credential, tree: tree, path: at.path, folder: true, depth: "0"})
	})
	if err != nil {
		return filehost.Entry{}, err
	}
	for _, entry := range entries {
		if err := each(entry); err != nil {
			return filehost.Entry{}, err
		}
	}
	return c.top(), nil
}

// inParallel looks at all items, so many at once, and returns what there is of them in their order. What is gone, or may not
// be looked at, is left out; the first other error ends it.
func inParallel[T any](
	ctx context.Context, items []T, atOnce int, look func(context.Context, T) (filehost.Entry, error),
) ([]filehost.Entry, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := make([]*filehost.Entry, len(items))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(atOnce, len(items)) {
		workers.Go(func() {
			for i := range next {
				err := filehost.Recovered(func() error {
					entry, err := look(ctx, items[i])
					if err == nil {
						found[i] = &entry
					}
					return err
				})
				if kind := filehost.KindOf(err); err != nil && kind != filehost.NotFound && kind != filehost.Forbidden {
					cancel(err)
				}
			}
		})
	}
	for i := range items {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	entries := make([]filehost.Entry, 0, len(items))
	for _, entry := range found {
		if entry != nil {
			entries = append(entries, *entry)
		}
	}
	return entries, nil
}
