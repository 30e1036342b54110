package filehost_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote"
)

// largeFolder is a host with one folder of so many files, made while they are sent. at is called with the number of those
// that are on their way.
func largeFolder(files int, at func(sent int)) http.HandlerFunc {
	// What makes no sense shares the memory of what is kept, unless that is copied.
	junk := "<d:getlastmodified>" + strings.Repeat("x", 20<<10) + "</d:getlastmodified>"
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusMultiStatus)
		out := bufio.NewWriter(w)
		defer func() { _ = out.Flush() }()
		_, _ = fmt.Fprint(out, `<d:multistatus xmlns:d="DAV:"><d:response><d:href>/dav/</d:href><d:propstat><d:prop>`,
			`<d:resourcetype><d:collection/></d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`)
		for i := range files {
			if i == 1000 || i%20_000 == 19_999 {
				at(i)
			}
			extra := ""
			if i < 1000 {
				extra = junk
			}
			_, _ = fmt.Fprintf(out, `<d:response><d:href>/dav/file%%20%d.txt</d:href><d:propstat><d:prop><d:resourcetype/><d:getetag>"%d"</d:getetag>%s`+
				`<d:getcontenttype>text/plain</d:getcontenttype><d:getcontentlength>%d</d:getcontentlength></d:prop>`+
				`<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`, i, i, extra, i)
		}
		_, _ = out.WriteString(`</d:multistatus>`)
	}
}

// TestAFolderOf100000EntriesThatBreaksOffIsAnError ends the answer behind the last entry, which is all there is but for its end.
func TestAFolderOf100000EntriesThatBreaksOffIsAnError(t *testing.T) {
	whole := httptest.NewRecorder()
	largeFolder(100_000, func(int) {})(whole, nil)
	body := strings.TrimSuffix(whole.Body.String(), "</d:multistatus>")
	require.NotEqual(t, whole.Body.Len(), len(body))
	for _, sent := range []string{body, body[:len(body)/2]} {
		w := newWorld()
		var err error
		w.Remote, err = remote.New(remote.Config{
			Host: filehost.Host{Kind: "webdav", BaseURL: &url.URL{Scheme: "https", Host: "cloud.example.com", Path: "/dav"}}, StallAfter: time.Hour,
			Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusMultiStatus, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(sent)), Request: r}, nil
			})},
		})
		require.NoError(t, err)
		page, err := w.Browse(t.Context(), alice, filehost.Listing{})
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
		assert.Empty(t, page.Entries, "no part of it looks like the whole")
	}
}

func liveHeap() int64 {
	var stats runtime.MemStats
	runtime.GC() // twice: what a sync.Pool holds outlives the first
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // no heap has 2^63 bytes
}

// TestAFolderOf100000EntriesTakesLittleMoreMemoryThanOneOf1000 lists through the real client of the host.
func TestAFolderOf100000EntriesTakesLittleMoreMemoryThanOneOf1000(t *testing.T) {
	// 4 MiB are 42 bytes for each entry that is more: none of them is kept.
	const files, bound, slack = 100_000, 8 << 20, 4 << 20
	start := liveHeap()
	var small, most int64
	server := httptest.NewServer(largeFolder(files, func(sent int) {
		held := liveHeap() - start
		if sent == 1000 {
			small = held
		}
		most = max(most, held)
	}))
	defer server.Close()
	address, err := url.Parse(server.URL + "/dav")
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	w := newWorld()
	w.Remote, err = remote.New(remote.Config{Host: filehost.Host{Kind: "webdav", BaseURL: address}, Client: client, StallAfter: time.Hour})
	require.NoError(t, err)

	page, err := w.Browse(t.Context(), alice, filehost.Listing{Limit: filehost.MaxPageSize})

	require.NoError(t, err)
	assert.Len(t, page.Entries, filehost.MaxPageSize)
	assert.Equal(t, "file 999.txt", page.Entries[999].Path.Name())
	assert.Equal(t, files, *page.Total)
	t.Logf("%d KiB after 1,000 entries, at most %d KiB in %d", small>>10, most>>10, files)
	assert.Less(t, most, int64(bound), "a page of 1,000 entries, and what is on its way")
	assert.Less(t, most-small, int64(slack), "what a folder of 1,000 entries needs is all that one of 100,000 does")
}
