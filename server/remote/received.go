package remote

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// receivedAtOnce are looked at together, of what others share.
const receivedAtOnce = 8

// accepted is the state of a share that its user has taken. ownCloud tells it; Nextcloud lists no other.
const accepted = 0

// received passes what others share with the user to each, as far as it is below the folder, and returns whether there is
// more than query.Most.
func (c *Client) received(
	ctx context.Context, credential filehost.Credential, query filehost.Query, each func(filehost.Entry) error,
) (truncated bool, err error) {
	if !query.Folder.IsRoot() {
		switch folder, err := c.Stat(ctx, credential, query.Folder); {
		case err != nil:
			return false, err
		case folder.Kind == filehost.File:
			return false, noFolder(query.Folder)
		}
	}
	if c.profile.spaces {
		return c.inShares(ctx, credential, query, each)
	}
	paths, err := c.receivedPaths(ctx, credential, query.Folder)
	if err != nil {
		return false, err
	}
	shown := paths[:min(len(paths), query.Most)]
	entries, err := inParallel(ctx, shown, receivedAtOnce, func(ctx context.Context, path filehost.Path) (filehost.Entry, error) {
		return c.Stat(ctx, credential, path)
	})
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if err := each(entry); err != nil {
			return false, err
		}
	}
	return len(paths) > len(shown), nil
}

// inShares lists the space of shares, which holds what others share and the user has taken.
func (c *Client) inShares(
	ctx context.Context, credential filehost.Credential, query filehost.Query, each func(filehost.Entry) error,
) (truncated bool, err error) {
	told, err := c.askSpaces(ctx, credential)
	if err != nil {
		return false, err
	}
	for _, space := range told.list {
		if space.space != filehost.SharesSpace {
			continue
		}
		found := 0
		_, err := c.List(ctx, credential, space.path, func(entry filehost.Entry) error {
			if !entry.Path.IsBelow(query.Folder) {
				return nil
			}
			if found++; found > query.Most {
				return errEnough
			}
			return each(entry)
		})
		if errors.Is(err, errEnough) {
			return true, nil
		}
		return false, err
	}
	return false, nil // the host shows none to the user
}

// receivedPaths asks OCS for where the user has what others share with him below a folder. What came to him in several ways
// is at one place.
func (c *Client) receivedPaths(ctx context.Context, credential filehost.Credential, folder filehost.Path) ([]filehost.Path, error) {
	data, err := ocsShares{c}.ask(ctx, credential, http.MethodGet, "", url.Values{"shared_with_me": {"true"}})
	switch {
	case filehost.KindOf(err) == filehost.NotFound: // sharing is switched off
		return nil, c.unable()
	case err != nil:
		return nil, err
	}
	var shares []struct {
		Path  *string `json:"path"`
		State loose   `json:"state"`
	}
	if err := json.Unmarshal(data, &shares); err != nil {
		return nil, c.nonsense(err)
	}
	var paths []filehost.Path
	seen := map[filehost.Path]bool{}
	for _, share := range shares {
		switch {
		case share.State.number() != accepted:
			continue
		case share.Path == nil:
			return nil, c.nonsense(errors.New("a share is nowhere"))
		}
		path, err := filehost.ParsePath("path", *share.Path)
		if err != nil || path.IsRoot() {
			return nil, c.nonsense(errors.Join(err, errors.New("a share is at no path")))
		}
		if path.IsBelow(folder) && !seen[path] {
			seen[path] = true
			paths = append(paths, path)
		}
	}
	return paths, nil
}
