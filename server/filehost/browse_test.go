package filehost_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func names(entries []filehost.Entry) []string {
	found := make([]string, len(entries))
	for i, entry := range entries {
		found[i] = entry.Path.Name()
	}
	return found
}

func TestFoldersComeFirstAndNamesInNaturalOrder(t *testing.T) {
	w := newWorld()
	for _, name := range []string{"/file10", "/file9", "/Änderung", "/alpha", "/File9b"} {
		w.remote.AddFile(name, []byte(name), noon)
	}
	w.remote.AddFolder("/zoo")
	page, err := w.Browse(t.Context(), alice, filehost.Listing{})
	require.NoError(t, err)
	assert.Equal(t, []string{"zoo", "alpha", "Änderung", "file9", "File9b", "file10"}, names(page.Entries))
	page, err = w.Browse(t.Context(), alice, filehost.Listing{Descending: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"zoo", "file10", "File9b", "file9", "Änderung", "alpha"}, names(page.Entries))
}

func TestNumbersInNamesCountByTheirValue(t *testing.T) {
	w := newWorld()
	want := []string{"0", "0 z", "1", "1 a", "01 b", "2", "9999 x", "10000 a", "99999999999999999999", "100000000000000000000", "file 0.txt", "file 00.txt", "file 1.txt", "file 9.txt", "file 10 2.txt", "file 10.txt"}
	for _, i := range []int{7, 3, 11, 0, 14, 5, 9, 1, 13, 2, 15, 8, 4, 12, 6, 10} {
		w.remote.AddFile("/"+want[i], []byte("1"), noon)
	}
	page, err := w.Browse(t.Context(), alice, filehost.Listing{})
	require.NoError(t, err)
	assert.Equal(t, want, names(page.Entries))
}

func TestSortingBySizeAndTime(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/small-new", []byte("1"), noon.Add(time.Hour))
	w.remote.AddFile("/large-old", []byte("123"), noon)
	w.remote.AddFile("/small-old", []byte("2"), noon)
	for sort, want := range map[filehost.Sort][]string{
		filehost.BySize:     {"small-new", "small-old", "large-old"},
		filehost.ByModified: {"large-old", "small-old", "small-new"},
	} {
		page, err := w.Browse(t.Context(), alice, filehost.Listing{Sort: sort})
		require.NoError(t, err)
		assert.Equal(t, want, names(page.Entries), sort)
	}
}

func TestTypesFilterByKindAndMIMEPrefix(t *testing.T) {
	w := newWorld()
	w.remote.AddFolder("/folder")
	w.remote.AddFile("/text", []byte("1"), noon)
	w.remote.AddFile("/image", []byte("1"), noon)
	w.remote.Change("/image", func(e *filehost.Entry) { e.MIMEType = "image/png" })
	for name, test := range map[string]struct{ types, want []string }{
		"all":                {nil, []string{"folder", "image", "text"}},
		"folders":            {[]string{"folder"}, []string{"folder"}},
		"files":              {[]string{"file"}, []string{"image", "text"}},
		"images":             {[]string{"image/"}, []string{"image"}},
		"images and folders": {[]string{"image/", "folder"}, []string{"folder", "image"}},
		"case is ignored":    {[]string{"IMAGE/png"}, []string{"image"}},
	} {
		page, err := w.Browse(t.Context(), alice, filehost.Listing{Types: test.types})
		require.NoError(t, err, name)
		assert.Equal(t, test.want, names(page.Entries), name)
		assert.Equal(t, len(test.want), *page.Total, name)
	}
}

func TestPagesGiveEveryEntryOnceInEveryOrder(t *testing.T) {
	w := newWorld()
	for i := range 53 {
		w.remote.AddFile(fmt.Sprintf("/f%d", i*7%53), make([]byte, i%5), noon.Add(time.Duration(i%3)*time.Minute))
	}
	for _, sort := range []filehost.Sort{filehost.ByName, filehost.BySize, filehost.ByModified} {
		for _, descending := range []bool{false, true} {
			whole, err := w.Browse(t.Context(), alice, filehost.Listing{Sort: sort, Descending: descending})
			require.NoError(t, err)
			require.Len(t, whole.Entries, 53)
			assert.Empty(t, whole.NextCursor)
			assert.Equal(t, whole.Entries, allPages(t, w, filehost.Listing{Sort: sort, Descending: descending, Limit: 7}))
		}
	}
}

