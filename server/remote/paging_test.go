package remote

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// pagingHost answers PROPFIND as Nextcloud does from version 31 on (apps/dav/lib/Paginate).
type pagingHost struct {
	names    []string            // in the host's order
	features string              // the DAV header
	always   bool                // a listing of one part gets a token as well, as in the first versions
	forgets  bool                // there is no memory cache: nothing is kept
	kept     map[string][]string // by token
	requests []*http.Request
	damage   func(http.Header, []string) []string // changes an answer's header and rows; may be nil
}

func newPagingHost(files int) *pagingHost {
	host := &pagingHost{features: "1, 3, extended-mkcol, nc-paginate, nc-enable-birthday-calendar", kept: map[string][]string{}}
	for i := range files {
		host.names = append(host.names, fmt.Sprintf("f%02d", files-i))
	}
	return host
}

const pagedRoot = "/remote.php/dav/files/alice/"

func (h *pagingHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.requests = append(h.requests, r)
	token, offset, count := r.Header.Get("X-NC-Paginate-Token"), number(r, "X-NC-Paginate-Offset"), number(r, "X-NC-Paginate-Count")
	rows, kept := h.kept[token]
	header := w.Header()
	switch {
	case kept && r.Header.Get("X-NC-Paginate-Offset") != "":
		rows = rows[min(offset, len(rows)):min(offset+count, len(rows))]
		header.Set("X-NC-Paginate", "true")
	default: // what was asked for is made anew, without a word about the token
		header.Set("DAV", h.features)
		rows = h.rows()
		if strings.Contains(h.features, ", nc-paginate") && r.Header.Get("X-NC-Paginate") != "" {
			rows = h.part(header, rows, offset, count)
		}
	}
	if h.damage != nil {
		rows = h.damage(header, rows)
	}
	answer(`<d:multistatus xmlns:d="DAV:">`+strings.Join(rows, "")+`</d:multistatus>`)(w, r)
}

func (h *pagingHost) part(header http.Header, rows []string, offset, count int) []string {
	end := min(offset+count, len(rows))
	if h.always || end < len(rows) {
		token := "token" + strconv.Itoa(len(h.requests))
		if !h.forgets {
			h.kept[token] = rows
		}
		header.Set("X-NC-Paginate", "true")
		header.Set("X-NC-Paginate-Token", token)
		header.Set("X-NC-Paginate-Total", strconv.Itoa(len(rows)))
	}
	return rows[min(offset, end):end]
}

func (h *pagingHost) rows() []string {
	rows := []string{responseOf(pagedRoot, `<d:resourcetype><d:collection/></d:resourcetype><d:getetag>"r"</d:getetag>`)}
	for _, name := range h.names {
		rows = append(rows, responseOf(pagedRoot+url.PathEscape(name), "<d:resourcetype/><d:getetag>&quot;e&quot;</d:getetag>"))
	}
	return rows
}

func number(r *http.Request, header string) int {
	value, _ := strconv.Atoi(r.Header.Get(header))
	return value
}

// listedPart is what ListPart has told of a part.
type listedPart struct {
	parts  filehost.Parts
	folder filehost.Entry
	names  []string
	next   []int
}

func listPart(t *testing.T, client *Client, part filehost.Part) (told listedPart, err error) {
	t.Helper()
	begun := 0
	told.folder, err = client.ListPart(t.Context(), alice, filehost.Root, part, func(parts filehost.Parts) (func(filehost.Entry, int) error, error) {
		begun++
		told.parts = parts
		return func(entry filehost.Entry, next int) error {
			told.names, told.next = append(told.names, entry.Path.Name()), append(told.next, next)
			return nil
		}, nil
	})
	assert.LessOrEqual(t, begun, 1)
	return told, err
}

