package remote

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// userSegment stands for the user's id in profile.davRoot.
const userSegment = "{user}"

// profile is what one kind of host does in its own way.
type profile struct {
	davRoot       []string     // the user's top folder, below the base URL
	spaces        bool         // the top-level folders are the drives of its Graph API, and nothing else; davRoot is not used
	properties    []property   // asked for of each entry
	alwaysETag    bool         // an entry without ETag is one that the host hides
	etagHeaders   []string     // where an answer to GET has its ETag, the best first
	permissions   []permission // of the letters in oc:permissions, in the order of filehost.Entry; a handful
	silent        []filehost.Permission
	webPath       []string // opens an entry, below the base URL; {id} is its oc:fileid
	accountPath   string   // tells the user's id, below the base URL, as OCS does; "" = the host can't
	revokePath    string   // ends the app password or token that calls it, below the base URL; "" = the host has no such route
	appTokens     bool     // makes app tokens, which end themselves by the list of them
	statusPath    string   // tells the host's state without sign-in; "" = only its DAV root can be asked
	otherProducts []string // the names in that state of hosts that another profile is for
	ids           idLookup // how an entry is found by its oc:fileid; zero = it isn't
	search        dialect  // how names are searched for; zero = they can't be
	etagsRise     bool     // an entry's change changes the ETags of all folders that it is in, but what is mounted
	previews      previews // how it gives small images of files; zero = it doesn't
	paging        paging   // how the host gives a listing in parts; zero = it doesn't
	saves         saves    // how a file is saved
	sharing       sharing  // how shares are made; zero = they can't be
	// inheritedShares = OCS tells the shares of all folders above an entry at once.
	inheritedShares bool
	capabilities    filehost.Capabilities
}

// permission is granted by a letter or, inverted, by its absence.
type permission struct {
	letter   string
	inverted bool
	grants   filehost.Permission
}

// profiles is the table of the kinds of host. A kind that is not in it is served as plain WebDAV.
var profiles = map[string]profile{
	"nextcloud": {
		davRoot: []string{"remote.php", "dav", "files", userSegment},
		properties: []property{
			resourceType, contentLength, contentType, lastModified, etag,
			ocSize, ocPermissions, ocFileID, ocFavorite, ocShareTypes, ncShareAttributes, ncHasPreview,
		},
		alwaysETag:    true,
		etagHeaders:   []string{"OC-ETag", "ETag"},
		etagsRise:     true,
		permissions:   append([]permission{{letter: "G", grants: filehost.Read}}, ocLetters...),
		silent:        []filehost.Permission{filehost.Read},
		webPath:       []string{"index.php", "f", "{id}"},
		accountPath:   "/ocs/v2.php/cloud/user?format=json",
		revokePath:    "/ocs/v2.php/core/apppassword",
		statusPath:    "/status.php",
		otherProducts: []string{"ownCloud", "Infinite Scale", "OpenCloud"},
		paging: paging{
			feature: "nc-paginate", begin: "X-NC-Paginate", rows: "X-NC-Paginate-Count", offset: "X-NC-Paginate-Offset",
			listing: "X-NC-Paginate-Token", total: "X-NC-Paginate-Total",
		},
		previews: previews{
			query:  map[string]string{"a": "1", "forceIcon": "0"}, // the whole image, not a square of it; no icon where there is none
			byPath: "/index.php/core/preview.png", byID: "/index.php/core/preview", property: true,
			none: []int{http.StatusBadRequest},
		},
		ids:     idsBySearch,
		search:  basicSearches,
		saves:   byPutOrChunks,
		sharing: ocsSharing, inheritedShares: true,
		capabilities: filehost.Capabilities{Links: allLinks, Search: true, Recent: true, Favorites: true, Shared: true, Thumbnails: true, StableIDs: true, ChangeDetection: true, Save: true},
	},
	"owncloud": {
		davRoot: []string{"remote.php", "dav", "files", userSegment},
		properties: []property{
			resourceType, contentLength, contentType, lastModified, etag,
			ocSize, ocPermissions, ocFileID, ocFavorite, ocShareTypes, ocPrivateLink,
		},
		alwaysETag:    true,
		etagHeaders:   []string{"OC-ETag", "ETag"},
		etagsRise:     true,
		permissions:   unlessViewOnly,
		silent:        []filehost.Permission{filehost.Read},
		accountPath:   "/ocs/v2.php/cloud/user?format=json",
		statusPath:    "/status.php",
		otherProducts: []string{"Nextcloud", "Infinite Scale", "OpenCloud"},
		ids:           idsByMetaPath,
		search:        wordReports,
		saves:         byPut,
		previews:      previews{query: previewOfFile, types: []string{"image/png", "image/jpeg", "image/gif", "image/bmp", "text/plain"}},
		sharing:       ocsSharing,
		capabilities:  filehost.Capabilities{Links: allLinks, Search: true, Favorites: true, Shared: true, Thumbnails: true, StableIDs: true, ChangeDetection: true, Save: true},
	},
	// OpenCloud, and ownCloud Infinite Scale that it comes from. They heed neither If-Match nor If-None-Match as they should.
	"opencloud": {
		spaces: true,
		properties: []property{
			resourceType, contentLength, contentType, lastModified, etag, ocSize, ocPermissions, ocFileID, ocShareTypes, ocPrivateLink,
		},
		etagHeaders:   []string{"OC-ETag", "ETag"},
		etagsRise:     true,
		permissions:   unlessViewOnly,
		silent:        []filehost.Permission{filehost.Read},
		accountPath:   "/ocs/v2.php/cloud/user?format=json",
		appTokens:     true,
		statusPath:    "/status.php",
		otherProducts: []string{"Nextcloud", "ownCloud"},
		ids:           idsBySpace,
		search:        keywordReports,
		saves:         byTUS,
		previews: previews{
			query: map[string]string{"preview": "1", "processor": "fit"}, // the whole image, not a square of it
			types: []string{"image/png", "image/jpeg", "image/gif", "image/bmp", "image/tiff", "text/plain"},
			none:  []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError}, // the second: too many pixels
		},
		sharing:      graphSharing,
		capabilities: filehost.Capabilities{Links: allLinks, Search: true, Shared: true, Thumbnails: true, StableIDs: true, ChangeDetection: true, Spaces: true, Save: true},
	},
	"webdav": {
		properties:   []property{resourceType, contentLength, contentType, lastModified, etag},
		etagHeaders:  []string{"ETag"},
		silent:       []filehost.Permission{filehost.Read, filehost.Write, filehost.Delete, filehost.Rename, filehost.Create},
		capabilities: filehost.Capabilities{ChangeDetection: true, Save: true},
	},
}

