package filehost_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
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

// writeFolder writes the answer of a host with one folder of so many files. at is called with the number of those that have
// been written, when the reader has read them.
func writeFolder(to io.Writer, files int, at func(sent int)) error {
	// What makes no sense shares the memory of what is kept, unless that is copied.
	junk := "<d:getlastmodified>" + strings.Repeat("x", 20<<10) + "</d:getlastmodified>"
	out := bufio.NewWriter(to)
	_, _ = fmt.Fprint(out, `<d:multistatus xmlns:d="DAV:"><d:response><d:href>/dav/</d:href><d:propstat><d:prop>`,
		`<d:resourcetype><d:collection/></d:resourcetype></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`)
	for i := range files {
		if i == 1000 || i%20_000 == 19_999 {
			if err := out.Flush(); err != nil {
				return err
			}
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
	return out.Flush()
}

// folderWorld is a world whose host answers each request with a multistatus, through the real client.
func folderWorld(t *testing.T, answer func() io.ReadCloser) *world {
	t.Helper()
	w := newWorld()
	var err error
	w.Remote, err = remote.New(remote.Config{
		Host: filehost.Host{Kind: "webdav", BaseURL: &url.URL{Scheme: "https", Host: "cloud.example.com", Path: "/dav"}}, StallAfter: time.Hour,
		Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusMultiStatus, Header: http.Header{}, Body: answer(), Request: r}, nil
		})},
	})
	require.NoError(t, err)
	return w
}

// TestAFolderOf100000EntriesThatBreaksOffIsAnError ends the answer behind the last entry, which is all there is but for its end.
func TestAFolderOf100000EntriesThatBreaksOffIsAnError(t *testing.T) {
	var whole bytes.Buffer
	require.NoError(t, writeFolder(&whole, 100_000, func(int) {}))
	body := strings.TrimSuffix(whole.String(), "</d:multistatus>")
	require.NotEqual(t, whole.Len(), len(body))
	for _, sent := range []string{body, body[:len(body)/2]} {
		w := folderWorld(t, func() io.ReadCloser { return io.NopCloser(strings.NewReader(sent)) })
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

// TestAFolderOf100000EntriesTakesLittleMoreMemoryThanOneOf1000 lists through the real client of the host. It looks while the
// client waits for more: what is made during a collection counts as held.
func TestAFolderOf100000EntriesTakesLittleMoreMemoryThanOneOf1000(t *testing.T) {
	// 1 MiB is 10 bytes for each entry that is more: none of them is kept.
	const files, bound, slack = 100_000, 2 << 20, 1 << 20
	start := liveHeap()
	var small, most int64
	w := folderWorld(t, func() io.ReadCloser {
		body, host := io.Pipe() // holds nothing: what is written has been read
		go func() {
			_ = host.CloseWithError(writeFolder(host, files, func(sent int) {
				held := liveHeap() - start
				if sent == 1000 {
					small = held
				}
				most = max(most, held)
			}))
		}()
		return body
	})

	page, err := w.Browse(t.Context(), alice, filehost.Listing{Limit: filehost.MaxPageSize})

	require.NoError(t, err)
	assert.Len(t, page.Entries, filehost.MaxPageSize)
	assert.Equal(t, "file 999.txt", page.Entries[999].Path.Name())
	assert.Equal(t, files, *page.Total)
	t.Logf("%d KiB after 1,000 entries, at most %d KiB in %d", small>>10, most>>10, files)
	assert.Less(t, most, int64(bound), "a page of 1,000 entries, and what is on its way")
	assert.Less(t, most-small, int64(slack), "what a folder of 1,000 entries needs is all that one of 100,000 does")
}