func TestAHostThatPagesGivesItsListingInParts(t *testing.T) {
	for _, always := range []bool{false, true} {
		host := newPagingHost(5)
		host.always = always
		client := serve(t, "nextcloud", "", host.ServeHTTP)

		first, err := listPart(t, client, filehost.Part{Rows: 3})
		require.NoError(t, err)
		assert.Equal(t, listedPart{
			parts:  filehost.Parts{Paged: true, Listing: first.parts.Listing, Total: 6},
			folder: first.folder, names: []string{"f05", "f04"}, next: []int{2, 3},
		}, first)
		assert.Equal(t, filehost.Folder, first.folder.Kind)
		host.names = append([]string{"new"}, host.names...) // the listing is of before

		last, err := listPart(t, client, filehost.Part{Listing: first.parts.Listing, Offset: 3, Rows: 10, Total: 6})
		require.NoError(t, err)
		assert.Equal(t, []string{"f03", "f02", "f01"}, last.names)
		assert.Equal(t, []int{4, 5, 6}, last.next)
		assert.Equal(t, first.parts, last.parts)
		assert.Zero(t, last.folder)

		for _, request := range host.requests {
			assert.Equal(t, pagedRoot, request.URL.Path, "a listing is kept by its address as well")
			assert.Equal(t, "true", request.Header.Get("X-NC-Paginate"))
		}
		assert.Len(t, host.requests, 3, "one to see that the host keeps what it says")
		_, err = listPart(t, client, filehost.Part{Rows: 3})
		require.NoError(t, err)
		assert.Len(t, host.requests, 4, "which is seen once")
	}
}

func TestAListingOfOnePartIsWhole(t *testing.T) {
	for _, always := range []bool{false, true} {
		host := newPagingHost(2)
		host.always = always
		told, err := listPart(t, serve(t, "nextcloud", "", host.ServeHTTP), filehost.Part{Rows: 3})
		require.NoError(t, err)
		assert.Equal(t, filehost.Parts{Paged: true}, told.parts)
		assert.Equal(t, []string{"f02", "f01"}, told.names)
		assert.Len(t, host.requests, 1)
	}
}

func TestAHostThatKnowsNoPartsGivesTheWholeFolderAtOnce(t *testing.T) {
	old := newPagingHost(5)
	old.features = "1, 3, not-nc-paginate"
	got, err := listPart(t, serve(t, "nextcloud", "", old.ServeHTTP), filehost.Part{Rows: 3})
	require.NoError(t, err)
	assert.Equal(t, filehost.Parts{}, got.parts)
	assert.Equal(t, []string{"f05", "f04", "f03", "f02", "f01"}, got.names)
	assert.Len(t, old.requests, 1)

	plain := serve(t, "webdav", "/dav", func(w http.ResponseWriter, r *http.Request) {
		assert.Empty(t, r.Header.Get("X-NC-Paginate"))
		answer(small)(w, r)
	})
	got, err = listPart(t, plain, filehost.Part{Rows: 1})
	require.NoError(t, err)
	assert.Equal(t, filehost.Parts{}, got.parts)
	assert.Equal(t, []string{"a b"}, got.names)
}

func TestAHostThatSaysItKeepsListingsAndDoesNotIsTakenAsOneWithoutParts(t *testing.T) {
	host := newPagingHost(5)
	host.forgets = true
	clock := clockwork.NewFakeClock()
	client := serve(t, "nextcloud", "", host.ServeHTTP)
	client.clock = clock
	asked := func() int {
		before := len(host.requests)
		told, err := listPart(t, client, filehost.Part{Rows: 3})
		require.NoError(t, err)
		assert.Equal(t, filehost.Parts{}, told.parts)
		assert.Len(t, told.names, 5)
		return len(host.requests) - before
	}
	assert.Equal(t, 3, asked(), "the part, the proof, the whole")
	assert.Equal(t, 1, asked())
	clock.Advance(time.Hour)
	assert.Equal(t, 3, asked())

	clock.Advance(time.Hour)
	host.forgets = false
	told, err := listPart(t, client, filehost.Part{Rows: 3})
	require.NoError(t, err)
	assert.Equal(t, 6, told.parts.Total, "it has got a memory cache")
}

