package filehost_test

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// withIDs is a world whose host has an id of its own for /a, and whose folder /f has one.
func withIDs() *world {
	w := newWorld()
	w.remote.AddFile("/a", []byte("content"), noon)
	w.remote.AddFolder("/f")
	w.remote.AddFile("/f/in", []byte("1"), noon)
	w.remote.Change("/a", func(e *filehost.Entry) { e.HostID = "7" })
	w.remote.Change("/f", func(e *filehost.Entry) { e.HostID = "8" })
	return w
}

func byID(hostIDs ...string) filehost.Attachment {
	ask := attachment()
	for _, id := range hostIDs {
		ask.Items = append(ask.Items, filehost.Item{HostID: id})
	}
	return ask
}

func TestAFolderIsListedByItsHostsIDWhereverItIs(t *testing.T) {
	w := withIDs()
	w.remote.Move("/f", "/moved")
	w.remote.Move("/f/in", "/moved/in")
	page, err := w.Browse(t.Context(), alice, filehost.Listing{FolderID: "8"})
	require.NoError(t, err)
	assert.Equal(t, "/moved", page.Folder.Path.String())
	assert.Equal(t, []string{"in"}, names(page.Entries))

	_, err = w.Browse(t.Context(), alice, filehost.Listing{FolderID: "7"})
	wantField(t, err, "id")
	_, err = w.Browse(t.Context(), alice, filehost.Listing{FolderID: "9"})
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))
}

func TestAFileIsAttachedByItsHostsIDWhereverItIs(t *testing.T) {
	w := withIDs()
	w.remote.Move("/a", "/f/renamed.txt")
	attached, err := w.Attach(t.Context(), alice, byID("7", "9"))
	require.NoError(t, err)
	found, missing := attached.Items[0], attached.Items[1]
	require.NoError(t, found.Err)
	assert.Equal(t, []string{"/f/renamed.txt", "renamed.txt", "7"}, []string{found.Path.String(), found.Name, found.HostID})
	assert.Equal(t, filehost.NotFound, filehost.KindOf(missing.Err))
	assert.Equal(t, []string{"", "9"}, []string{missing.Name, missing.HostID})
}

func TestAnAnswerThatIsKeptTellsWhereTheFileWas(t *testing.T) {
	w, ask := withIDs(), byID("7")
	ask.IdempotencyKey = "key"
	first, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	w.remote.Move("/a", "/b")
	again, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	assert.Equal(t, first.PostID, again.PostID)
	assert.Equal(t, []string{"/a", "a", first.Items[0].FileID}, []string{again.Items[0].Path.String(), again.Items[0].Name, again.Items[0].FileID})

	other := byID("8")
	other.IdempotencyKey = "key"
	_, err = w.Attach(t.Context(), alice, other)
	assert.Equal(t, filehost.KeyReused, filehost.KindOf(err), "another id is another request")
}

func TestTheAuditLogNamesWhatWasAskedForByID(t *testing.T) {
	w := withIDs()
	w.tokens.Grant, w.tokens.Account = "service_account", "shared"
	_, err := w.Attach(t.Context(), alice, byID("7", "9"))
	require.NoError(t, err)
	attempt, success := usedBy(alice, filehost.AuditAttach, filehost.AuditAttempt), usedBy(alice, filehost.AuditAttach, filehost.AuditSuccess)
	attempt.HostIDs, success.HostIDs, success.FailedIDs = []string{"7", "9"}, []string{"7", "9"}, []string{"9"}
	assert.Equal(t, []filehost.AuditEvent{attempt, success}, w.audit.Events())
}

func TestIDsOfTheHostAreReadBackAndNothingElseIs(t *testing.T) {
	for _, hostID := range []string{"7", "00000007oc", "a$b!c", strings.Repeat("x", filehost.MaxHostIDBytes)} {
		ref, err := filehost.ParseRef("id", filehost.Ref{HostID: hostID}.ID())
		require.NoError(t, err)
		assert.Equal(t, filehost.Ref{HostID: hostID}, ref)
	}
	ref, err := filehost.ParseRef("id", filehosttest.MustPath("/a").ID())
	require.NoError(t, err)
	assert.Equal(t, filehost.Ref{Path: filehosttest.MustPath("/a")}, ref, "older ids stay good")

	id := func(raw string) string { return "h" + base64.RawURLEncoding.EncodeToString([]byte(raw)) }
	for name, wrong := range map[string]string{
		"nothing": "", "an empty one": "h", "no base64url": "h*", "padded": id("7") + "==", "bits to spare": "hNx", "a line break": "hN\nw",
		"a slash": id("a/b"), "a backslash": id(`a\b`), "a space": id("a b"), "a NUL": id("a\x00"), "no ASCII": id("ä"),
		"too long": id(strings.Repeat("x", filehost.MaxHostIDBytes+1)), "a bad path": "p*",
	} {
		_, err := filehost.ParseRef("id", wrong)
		t.Run(name, func(t *testing.T) { wantField(t, err, "id") })
	}
}

