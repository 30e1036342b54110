package remote

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// dialect is how a kind of host searches.
type dialect int

const (
	noSearch       dialect = iota
	basicSearches          // SEARCH with basicsearch (RFC 5323 5): Nextcloud
	wordReports            // REPORT oc:search-files of a part of the name, below the user's top folder only: ownCloud 10
	keywordReports         // the same in KQL, below a space: OpenCloud and Infinite Scale
)

// hits takes what a host finds.
type hits struct {
	client *Client
	query  filehost.Query
	each   func(filehost.Entry) error
	named  bool // the host may find names that don't contain the text
	shares bool // an entry tells whether it is shared
	rows   int
	total  int // as the host counts them; 0 = it doesn't say
}

// errEnough ends the reading of an answer of which no more is wanted.
var errEnough = errors.New("enough rows")

// Find implements filehost.Remote.
func (c *Client) Find(
	ctx context.Context, credential filehost.Credential, query filehost.Query, each func(filehost.Entry) error,
) (truncated bool, err error) {
	if query.View == filehost.SharedView && c.profile.capabilities.Shared {
		return c.received(ctx, credential, query, each)
	}
	query.Text = norm.NFC.String(query.Text)
	found := &hits{client: c, query: query, each: each, shares: true}
	ask, err := c.asking(ctx, &credential, found)
	if err != nil {
		return false, err
	}
	err = c.propfind(ctx, ask, found.add)
	if err != nil && !errors.Is(err, errEnough) {
		return false, c.notFound(ctx, credential, query.Folder, err)
	}
	return found.rows > query.Most || found.total > found.rows, nil
}

// asking is the request for a query, and how its answer is to be taken.
func (c *Client) asking(ctx context.Context, credential *filehost.Credential, found *hits) (propfind, error) {
	query := found.query
	switch {
	case query.View == filehost.Favorites && c.profile.capabilities.Favorites:
		return c.favorites(ctx, credential, query.Folder)
	case c.profile.search == basicSearches && query.View == filehost.Recent:
		return c.search(ctx, credential, query.Folder, basicSearch{
			properties: c.profile.properties, where: both(withTypes(not(isFolder), query.Types)...), newest: true, most: query.Most + spareRows,
		})
	case query.View != filehost.FolderView:
	case c.profile.search == basicSearches:
		return c.search(ctx, credential, query.Folder, basicSearch{
			properties: c.profile.properties, where: both(withTypes(contains(query.Text), query.Types)...), most: query.Most + spareRows,
		})
	case c.profile.search == wordReports:
		return c.wordReport(ctx, credential, found)
	case c.profile.search == keywordReports:
		return c.keywordReport(ctx, credential, found)
	}
	return propfind{}, c.statusError(http.StatusNotImplemented)
}

// spareRows are asked for beyond those wanted: one that tells that there are more, and the folder itself, which Nextcloud
// counts and leaves out.
const spareRows = 2

// isFolder is what Nextcloud takes folders for.
var isFolder = equal("d:getcontenttype", "httpd/unix-directory")

// maxTypes is how many types are looked for by the host. It takes a hundred operators.
const maxTypes = 50

// withTypes adds the types, as far as the host can tell them apart: of a MIME type it compares the part before the slash.
func withTypes(base condition, types []string) []condition {
	if len(types) == 0 || len(types) > maxTypes {
		return []condition{base}
	}
	var wanted []condition
	for _, each := range types {
		switch part, _, _ := strings.Cut(strings.ToLower(each), "/"); {
		case each == string(filehost.Folder):
			wanted = append(wanted, isFolder)
		case each == string(filehost.File):
			wanted = append(wanted, not(isFolder))
		case part == "" || strings.Contains(part, "%") || !isXMLText(part):
			return []condition{base}
		default:
			wanted = append(wanted, comparison("like", "d:getcontenttype", part+"/%"))
		}
	}
	return []condition{base, either(wanted...)}
}

func (h *hits) add(found found) error {
	if h.rows++; h.rows > h.query.Most {
		return errEnough
	}
	if found.values == nil { // gone in between
		return nil
	}
	entry, err := h.client.entry(found)
	if err != nil {
		return err
	}
	if !entry.Path.IsBelow(h.query.Folder) || h.named && !nameContains(entry.Path.Name(), h.query.Text) {
		return nil
	}
	if !h.shares {
		entry.Shared = nil
	}
	return h.each(entry)
}

func nameContains(name, text string) bool {
	return strings.Contains(strings.ToLower(norm.NFC.String(name)), strings.ToLower(text))
}

// notFound says why nothing could be looked for: hosts differ in what they answer when the folder is none.
func (c *Client) notFound(ctx context.Context, credential filehost.Credential, folder filehost.Path, err error) error {
	if answeredWith(err) == 0 || answeredWith(err) == http.StatusUnauthorized || folder.IsRoot() {
		return err
	}
	switch entry, statErr := c.Stat(ctx, credential, folder); {
	case filehost.KindOf(statErr) == filehost.NotFound:
		return statErr
	case statErr == nil && entry.Kind == filehost.File:
		return noFolder(folder)
	}
	return err
}

// favorites is the request for what the user has marked.
func (c *Client) favorites(ctx context.Context, credential *filehost.Credential, folder filehost.Path) (propfind, error) {
	tree, err := c.tree(ctx, *credential, folder)
	body := xml.Header + `<oc:filter-files` + namespaces + `>` + propElements(c.profile.properties...) +
		`<oc:filter-rules><oc:favorite>1</oc:favorite></oc:filter-rules></oc:filter-files>`
	return report(credential, tree, folder, body), err
}

