package filehost_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote"
)

// nextcloudListing is what Nextcloud says of a folder of alice's with so many files.
func nextcloudListing(files int) []byte {
	const row = `<d:response><d:href>/remote.php/dav/files/alice/%s</d:href><d:propstat><d:prop><d:resourcetype>%s</d:resourcetype>` +
		`<d:getcontentlength>%d</d:getcontentlength><d:getcontenttype>text/plain</d:getcontenttype><d:getlastmodified>Fri, 20 Nov 2026 17:52:53 GMT</d:getlastmodified>` +
		`<d:getetag>&quot;2af4ac4ec19eeec7f51f8e34%08x&quot;</d:getetag><oc:size>1</oc:size><oc:permissions>RGDNVW</oc:permissions><oc:fileid>%d</oc:fileid>` +
		`<oc:favorite>0</oc:favorite><oc:share-types/><nc:share-attributes>[]</nc:share-attributes></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`
	var body bytes.Buffer
	body.WriteString(`<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">`)
	_, _ = fmt.Fprintf(&body, row, "", "<d:collection/>", 0, 0, 0)
	for i := range files {
		_, _ = fmt.Fprintf(&body, row, fmt.Sprintf("Quarterly%%20report%%20%d.txt", i*7919%files), "", i, i, i)
	}
	body.WriteString(`</d:multistatus>`)
	return body.Bytes()
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// BenchmarkBrowse is the whole way from a host's answer in memory to the first page of 100.
func BenchmarkBrowse(b *testing.B) {
	for _, files := range []int{100, 10_000} {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			body := nextcloudListing(files)
			w := newWorld()
			var err error
			w.Remote, err = remote.New(remote.Config{
				Host:       filehost.Host{Kind: "nextcloud", BaseURL: &url.URL{Scheme: "https", Host: "cloud.example.com"}},
				StallAfter: time.Hour,
				Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: http.StatusMultiStatus, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
				})},
			})
			require.NoError(b, err)
			w.tokens.Account = "alice"
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				page, err := w.Browse(b.Context(), alice, filehost.Listing{})
				if err != nil || len(page.Entries) != 100 {
					b.Fatal(len(page.Entries), err)
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N*files), "allocs/entry")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*files), "ns/entry")
		})
	}
}