func FuzzRefs(f *testing.F) {
	f.Add("hNw")
	f.Add("pL2E")
	f.Fuzz(func(t *testing.T, id string) {
		ref, err := filehost.ParseRef("id", id)
		if err == nil && (ref.ID() != id || ref.HostID != "" && !filehost.IsHostID(ref.HostID)) {
			t.Fatalf("%q was read as %+v", id, ref)
		}
	})
}

func TestASearchIsBelowAFolderAndHasPages(t *testing.T) {
	w := newWorld()
	w.remote.Offer(filehost.Capabilities{Search: true, Favorites: true})
	for _, path := range []string{"/report 10", "/x/Report 9", "/x/y/report 1", "/other"} {
		w.remote.AddFile(path, []byte("1"), noon)
	}
	search := filehost.Listing{Text: "report", Limit: 2}
	page, err := w.Browse(t.Context(), alice, search)
	require.NoError(t, err)
	assert.Equal(t, []string{"report 1", "Report 9"}, names(page.Entries))
	assert.Nil(t, page.Folder)
	assert.Equal(t, 3, *page.Total)
	assert.False(t, page.Truncated)
	search.Cursor = page.NextCursor
	last, err := w.Browse(t.Context(), alice, search)
	require.NoError(t, err)
	assert.Equal(t, []string{"report 10"}, names(last.Entries))
	assert.Empty(t, last.NextCursor)

	search.Text = "repor"
	_, err = w.Browse(t.Context(), alice, search)
	wantField(t, err, "cursor")
	_, err = w.Browse(t.Context(), alice, filehost.Listing{View: filehost.Favorites, Limit: 2, Cursor: page.NextCursor})
	wantField(t, err, "cursor")
	// sort=host is by name where nothing is paged.
	w.remote.Page()
	page, err = w.Browse(t.Context(), alice, filehost.Listing{Text: "report", Sort: filehost.HostOrder})
	require.NoError(t, err)
	assert.Equal(t, []string{"report 1", "Report 9", "report 10"}, names(page.Entries))
}

func TestMoreThanIsShownIsSaid(t *testing.T) {
	w := newWorld()
	w.remote.Offer(filehost.Capabilities{Search: true})
	for i := range filehost.MaxFound + 1 {
		w.remote.AddFile("/f"+strconv.Itoa(i), []byte("1"), noon)
	}
	page, err := w.Browse(t.Context(), alice, filehost.Listing{Text: "f", Limit: filehost.MaxPageSize})
	require.NoError(t, err)
	assert.Len(t, page.Entries, filehost.MaxFound)
	assert.True(t, page.Truncated)
	assert.Nil(t, page.Total)
}

func TestWhatTheHostDoesNotOfferIsUnsupported(t *testing.T) {
	all := filehost.Capabilities{Search: true, Recent: true, Favorites: true, Shared: true}
	for name, test := range map[string]struct {
		listing filehost.Listing
		field   string
		without func(*filehost.Capabilities)
	}{
		"search":    {filehost.Listing{Text: "a"}, "q", func(c *filehost.Capabilities) { c.Search = false }},
		"recent":    {filehost.Listing{View: filehost.Recent}, "view", func(c *filehost.Capabilities) { c.Recent = false }},
		"favorites": {filehost.Listing{View: filehost.Favorites}, "view", func(c *filehost.Capabilities) { c.Favorites = false }},
		"shared":    {filehost.Listing{View: filehost.SharedView}, "view", func(c *filehost.Capabilities) { c.Shared = false }},
	} {
		t.Run(name, func(t *testing.T) {
			w, offered := newWorld(), all
			w.remote.Offer(offered)
			_, err := w.Browse(t.Context(), alice, test.listing)
			require.NoError(t, err)
			test.without(&offered)
			w.remote.Offer(offered)
			calls := w.remote.Calls()
			_, err = w.Browse(t.Context(), alice, test.listing)
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			assert.Equal(t, filehost.Unsupported, known.Kind)
			assert.Equal(t, test.field, known.Field)
			assert.Equal(t, calls, w.remote.Calls(), "the host isn't asked")
		})
	}
}

func TestWrongSearchesNameTheField(t *testing.T) {
	w := newWorld()
	w.remote.Offer(filehost.Capabilities{Search: true, Recent: true})
	for name, test := range map[string]struct {
		listing filehost.Listing
		field   string
	}{
		"an unknown view":     {filehost.Listing{View: "all"}, "view"},
		"a search in a view":  {filehost.Listing{View: filehost.Recent, Text: "a"}, "q"},
		"too long":            {filehost.Listing{Text: strings.Repeat("a", filehost.MaxTextBytes+1)}, "q"},
		"no UTF-8":            {filehost.Listing{Text: "\xff"}, "q"},
		"a control character": {filehost.Listing{Text: "a\x00"}, "q"},
		"what XML can't hold": {filehost.Listing{Text: "\uffff"}, "q"},
	} {
		_, err := w.Browse(t.Context(), alice, test.listing)
		t.Run(name, func(t *testing.T) { wantField(t, err, test.field) })
	}
}
