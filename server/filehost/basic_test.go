package filehost_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// tracking is a world whose host changes the ETags of folders with what is in them: one folder of so many files.
func tracking(files int) *world {
	w := newWorld()
	w.remote.AddFolder("/folder")
	w.touch("1")
	for i := range files {
		w.addTracked(fmt.Sprintf("/folder/%04d.txt", i))
	}
	return w
}

func (w *world) addTracked(path string) {
	w.remote.AddFile(path, []byte(path), noon)
	yes := true
	w.remote.Change(path, func(e *filehost.Entry) { e.Tracked, e.Favorite, e.Shared = true, &yes, &yes })
}

// touch gives the folder another ETag.
func (w *world) touch(tag string) {
	w.remote.Change("/folder", func(e *filehost.Entry) { e.ETag, e.Tracked = `"`+tag+`"`, true })
}

func basic(limit int) filehost.Listing {
	return filehost.Listing{Folder: filehosttest.MustPath("/folder"), Basic: true, Limit: limit}
}

// listed is a page, and whether the host was asked for the folder itself alone.
func (w *world) listed(t *testing.T, user string, listing filehost.Listing) (page filehost.Page, kept bool) {
	t.Helper()
	lists, calls := w.remote.Lists(), w.remote.Calls()
	page, err := w.Browse(t.Context(), user, listing)
	require.NoError(t, err)
	assert.Greater(t, w.remote.Calls(), calls, "the host was asked, as this user")
	return page, w.remote.Lists() == lists
}

func TestABasicPageIsGivenAgainWhenTheHostSaysThatTheFolderIsTheSame(t *testing.T) {
	w := tracking(5)
	first, kept := w.listed(t, alice, basic(2))
	assert.False(t, kept)
	again, kept := w.listed(t, alice, basic(2))
	assert.True(t, kept)
	assert.Equal(t, first.Entries, again.Entries)
	assert.Equal(t, first.Total, again.Total)
	assert.Equal(t, first.Folder, again.Folder)

	next := basic(2)
	next.Cursor = again.NextCursor
	second, kept := w.listed(t, alice, next)
	assert.False(t, kept)
	assert.Equal(t, "0002.txt", second.Entries[0].Path.Name())
	_, kept = w.listed(t, alice, next)
	assert.True(t, kept, "so is a later page")
}

func TestWhatAKeptPageIsNotGivenFor(t *testing.T) {
	for name, change := range map[string]func(*world, *filehost.Listing){
		"a changed folder":         func(w *world, _ *filehost.Listing) { w.touch("2") },
		"a folder with no ETag":    func(w *world, _ *filehost.Listing) { w.touch(""); w.remote.Change("/folder", noETag) },
		"a folder that is mounted": func(w *world, _ *filehost.Listing) { w.remote.Change("/folder", mounted) },
		"another page size":        func(_ *world, l *filehost.Listing) { l.Limit = 3 },
		"another order":            func(_ *world, l *filehost.Listing) { l.Descending = true },
		"other types":              func(_ *world, l *filehost.Listing) { l.Types = []string{"file"} },
		"all fields":               func(_ *world, l *filehost.Listing) { l.Basic = false },
		"the host's own order":     func(_ *world, l *filehost.Listing) { l.Sort = filehost.HostOrder },
		"another connection":       func(w *world, _ *filehost.Listing) { w.tokens.Connect(alice) },
		"ten minutes later":        func(w *world, _ *filehost.Listing) { w.clock.Advance(10 * time.Minute) },
		"who has disconnected": func(w *world, _ *filehost.Listing) {
			assert.NoError(t, w.Disconnect(t.Context(), alice))
			w.tokens.Connect(alice) // under the same name, of this double
		},
		"whose access an admin has ended": func(w *world, _ *filehost.Listing) {
			assert.NoError(t, w.RevokeConnection(t.Context(), admin, alice))
			w.tokens.Connect(alice) // under the same name, of this double
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, listing := tracking(5), basic(2)
			w.listed(t, alice, listing)
			_, kept := w.listed(t, alice, listing)
			require.True(t, kept)
			change(w, &listing)
			_, kept = w.listed(t, alice, listing)
			assert.False(t, kept)
		})
	}
}

func noETag(e *filehost.Entry)  { e.ETag = "" }
func mounted(e *filehost.Entry) { e.Tracked = false }