// allLinks are the links of a host that has them all. Capabilities takes away what it doesn't let a user make.
var allLinks = filehost.Links{Internal: true, Public: true, Password: true, Expiry: true, Permissions: true}

// previewOfFile asks ownCloud for the whole image, not a square of it, and for none that is larger than the file's own.
var previewOfFile = map[string]string{"preview": "1", "a": "1", "scalingup": "0"}

var ocLetters = []permission{
	{letter: "W", grants: filehost.Write},
	{letter: "D", grants: filehost.Delete},
	{letter: "N", grants: filehost.Rename},
	{letter: "C", grants: filehost.Create},
	{letter: "R", grants: filehost.Share},
}

// unlessViewOnly is for hosts of which no letter says that an entry can be read. X stands for one that may be looked at,
// but not downloaded.
var unlessViewOnly = append([]permission{{letter: "X", inverted: true, grants: filehost.Read}}, ocLetters...)

// Kinds are the kinds of host that have a profile.
func Kinds() []string { return slices.Sorted(maps.Keys(profiles)) }

func profileOf(kind string) profile {
	if known, ok := profiles[kind]; ok {
		return known
	}
	return profiles["webdav"]
}

// grants are the permissions of a host's entries, one list for each set of those that oc:permissions can grant: entries
// share them.
type grants struct {
	profile profile
	lists   [][]filehost.Permission // by the bits of those in profile.permissions that are granted
}

func newGrants(p profile) grants {
	g := grants{p, make([][]filehost.Permission, 1<<len(p.permissions))}
	for set := range g.lists {
		g.lists[set] = []filehost.Permission{}
		for i, permission := range p.permissions {
			if set&(1<<i) != 0 {
				g.lists[set] = append(g.lists[set], permission.grants)
			}
		}
	}
	return g
}

var onlyRead, nothing = []filehost.Permission{filehost.Read}, []filehost.Permission{}

// granted is what an entry's credential lets its user do: what the host grants, or of that no more than to read.
func (g grants) granted(values *properties, readOnly bool) []filehost.Permission {
	list := g.told(values)
	switch {
	case !readOnly:
		return list
	case slices.Contains(list, filehost.Read):
		return onlyRead
	}
	return nothing
}

// told reads oc:permissions. A host that doesn't tell leaves it to the attempt.
func (g grants) told(values *properties) []filehost.Permission {
	letters, told := values.text(ocPermissions)
	if !told || len(g.profile.permissions) == 0 {
		return g.profile.silent
	}
	set, hidden := 0, viewOnly(values)
	for i, permission := range g.profile.permissions {
		if strings.Contains(letters, permission.letter) != permission.inverted && (!hidden || permission.grants != filehost.Read) {
			set |= 1 << i
		}
	}
	return g.lists[set]
}

// viewOnly tells whether an entry is shared to be looked at and not to be downloaded. Nextcloud gives its bytes out all the
// same and leaves it to the client to heed that.
func viewOnly(values *properties) bool {
	text, _ := values.text(ncShareAttributes)
	if text == "" || text == "[]" {
		return false
	}
	var attributes []struct {
		Scope string `json:"scope"`
		Key   string `json:"key"`
		Value *bool  `json:"value"`
	}
	if json.Unmarshal([]byte(text), &attributes) != nil {
		return false // none, or of a kind that we don't know
	}
	for _, attribute := range attributes {
		if attribute.Scope == "permissions" && attribute.Key == "download" && attribute.Value != nil && !*attribute.Value {
			return true
		}
	}
	return false
}