func allPages(t *testing.T, w *world, listing filehost.Listing) (all []filehost.Entry) {
	t.Helper()
	for {
		page, err := w.Browse(t.Context(), alice, listing)
		require.NoError(t, err)
		all = append(all, page.Entries...)
		if listing.Cursor = page.NextCursor; listing.Cursor == "" {
			return all
		}
	}
}

func TestAPageGoesOnWhereTheLastEndedWhateverCameOrWent(t *testing.T) {
	w := newWorld()
	for _, name := range []string{"/a", "/c", "/e", "/g"} {
		w.remote.AddFile(name, []byte("1"), noon)
	}
	first, err := w.Browse(t.Context(), alice, filehost.Listing{Limit: 2})
	require.NoError(t, err)
	w.remote.Remove("/c") // the entry the cursor names
	w.remote.AddFile("/b", []byte("1"), noon)
	w.remote.AddFile("/d", []byte("1"), noon)
	second, err := w.Browse(t.Context(), alice, filehost.Listing{Limit: 3, Cursor: first.NextCursor})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "c"}, names(first.Entries))
	assert.Equal(t, []string{"d", "e", "g"}, names(second.Entries))
}

func TestACursorContinuesNoOtherQueryUserOrConnection(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/a", []byte("1"), noon)
	w.remote.AddFile("/b", []byte("1"), noon)
	w.remote.AddFolder("/folder")
	w.tokens.Connect(bob)
	first, err := w.Browse(t.Context(), alice, filehost.Listing{Limit: 1})
	require.NoError(t, err)
	refuse := func(name, user string, listing filehost.Listing) {
		_, err := w.Browse(t.Context(), user, listing)
		t.Run(name, func(t *testing.T) { wantField(t, err, "cursor") })
	}
	refuse("another user", bob, filehost.Listing{Cursor: first.NextCursor})
	for name, other := range map[string]filehost.Listing{
		"another order":  {Descending: true},
		"another sort":   {Sort: filehost.BySize},
		"the host's":     {Sort: filehost.HostOrder},
		"another type":   {Types: []string{"file"}},
		"another folder": {Folder: first.Entries[0].Path},
	} {
		other.Cursor = first.NextCursor
		refuse(name, alice, other)
	}
	for name, cursor := range map[string]string{"forged": "forged", "cut": first.NextCursor[:len(first.NextCursor)-1], "longer": first.NextCursor + "A"} {
		refuse(name, alice, filehost.Listing{Cursor: cursor})
	}
	_, err = w.Browse(t.Context(), alice, filehost.Listing{Limit: 5, Cursor: first.NextCursor})
	require.NoError(t, err, "another limit is fine")
	w.remote.Accept("2")
	_, err = w.Browse(t.Context(), alice, filehost.Listing{Cursor: first.NextCursor})
	require.NoError(t, err, "and so is a renewed token of the same connection")
	w.remote.Accept("")
	w.tokens.Connect(alice)
	refuse("connected anew since", alice, filehost.Listing{Cursor: first.NextCursor})
}

func TestWrongListingsNameTheField(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/file", []byte("1"), noon)
	file, err := filehost.ParsePath("path", "/file")
	require.NoError(t, err)
	for field, listing := range map[string]filehost.Listing{
		"limit": {Limit: filehost.MaxPageSize + 1},
		"sort":  {Sort: "colour"},
		"type":  {Types: []string{"image"}},
		"path":  {Folder: file},
	} {
		_, err := w.Browse(t.Context(), alice, listing)
		var known *filehost.Error
		require.ErrorAs(t, err, &known, field)
		assert.Equal(t, filehost.InvalidRequest, known.Kind, field)
		assert.Equal(t, field, known.Field)
	}
}