func TestAListingThatIsNoLongerKeptIsNotGoneOnWith(t *testing.T) {
	cases := map[string]struct {
		rows   int
		change func(*pagingHost)
	}{
		"expired":                           {2, func(h *pagingHost) { clear(h.kept) }},
		"expired, and the rest is one part": {10, func(h *pagingHost) { clear(h.kept) }},
		"expired, and fewer rows are left":  {2, func(h *pagingHost) { clear(h.kept); h.names = h.names[:1] }},
		"a row of it has been dropped":      {2, func(h *pagingHost) { h.damage = func(_ http.Header, rows []string) []string { return rows[1:] } }},
		"upgraded to one without parts":     {2, func(h *pagingHost) { clear(h.kept); h.features = "1" }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			host := newPagingHost(5)
			client := serve(t, "nextcloud", "", host.ServeHTTP)
			first, err := listPart(t, client, filehost.Part{Rows: 3})
			require.NoError(t, err)
			c.change(host)

			_, err = listPart(t, client, filehost.Part{Listing: first.parts.Listing, Offset: 3, Rows: c.rows, Total: first.parts.Total})

			assert.Equal(t, filehost.Changed, filehost.KindOf(err), "%v", err)
			before := len(host.requests)
			host.damage = nil
			_, err = listPart(t, client, filehost.Part{Rows: 1})
			require.NoError(t, err)
			if strings.Contains(host.features, ", nc-paginate") && len(host.names) > 1 {
				assert.Equal(t, 2, len(host.requests)-before, "whether the host keeps listings is in doubt again")
			}
		})
	}
}

func TestPartsThatMakeNoSenseAreRefused(t *testing.T) {
	set := func(name, value string) func(http.Header, []string) []string {
		return func(header http.Header, rows []string) []string {
			header.Set(name, value)
			return rows
		}
	}
	again := func(change func([]string) []string) func(http.Header, []string) []string {
		return func(_ http.Header, rows []string) []string { return change(rows) }
	}
	for name, damage := range map[string]func(http.Header, []string) []string{
		"no total":               set("X-NC-Paginate-Total", ""),
		"a total of nothing":     set("X-NC-Paginate-Total", "0"),
		"a total below":          set("X-NC-Paginate-Total", "-6"),
		"a total beyond numbers": set("X-NC-Paginate-Total", "99999999999999999999"),
		"a token without end":    set("X-NC-Paginate-Token", strings.Repeat("x", maxTokenBytes+1)),
		"a token of two words":   set("X-NC-Paginate-Token", "a b"),
		"more rows than asked": again(func(rows []string) []string {
			return append(rows, responseOf(pagedRoot+"x", "<d:resourcetype/><d:getetag>1</d:getetag>"))
		}),
		"fewer rows than there": again(func(rows []string) []string { return rows[:len(rows)-1] }),
		"no folder":             again(func(rows []string) []string { return append(rows[1:], rows[1]) }),
	} {
		host := newPagingHost(5)
		client := serve(t, "nextcloud", "", host.ServeHTTP)
		client.keeping.proved()
		host.damage = damage
		_, err := listPart(t, client, filehost.Part{Rows: 3})
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%s: %v", name, err)
	}
	host := newPagingHost(5)
	client := serve(t, "nextcloud", "", host.ServeHTTP)
	first, err := listPart(t, client, filehost.Part{Rows: 3})
	require.NoError(t, err)
	for name, damage := range map[string]func([]string) []string{
		"the folder among its entries": func(rows []string) []string { return append(host.rows()[:1], rows[1:]...) },
		"more rows than asked":         func(rows []string) []string { return append(rows, rows[0]) },
	} {
		host.damage = again(damage)
		_, err = listPart(t, client, filehost.Part{Listing: first.parts.Listing, Offset: 3, Rows: 2, Total: 6})
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%s: %v", name, err)
	}
}

func TestAFailedProofIsTheErrorOfTheListing(t *testing.T) {
	host := newPagingHost(5)
	client := serve(t, "nextcloud", "", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-NC-Paginate-Token") != "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		host.ServeHTTP(w, r)
	})
	_, err := listPart(t, client, filehost.Part{Rows: 3})
	assert.Equal(t, filehost.CredentialRejected, filehost.KindOf(err))
}
