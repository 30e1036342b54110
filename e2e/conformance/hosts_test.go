package conformance

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote/remotetest"
)

var allLinks = filehost.Links{Internal: true, Public: true, Password: true, Expiry: true, Permissions: true}

var (
	attempted   = []filehost.Permission{filehost.Read, filehost.Write, filehost.Delete, filehost.Rename, filehost.Create}
	ownedFile   = []filehost.Permission{filehost.Read, filehost.Write, filehost.Delete, filehost.Rename, filehost.Share}
	ownedFolder = []filehost.Permission{filehost.Read, filehost.Delete, filehost.Rename, filehost.Create, filehost.Share}
)

// kind is a host that runs here.
type kind struct {
	start  func(*testing.T) remotetest.Host
	limits remotetest.Limits
}

// kinds are all of them, by their columns in docs/hosts.md.
var kinds = map[string]kind{
	"nextcloud": {
		start: func(t *testing.T) remotetest.Host { return double(t, starter(doubles.StartNextcloud), doubled) },
		limits: remotetest.Limits{
			RefusedNames: []string{`back\slash`, "two\nlines", "tab\tbed", "\x01control", remotetest.Longest, remotetest.LongestUmlauts},
			Dates:        true, Unsavable: []string{"two\nlines", "tab\tbed", "\x01control", remotetest.Longest, remotetest.LongestUmlauts},
			Composed: true, Tracks: true, Pages: true, File: ownedFile, Folder: ownedFolder, Foreign: filehost.Forbidden,
			Capabilities: filehost.Capabilities{Links: allLinks, Search: true, Recent: true, Favorites: true, Shared: true, Thumbnails: true, StableIDs: true, ChangeDetection: true, Save: true},
		},
	},
	"owncloud": {
		start: func(t *testing.T) remotetest.Host {
			host := double(t, starter(doubles.StartOwnCloud), doubled)
			host.Stranger = "" // nobody has recorded what it answers for another user's files
			return host
		},
		limits: remotetest.Limits{
			RefusedNames: []string{`back\slash`, "two\nlines", "tab\tbed", "\x01control"},
			Dates:        true, Unsavable: []string{"two\nlines", "tab\tbed", "\x01control"},
			Composed: true, Tracks: true, File: ownedFile, Folder: ownedFolder, NoFileEdits: true,
			Capabilities: filehost.Capabilities{Links: allLinks, Search: true, Favorites: true, Shared: true, Thumbnails: true, StableIDs: true, ChangeDetection: true, Save: true},
		},
	},
	"opencloud": {
		// It has no double of MKCOL.
		start: func(t *testing.T) remotetest.Host {
			host := double(t, starter(doubles.StartOpenCloud), onDisk)
			host.Stranger = "" // no path names a user
			return host
		},
		limits: remotetest.Limits{
			RefusedNames: []string{`back\slash`, "two\nlines", "latin \xe9"}, Unreadable: []string{"\x01control"},
			Dates: true, Unsavable: []string{"two\nlines"},
			Tracks: true, File: ownedFile, Folder: ownedFolder, LinkPassword: true,
			Capabilities: filehost.Capabilities{Links: allLinks, Search: true, Shared: true, Thumbnails: true, StableIDs: true, ChangeDetection: true, Spaces: true, Save: true},
		},
	},
	"apache": {
		start:  func(t *testing.T) remotetest.Host { return webServer(t, stack.StartApache) },
		limits: remotetest.Limits{File: attempted, Folder: attempted, Forbidden: filehost.Forbidden, Capabilities: filehost.Capabilities{ChangeDetection: true, Save: true}},
	},
	"nginx": {
		start: func(t *testing.T) remotetest.Host { return webServer(t, stack.StartNginx) },
		limits: remotetest.Limits{
			Hidden: []string{".hidden", "..hidden", "..."}, NoETags: true, File: attempted, Folder: attempted, Forbidden: filehost.HostUnavailable,
			Capabilities: filehost.Capabilities{ChangeDetection: true, Save: true}},
	},
	"rclone": {
		start:  rclone,
		limits: remotetest.Limits{Dates: true, File: attempted, Folder: attempted, Capabilities: filehost.Capabilities{ChangeDetection: true, Save: true}},
	},
	"x-net-webdav": {
		start:  goWebDAV,
		limits: remotetest.Limits{File: attempted, Folder: attempted, Forbidden: filehost.HostUnavailable, Capabilities: filehost.Capabilities{ChangeDetection: true, Save: true}},
	},
}

// TestHosts holds each host to the suite: those that run here, or the one that HOST_URL names.
func TestHosts(t *testing.T) {
	if os.Getenv("HOST_URL") != "" {
		t.Run("HOST_URL", func(t *testing.T) { remotetest.Run(t, given(t)) })
		return
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(name, func(t *testing.T) {
			host := kinds[name].start(t)
			host.Limits, host.Known, host.Many, host.Big = kinds[name].limits, true, 400, 24<<20
			remotetest.Run(t, host)
		})
	}
}