func TestNoPageIsKeptWhoseChangesMayNotShow(t *testing.T) {
	for name, change := range map[string]func(*world){
		"a folder that is mounted": func(w *world) { w.remote.Change("/folder", mounted) },
		"a mount in it":            func(w *world) { w.remote.Change("/folder/0001.txt", mounted) },
		"a mount on another page":  func(w *world) { w.remote.Change("/folder/0004.txt", mounted) },
		"a folder without ETag":    func(w *world) { w.remote.Change("/folder", noETag) },
		"a weak ETag":              func(w *world) { w.remote.Change("/folder", func(e *filehost.Entry) { e.ETag = `W/"1"` }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := tracking(5)
			change(w)
			w.listed(t, alice, basic(2))
			_, kept := w.listed(t, alice, basic(2))
			assert.False(t, kept)
		})
	}
}

func TestAMountThatAListingLeavesOutIsAMount(t *testing.T) {
	w, folders := tracking(5), basic(2)
	w.remote.Change("/folder/0001.txt", mounted)
	folders.Types = []string{"folder"}
	w.listed(t, alice, folders)
	_, kept := w.listed(t, alice, folders)
	assert.False(t, kept)
}

func TestNoPageIsGivenAgainThatWasMadeWhileChangesDidNotShow(t *testing.T) {
	for name, change := range map[string]func(e *filehost.Entry){"mounted": mounted, "no ETag": noETag} {
		t.Run(name, func(t *testing.T) {
			w := tracking(5)
			w.listed(t, alice, basic(2))
			w.remote.Change("/folder", change)
			w.listed(t, alice, basic(2))
			w.touch("1")
			_, kept := w.listed(t, alice, basic(2))
			assert.False(t, kept)
		})
	}
}

func TestAKeptPageHasTheFolderAsItIsNow(t *testing.T) {
	w := tracking(5)
	w.listed(t, alice, basic(2))
	w.remote.Change("/folder", func(e *filehost.Entry) { e.HostID = "7" })
	page, kept := w.listed(t, alice, basic(2))
	assert.True(t, kept)
	assert.Equal(t, "7", page.Folder.HostID)
}

func TestAKeptPageIsOfOneUserAndOfWhatTheHostShowsHimNow(t *testing.T) {
	w := tracking(5)
	w.tokens.Connect(bob)
	w.listed(t, alice, basic(2))
	_, kept := w.listed(t, bob, basic(2))
	assert.False(t, kept, "another user's")
	w.remote.Remove("/folder")
	_, err := w.Browse(t.Context(), alice, basic(2))
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "it is not shown to him any more")
}

// busy is a host that tells nothing of an entry by itself.
type busy struct{ filehost.Remote }

func (busy) Stat(context.Context, filehost.Credential, filehost.Path) (filehost.Entry, error) {
	return filehost.Entry{}, filehost.E(filehost.RateLimited, "Later.", nil)
}

func TestAHostThatDoesNotSayWhetherTheFolderIsTheSameIsNotAskedForAllOfIt(t *testing.T) {
	w := tracking(5)
	w.listed(t, alice, basic(2))
	lists := w.remote.Lists()
	w.Remote = busy{w.remote}
	page, err := w.Browse(t.Context(), alice, basic(2))
	assert.Equal(t, filehost.RateLimited.Code(), filehost.KindOf(err).Code(), "%v", err)
	assert.Empty(t, page.Entries)
	assert.Equal(t, lists, w.remote.Lists())
}

func TestABasicPageHoldsNoFavoritesSharesOrPermissions(t *testing.T) {
	w := tracking(2)
	full, _ := w.listed(t, alice, filehost.Listing{Folder: filehosttest.MustPath("/folder")})
	require.NotNil(t, full.Entries[0].Favorite)
	for range 2 {
		page, _ := w.listed(t, alice, basic(2))
		for _, entry := range append(page.Entries, *page.Folder) {
			assert.Nil(t, entry.Favorite)
			assert.Nil(t, entry.Shared)
			assert.Nil(t, entry.Permissions)
		}
	}
}

func TestAFolderThatIsAskedForByItsIDIsLookedUpOnce(t *testing.T) {
	w := tracking(2)
	w.remote.Change("/folder", func(e *filehost.Entry) { e.HostID = "7" })
	listing := filehost.Listing{FolderID: "7", Basic: true}
	w.listed(t, alice, listing)
	calls := w.remote.Calls()
	_, kept := w.listed(t, alice, listing)
	assert.True(t, kept)
	assert.Equal(t, calls+1, w.remote.Calls())
}