func TestARejectedCredentialIsRenewedOnceAndThenDead(t *testing.T) {
	w := newWorld()
	w.remote.Accept("2")
	_, err := w.Browse(t.Context(), alice, filehost.Listing{})
	require.NoError(t, err, "the renewed one is accepted")

	w.remote.Accept("none")
	before := w.remote.Calls()
	_, err = w.Browse(t.Context(), alice, filehost.Listing{})
	assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
	assert.Equal(t, before+2, w.remote.Calls())

	_, err = w.Browse(t.Context(), alice, filehost.Listing{})
	assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
	assert.Equal(t, before+2, w.remote.Calls(), "a dead credential is not sent again")
}

func TestListingsWaitForAPlaceUntilTheirTimeEnds(t *testing.T) {
	w := newWorld()
	var leaves []func()
	for range 8 {
		leave, err := w.Listings.Take(alice, 8, 32)
		require.NoError(t, err)
		leaves = append(leaves, leave)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Browse(ctx, alice, filehost.Listing{})
	assert.Equal(t, filehost.RateLimited, filehost.KindOf(err))
	assert.Zero(t, w.remote.Calls())

	done := make(chan error)
	go func() {
		_, err := w.Browse(t.Context(), alice, filehost.Listing{})
		done <- err
	}()
	leaves[0]()
	leaves[0]() // a second time frees no second place
	require.NoError(t, <-done)
	_, err = w.Listings.Take(alice, 8, 32)
	require.NoError(t, err)
	_, err = w.Listings.Take(alice, 8, 32)
	require.Error(t, err)
}

func TestChangeDetectionFollowsWhatTheHostOffers(t *testing.T) {
	w := newWorld()
	page, err := w.Browse(t.Context(), alice, filehost.Listing{})
	require.NoError(t, err)
	assert.True(t, page.Capabilities.ChangeDetection)
	w.remote.Change("/", func(e *filehost.Entry) { e.ETag = "" })
	page, err = w.Browse(t.Context(), alice, filehost.Listing{})
	require.NoError(t, err)
	assert.False(t, page.Capabilities.ChangeDetection)
}

func TestIDsAreReadBackAndNothingElseIs(t *testing.T) {
	long := strings.Repeat("/"+strings.Repeat("n", 1023), 4)
	for _, raw := range []string{"/", "/a", "/a b/#1 %2F.txt", `/back\slash`, "/\u202e", long} {
		path, err := filehost.ParsePath("path", raw)
		require.NoError(t, err)
		again, err := filehost.ParseID("id", path.ID())
		require.NoError(t, err, raw)
		assert.Equal(t, path, again)
	}
	latin, ok := filehost.Root.Join("caf\xe9")
	require.True(t, ok)
	again, err := filehost.ParseID("id", latin.ID())
	require.NoError(t, err)
	assert.Equal(t, latin, again, "bytes that no path can name")

	id := func(raw string) string { return "p" + base64.RawURLEncoding.EncodeToString([]byte(raw)) }
	for name, wrong := range map[string]string{
		"nothing":                  "",
		"a path":                   "/a",
		"of another kind":          "f" + id("/a")[1:],
		"no base64url":             "p*",
		"padded":                   id("/ab") + "==",
		"base64 of the other kind": "p/+8",
		"with bits to spare":       "pL2F", // of /a, whose last character has bits that say nothing
		"a line break in it":       id("/a")[:3] + "\n" + id("/a")[3:],
		"relative":                 id("a"),
		"a way up":                 id("/../b"),
		"a way up behind \\":       id(`/a\..\b`),
		"here":                     id("/./b"),
		"an empty name":            id("//b"),
		"a slash at its end":       id("/a/"),
		"a NUL":                    id("/a\x00"),
		"too long by one":          id(long + "n"),
		"without end":              id(strings.Repeat("/n", 1<<20)),
		"a listing's cursor":       base64.RawURLEncoding.EncodeToString([]byte(`["cursor","default"]`)),
	} {
		_, err := filehost.ParseID("id", wrong)
		t.Run(name, func(t *testing.T) { wantField(t, err, "id") })
	}
}
