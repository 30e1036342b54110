package remote

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// nextcloudFile is what Nextcloud says of a file.
func nextcloudFile(i int) (href string, values *properties) {
	return fmt.Sprintf("/remote.php/dav/files/alice/Reports/Quarterly%%20report%%20%d.pdf", i), told(map[property]string{
		resourceType: "", contentLength: "109285", contentType: "application/pdf", lastModified: "Fri, 20 Nov 2026 17:52:53 GMT",
		etag: `"2af4ac4ec19eeec7f51f8e34723fbfa6"`, ocSize: "109285", ocPermissions: "RGDNVW", ocFileID: "4711", ocFavorite: "0",
		ocShareTypes: "", ncShareAttributes: "[]",
	})
}

// makeEntry is what happens with each entry after the answer has been read.
func makeEntry(t testing.TB, listing *listing, hrefs *hrefs, href string, values *properties) {
	path, err := hrefs.path(href)
	if err == nil {
		err = listing.add(found{path: path, values: values})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func entryMaker(t testing.TB) (*listing, *hrefs) {
	t.Helper()
	client := clientOf(t, "https://files.example.com", Config{Host: filehost.Host{Kind: "nextcloud"}})
	tree, err := client.tree(t.Context(), alice, filehost.Root)
	require.NoError(t, err)
	return &listing{client: client, path: path(t, "/Reports"), each: func(filehost.Entry) error { return nil }}, &hrefs{tree: tree}
}

func TestAnEntryCostsThreeAllocations(t *testing.T) {
	listing, hrefs := entryMaker(t)
	href, values := nextcloudFile(1)
	makeEntry(t, listing, hrefs, href, values)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { makeEntry(t, listing, hrefs, href, values) }), 3.0,
		"the unescaped name, the path, the address of its page")
}

func TestEntriesThatShareTheirPermissionsHaveTheirOwn(t *testing.T) {
	listing, hrefs := entryMaker(t)
	var got []string
	listing.each = func(entry filehost.Entry) error {
		got = append(got, fmt.Sprint(entry.Permissions, *entry.Favorite, *entry.Shared))
		return nil
	}
	for _, c := range [][2]string{{"RGDNVW", "0"}, {"SG", "1"}, {"RGDNVW", "1"}} {
		href, values := nextcloudFile(1)
		all := map[property]string{resourceType: "", etag: `"1"`, ocPermissions: c[0], ocFavorite: c[1]}
		*values = *told(all)
		makeEntry(t, listing, hrefs, href, values)
	}
	assert.Equal(t, []string{
		"[read write delete rename share] false false", "[read] true true", "[read write delete rename share] true false",
	}, got)
}

func TestADateThatJSONCantSayIsNoDate(t *testing.T) {
	for text, want := range map[string]string{
		"Fri, 31 Dec 9999 23:59:59 GMT":   "9999-12-31T23:59:59Z",
		"Fri, 31 Dec 9999 23:59:59 -0001": "",
		"Sat, 01 Jan 0000 00:00:00 +0000": "0000-01-01T00:00:00Z",
		"Sat, 01 Jan 0000 00:00:00 +0001": "",
		"Sunday, 06-Nov-94 08:49:37 GMT":  "1994-11-06T08:49:37Z",
		"Sun Nov  6 08:49:37 1994":        "1994-11-06T08:49:37Z",
		"Sun, 06 Nov 1994 09:49:37 +0100": "1994-11-06T08:49:37Z",
		"yesterday":                       "",
	} {
		client := serve(t, "webdav", "/dav", answer(listingOf(responseOf("/dav/a", "<d:resourcetype/><d:getlastmodified>"+text+"</d:getlastmodified>"))))
		_, entries, err := list(t.Context(), client, filehost.Root)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		if want == "" {
			assert.Zero(t, entries[0].ModifiedAt, text)
			continue
		}
		written, err := entries[0].ModifiedAt.MarshalJSON()
		require.NoError(t, err, text)
		assert.Equal(t, `"`+want+`"`, string(written))
	}
}

// FuzzMIMEType holds the quick way to the whole one.
func FuzzMIMEType(f *testing.F) {
	for _, declared := range []string{"text/plain", "Text/HTML; charset=utf-8", "a/b/c", "/", "a/", "/b", "text", "a/b ", "x+y/z.1-_", strings.Repeat("a", 300) + "/b"} {
		f.Add(declared)
	}
	f.Fuzz(func(t *testing.T, declared string) {
		// A blank at the end changes nothing but the way.
		assert.Equal(t, mimeType(declared+" ", "a.pdf"), mimeType(declared, "a.pdf"), "%q", declared)
	})
}

// BenchmarkEntry is the work for each entry after the answer has been read.
func BenchmarkEntry(b *testing.B) {
	listing, hrefs := entryMaker(b)
	href, values := nextcloudFile(1)
	b.ReportAllocs()
	for b.Loop() {
		makeEntry(b, listing, hrefs, href, values)
	}
}

func TestWhatAFoldersETagTellsOf(t *testing.T) {
	tracked := func(kind, permissions string) bool {
		client := serve(t, kind, map[string]string{"webdav": "/remote.php/dav/files/alice"}[kind], answer(
			`<d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:response><d:href>/remote.php/dav/files/alice/x/</d:href><d:propstat><d:prop>`+
				`<d:resourcetype><d:collection/></d:resourcetype><d:getetag>"a"</d:getetag>`+permissions+
				`</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`))
		entry, err := client.Stat(t.Context(), alice, path(t, "/x"))
		require.NoError(t, err)
		return entry.Tracked
	}
	for _, kind := range []string{"nextcloud", "owncloud"} {
		assert.True(t, tracked(kind, "<oc:permissions>RGDNVCK</oc:permissions>"), kind)
		assert.True(t, tracked(kind, "<oc:permissions>SRGDNVCK</oc:permissions>"), kind+", shared by him")
		assert.False(t, tracked(kind, "<oc:permissions>SRMGDNVCK</oc:permissions>"), kind+", shared with him, or another storage")
		assert.False(t, tracked(kind, ""), kind+", doesn't say")
	}
	assert.False(t, tracked("webdav", "<oc:permissions>RGDNVCK</oc:permissions>"), "nothing is known of its ETags")
}