func report(credential *filehost.Credential, tree tree, folder filehost.Path, body string) propfind {
	return propfind{
		method: "REPORT", body: []byte(body), credential: credential, tree: tree, path: folder, folder: true, patience: listPatience,
		header: map[string]string{"Depth": "0"},
	}
}

// searchFiles is the body of the report that ownCloud and OpenCloud search with.
func (c *Client) searchFiles(pattern string, most int) string {
	return xml.Header + `<oc:search-files` + namespaces + `>` + propElements(c.profile.properties...) +
		`<oc:search><oc:pattern>` + escape(pattern) + `</oc:pattern><oc:limit>` + strconv.Itoa(most) + `</oc:limit></oc:search></oc:search-files>`
}

// wordReport searches at ownCloud 10, which takes % and _ for others and doesn't know the folder: what is not below it is
// left out here, and the folder looked at by itself.
func (c *Client) wordReport(ctx context.Context, credential *filehost.Credential, found *hits) (propfind, error) {
	tree, err := c.tree(ctx, *credential, found.query.Folder)
	if err != nil {
		return propfind{}, err
	}
	if folder := found.query.Folder; !folder.IsRoot() {
		entry, err := c.Stat(ctx, *credential, folder)
		switch {
		case err != nil:
			return propfind{}, err
		case entry.Kind == filehost.File:
			return propfind{}, noFolder(folder)
		}
	}
	found.named = strings.ContainsAny(found.query.Text, `%_\`)
	return report(credential, tree, filehost.Root, c.searchFiles(found.query.Text, found.query.Most+1)), nil
}

// unsaid are the characters that a quoted value of KQL can't hold, or that end a scope within one. They are looked for as
// any one character.
var unsaid = strings.NewReplacer(`"`, `?`, `:`, `?`)

// keywordReport searches at OpenCloud: in the space that the folder is in, or in all of them from the top. What others share
// is found by the search of everything alone. The answer names entries by their spaces, tells of none whether it is shared,
// and finds other names for * and ?.
func (c *Client) keywordReport(ctx context.Context, credential *filehost.Credential, found *hits) (propfind, error) {
	found.named, found.shares = true, false
	pattern := `name:"*` + unsaid.Replace(found.query.Text) + `*"`
	folder := found.query.Folder
	if folder.IsRoot() {
		return c.everywhere(ctx, credential, found, pattern)
	}
	tree, err := c.tree(ctx, *credential, folder)
	if err != nil {
		return propfind{}, err
	}
	id, err := c.folderID(ctx, credential, tree, folder)
	switch {
	case err != nil:
		return propfind{}, err
	case tree.mount.space == filehost.SharesSpace:
		return c.everywhere(ctx, credential, found, pattern)
	}
	if folder != tree.mount.path {
		if !filehost.IsHostID(id) {
			return propfind{}, c.nonsense(fmt.Errorf("the id of a folder is %q", id))
		}
		pattern += " scope:" + id
	}
	// Its first versions search all spaces at any other address, and name entries by the older one whatever was asked.
	tree.also = c.olderSpaces(tree.top.Name()).Segments()
	ask := report(credential, tree, folder, c.searchFiles(pattern, found.query.Most+1))
	ask.address = tree.origin + tree.top.Escaped()
	ask.answered = found.counted
	return ask, nil
}

// everywhere is the request for a search in all spaces, and in all that others share.
func (c *Client) everywhere(ctx context.Context, credential *filehost.Credential, found *hits, pattern string) (propfind, error) {
	told, err := c.askSpaces(ctx, *credential) // what is in a space that is new must not be missing
	if err != nil {
		return propfind{}, err
	}
	top, _ := within([]string{"dav", "spaces"})
	older := c.olderSpaces("")
	tree := tree{origin: c.host.Origin(), top: c.below(top), also: older.Segments(), mounts: told.mounts()}
	ask := report(credential, tree, filehost.Root, c.searchFiles(pattern, found.query.Most+1))
	ask.address = tree.origin + older.Escaped()
	ask.answered = found.counted
	return ask, nil
}

// olderSpaces is the older address of a space, or with "" of all of them.
func (c *Client) olderSpaces(id string) filehost.Path {
	older, _ := within([]string{"remote.php", "dav", "spaces"})
	if whole, ok := older.Join(id); ok {
		older = whole
	}
	return c.below(older)
}

// counted takes down how many entries the host has found.
func (h *hits) counted(header http.Header) error {
	_, total, _ := strings.Cut(header.Get("Content-Range"), "/") // rows 0-9/10
	h.total, _ = strconv.Atoi(total)                             // 0 = it is not told
	return nil
}

// folderID asks for the host's id of a folder.
func (c *Client) folderID(ctx context.Context, credential *filehost.Credential, tree tree, folder filehost.Path) (id string, err error) {
	ask := propfind{credential: credential, tree: tree, path: folder, depth: "0", body: propfindBody(resourceType, ocFileID)}
	err = c.propfind(ctx, ask, func(found found) error {
		switch {
		case found.values == nil:
			return c.statusError(found.status)
		case !found.values.collection():
			return noFolder(folder)
		}
		text, _ := found.values.text(ocFileID)
		id = strings.Clone(text)
		return nil
	})
	return id, err
}
