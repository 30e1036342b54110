package filehost_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// pagingWorld has a host that gives the files f9 to f0 in parts, in that order.
func pagingWorld() *world {
	w := newWorld()
	w.remote.Page()
	for i := 9; i >= 0; i-- {
		w.remote.AddFile(fmt.Sprintf("/f%d", i), make([]byte, i%3), noon.Add(time.Duration(i)*time.Minute))
	}
	return w
}

func asHost(limit int) filehost.Listing {
	return filehost.Listing{Sort: filehost.HostOrder, Limit: limit}
}

func TestTheHostsOwnOrderComesPageByPageWithTheHostsTotal(t *testing.T) {
	want := []string{"f9", "f8", "f7", "f6", "f5", "f4", "f3", "f2", "f1", "f0"}
	for limit := 1; limit <= 11; limit++ {
		w := pagingWorld()
		listing, pages := asHost(limit), 0
		var got []string
		for {
			page, err := w.Browse(t.Context(), alice, listing)
			require.NoError(t, err)
			pages++
			assert.Equal(t, filehost.Folder, page.Folder.Kind, "on every page")
			assert.True(t, page.Capabilities.ChangeDetection)
			require.NotNil(t, page.Total)
			assert.Equal(t, 10, *page.Total)
			got = append(got, names(page.Entries)...)
			if listing.Cursor = page.NextCursor; listing.Cursor == "" {
				break
			}
		}
		assert.Equal(t, want, got)
		assert.Equal(t, (10+limit-1)/limit, pages, "no page is empty")
	}
}

func TestTypesInTheHostsOwnOrderFillThePageFromSeveralParts(t *testing.T) {
	w := newWorld()
	w.remote.Page()
	var want []string
	for i := range 3500 {
		name := fmt.Sprintf("/f%d", i)
		w.remote.AddFile(name, nil, noon)
		if i%700 == 699 {
			w.remote.Change(name, func(e *filehost.Entry) { e.MIMEType = "image/png" })
			want = append(want, name[1:])
		}
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		listing := asHost(limit)
		listing.Types = []string{"image/"}
		pages := 0
		var got []string
		for {
			page, err := w.Browse(t.Context(), alice, listing)
			require.NoError(t, err)
			pages++
			assert.Nil(t, page.Total, "the host counts what the filter leaves out")
			got = append(got, names(page.Entries)...)
			if listing.Cursor = page.NextCursor; listing.Cursor == "" {
				break
			}
		}
		assert.Equal(t, want, got)
		assert.Equal(t, (len(want)+limit-1)/limit, pages, "no page is empty")
	}
}

func TestAHostWithoutPartsIsListedByName(t *testing.T) {
	w := newWorld()
	for _, name := range []string{"/b10", "/b9", "/a", "/c"} {
		w.remote.AddFile(name, nil, noon)
	}
	w.remote.AddFolder("/z")
	for _, descending := range []bool{false, true} {
		byHost, byName := asHost(2), filehost.Listing{Limit: 2, Descending: descending}
		byHost.Descending = descending
		assert.Equal(t, allPages(t, w, byName), allPages(t, w, byHost))
	}
	page, err := w.Browse(t.Context(), alice, asHost(2))
	require.NoError(t, err)
	assert.Equal(t, 5, *page.Total)

	w.remote.Page() // upgraded meanwhile: the listing goes on as it began
	listing := asHost(5)
	listing.Cursor = page.NextCursor
	rest, err := w.Browse(t.Context(), alice, listing)
	require.NoError(t, err)
	assert.Equal(t, []string{"z", "a", "b9", "b10", "c"}, append(names(page.Entries), names(rest.Entries)...))
}

func TestAHostsOwnOrderHasOneDirection(t *testing.T) {
	listing := asHost(3)
	listing.Descending = true
	_, err := pagingWorld().Browse(t.Context(), alice, listing)
	wantField(t, err, "order")
}

func wantField(t *testing.T, err error, field string) {
	t.Helper()
	var known *filehost.Error
	require.ErrorAs(t, err, &known)
	assert.Equal(t, filehost.InvalidRequest, known.Kind)
	assert.Equal(t, field, known.Field)
}

func TestACursorOfAListingThatIsNoLongerKeptIsStale(t *testing.T) {
	w := pagingWorld()
	first, err := w.Browse(t.Context(), alice, asHost(3))
	require.NoError(t, err)
	w.remote.ForgetListings()
	listing := asHost(3)
	listing.Cursor = first.NextCursor
	_, err = w.Browse(t.Context(), alice, listing)
	wantField(t, err, "cursor")
	again, err := w.Browse(t.Context(), alice, asHost(3))
	require.NoError(t, err)
	assert.Equal(t, first.Entries, again.Entries)
}

func TestAListingLostBeforeItsFirstPageIsFullIsTheHostsFault(t *testing.T) {
	w := pagingWorld()
	listing := asHost(3)
	listing.Types = []string{"file"}
	w.remote.AfterPart(w.remote.ForgetListings)
	_, err := w.Browse(t.Context(), alice, listing)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
}

func TestAListingThatTheHostKeepsShowsTheFolderAsItWas(t *testing.T) {
	w := pagingWorld()
	first, err := w.Browse(t.Context(), alice, asHost(4))
	require.NoError(t, err)
	w.remote.Remove("/f9")
	w.remote.Remove("/f0")
	w.remote.AddFile("/new", nil, noon)
	listing := asHost(10)
	listing.Cursor = first.NextCursor
	rest, err := w.Browse(t.Context(), alice, listing)
	require.NoError(t, err)
	assert.Equal(t, []string{"f5", "f4", "f3", "f2", "f1", "f0"}, names(rest.Entries))

	w.remote.Change("/", func(e *filehost.Entry) { e.ETag = "" })
	page, err := w.Browse(t.Context(), alice, listing)
	require.NoError(t, err)
	assert.False(t, page.Capabilities.ChangeDetection, "the folder itself is looked at anew")
}

func TestAPagesStateIsOfWhereItEndsInWhichListing(t *testing.T) {
	w := pagingWorld()
	state := func(listing filehost.Listing) string {
		page, err := w.Browse(t.Context(), alice, listing)
		require.NoError(t, err)
		return page.State
	}
	byName := filehost.Listing{Limit: 3}
	once, again := state(byName), state(byName)
	assert.Equal(t, once, again)
	states := []string{state(asHost(3)), state(asHost(3)), state(asHost(4)), state(byName), state(filehost.Listing{Limit: 4})}
	slices.Sort(states)
	assert.Len(t, slices.Compact(states), 5, "two listings of one folder have tokens of their own")
}
