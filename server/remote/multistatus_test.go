package remote

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote/internal/xmlscan"
)

// small is a folder with one file, in namespaces that no host names like this.
const small = `<?xml version="1.0" encoding="utf-8"?>
<multistatus xmlns="DAV:" xmlns:zz="http://owncloud.org/ns"><response><href>/dav/</href><propstat><prop>
<resourcetype><collection/></resourcetype><getcontentlength/></prop><status>HTTP/1.1 200 OK</status></propstat></response>
<zz:response><href>/not/ours</href></zz:response>
<response><href>/dav/a%20b</href><propstat><prop><resourcetype/><zz:getcontentlength>9</zz:getcontentlength></prop>
<status>HTTP/1.1 200 OK</status></propstat><propstat><prop><getetag>"no"</getetag></prop><status>HTTP/1.1 404 Not Found</status>
</propstat><propstat><prop><getcontentlength><![CDATA[3]]></getcontentlength></prop><status>HTTP/1.1 200 OK</status></propstat>
</response><responsedescription>the end</responsedescription></multistatus>`

func TestPropertiesCountByNamespaceAndStatus(t *testing.T) {
	_, entries, err := list(t.Context(), serve(t, "webdav", "/dav", answer(small)), filehost.Root)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.EqualValues(t, 3, entries[0].Size)
	assert.Empty(t, entries[0].ETag)
	assert.Equal(t, "/a b", entries[0].Path.String())
}

func TestAnEntryHoldsNoTextsButItsOwn(t *testing.T) {
	m := newMultistatus(strings.NewReader(small))
	_, err := m.next()
	require.NoError(t, err)
	file, err := m.next()
	require.NoError(t, err)
	assert.Equal(t, "/dav/a%20b3", file.values.content, "its href and its length, no status and nothing of a property that it lacks")
}

func TestEveryCutIsAnError(t *testing.T) {
	documents := recorded(t)
	documents["ours"] = small
	for name, document := range documents {
		t.Run(name, func(t *testing.T) {
			whole := strings.TrimRight(document, "\n")
			for _, window := range []int{16, windowBytes} {
				for cut := range len(whole) {
					_, err := readAll(strings.NewReader(whole[:cut]), window)
					require.Error(t, err, "cut at %d", cut)
				}
				_, err := readAll(strings.NewReader(whole), window)
				require.NoError(t, err)
			}
		})
	}
}

func TestCutConnectionIsAnError(t *testing.T) {
	cuts := map[string]http.HandlerFunc{
		"connection lost": func(w http.ResponseWriter, r *http.Request) {
			answer(small[:len(small)/2])(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		"shorter than announced": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(small)))
			answer(small[:len(small)-1])(w, r)
		},
		"whole, and shorter than announced": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(small)+1))
			answer(small)(w, r)
		},
		"shorter, and nothing announced": answer(small[:len(small)-len("</multistatus>")]),
		"compressed and cut":             compressed(small, func(raw []byte) []byte { return raw[:len(raw)/2] }),
		"compressed, without checksum":   compressed(small, func(raw []byte) []byte { return raw[:len(raw)-1] }),
		"more than an answer":            answer(small + small),
		"whole, but not the end of the chunks": func(w http.ResponseWriter, r *http.Request) {
			answer(small)(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		"whole, but compressed and cut": compressed(small, func(raw []byte) []byte { return raw[:len(raw)-1] }),
		"whole, but of another checksum": compressed(small, func(raw []byte) []byte {
			raw[len(raw)-8] ^= 1
			return raw
		}),
		"whole, but of another length": compressed(small, func(raw []byte) []byte {
			raw[len(raw)-1] ^= 1
			return raw
		}),
		"empty":                answer(""),
		"compressed and empty": compressed("", func([]byte) []byte { return nil }),
	}
	for name, handler := range cuts {
		t.Run(name, func(t *testing.T) {
			_, _, err := list(t.Context(), serve(t, "webdav", "/dav", handler), filehost.Root)
			assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
		})
	}
}

func compressed(body string, change func([]byte) []byte) http.HandlerFunc {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, _ = io.WriteString(writer, body)
	_ = writer.Close()
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		answer(string(change(packed.Bytes())))(w, r)
	}
}

func TestCompressedAnswer(t *testing.T) {
	whole := compressed(small, func(raw []byte) []byte { return raw })
	_, entries, err := list(t.Context(), serve(t, "webdav", "/dav", whole), filehost.Root)
	require.NoError(t, err)
	assert.Len(t, entries, 1)

	_, _, err = list(t.Context(), serve(t, "webdav", "/dav", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		answer(small)(w, r)
	}), filehost.Root)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
}

// listingOf is the answer about /dav/ with what is in it.
func listingOf(children string) string {
	return `<d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">` + responseOf("/dav/", "<d:resourcetype><d:collection/></d:resourcetype>") +
		children + `</d:multistatus>`
}

func responseOf(href, prop string) string {
	return `<d:response><d:href>` + href + `</d:href><d:propstat><d:prop>` + prop +
		`</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`
}

func TestAnswersThatAreRefused(t *testing.T) {
	const file = "<d:resourcetype/>"
	cases := map[string]struct {
		answer string
		want   filehost.Kind
	}{
		"a page":                            {"<html><body>Sign in</body></html>", filehost.HostUnavailable},
		"a multistatus of another standard": {`<multistatus xmlns="DAV"/>`, filehost.HostUnavailable},
		"document type declaration":         {"<!DOCTYPE multistatus [<!ENTITY a 'b'>]>" + listingOf(""), filehost.HostUnavailable},
		"unknown entity":                    {listingOf(responseOf("/dav/&a;", file)), filehost.HostUnavailable},
		"unknown encoding":                  {`<?xml version="1.0" encoding="utf-7"?>` + listingOf(""), filehost.HostUnavailable},
		"invalid UTF-8":                     {listingOf(responseOf("/dav/\xff", file)), filehost.HostUnavailable},
		"elements that don't match":         {strings.Replace(listingOf(""), "</d:response>", "</d:other>", 1), filehost.HostUnavailable},
		"too deep":                          {listingOf(strings.Repeat("<d:x>", maxDepth) + strings.Repeat("</d:x>", maxDepth)), filehost.HostUnavailable},
		"too deep in an entry":              {listingOf(responseOf("/dav/a", strings.Repeat("<d:x>", maxDepth)+strings.Repeat("</d:x>", maxDepth))), filehost.HostUnavailable},
		"an endless entry":                  {listingOf(responseOf("/dav/a", file+strings.Repeat("<d:x>y</d:x>", maxResponseBytes/12))), filehost.HostUnavailable},
		"an endless name":                   {listingOf("<d:" + strings.Repeat("x", maxResponseBytes)), filehost.HostUnavailable},
		"no href":                           {listingOf("<d:response/>"), filehost.HostUnavailable},
		"no word about the folder":          {`<d:multistatus xmlns:d="DAV:"></d:multistatus>`, filehost.HostUnavailable},
		"neither file nor folder":           {listingOf(responseOf("/dav/a", "<d:getetag>1</d:getetag>")), filehost.HostUnavailable},
		"a size that is no number":          {listingOf(responseOf("/dav/a", file+"<d:getcontentlength>many</d:getcontentlength>")), filehost.HostUnavailable},
		"an entry of a folder below":        {listingOf(responseOf("/dav/a/b", file)), filehost.HostUnavailable},
		"an entry of another tree":          {listingOf(responseOf("/other/a", file)), filehost.HostUnavailable},
		"an entry above":                    {listingOf(responseOf("/", file)), filehost.HostUnavailable},
		"a name with a slash":               {listingOf(responseOf("/dav/a%2Fb", file)), filehost.HostUnavailable},
		"a way up":                          {listingOf(responseOf("/dav/%2e%2e", file)), filehost.HostUnavailable},
		"a way up behind a backslash":       {listingOf(responseOf(`/dav/a%5C..%5Cb`, file)), filehost.HostUnavailable},
		"NUL":                               {listingOf(responseOf("/dav/a%00", file)), filehost.HostUnavailable},
		"a listing cut by the host": {
			listingOf(`<d:response><d:href>/dav/</d:href><d:status>HTTP/1.1 507 Insufficient Storage</d:status></d:response>`), filehost.HostUnavailable,
		},
		"a folder that is not to be seen": {
			`<d:multistatus xmlns:d="DAV:"><d:response><d:href>/dav/</d:href><d:status>HTTP/1.1 403 Forbidden</d:status></d:response></d:multistatus>`, filehost.Forbidden,
		},
		"a file where a folder was asked for": {`<d:multistatus xmlns:d="DAV:">` + responseOf("/dav/", file) + `</d:multistatus>`, filehost.InvalidRequest},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := list(t.Context(), serve(t, "webdav", "/dav", answer(c.answer)), filehost.Root)
			assert.Equal(t, c.want, filehost.KindOf(err), "%v", err)
		})
	}
}

func TestEntriesThatTheHostWithholdsAreLeftOut(t *testing.T) {
	gone := `<d:response><d:href>/dav/gone</d:href><d:propstat><d:prop><d:resourcetype/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat></d:response>`
	hidden := `<d:response><d:href>/dav/x</d:href><d:href>/dav/y</d:href><d:status>HTTP/1.1 403 Forbidden</d:status></d:response>`
	_, entries, err := list(t.Context(), serve(t, "webdav", "/dav", answer(listingOf(gone+hidden+responseOf("/dav/a", "<d:resourcetype/>")))), filehost.Root)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, "a", entries[0].Path.Name())
}

func TestLatin1Answer(t *testing.T) {
	document := "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>" + listingOf(responseOf("/dav/\xc4rger", "<d:resourcetype/>"))
	_, entries, err := list(t.Context(), serve(t, "webdav", "/dav", answer(document)), filehost.Root)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, "Ärger", entries[0].Path.Name())
}

func TestListingAboveTheLimitIsTooLarge(t *testing.T) {
	entry := "<r xmlns='DAV:'/>"
	config := scanning
	config.Limits.Document = 8000
	m := &multistatus{scanner: xmlscan.New(strings.NewReader("<d:multistatus xmlns:d='DAV:'>"+strings.Repeat(entry, 1000)), config)}
	_, err := m.next()
	require.ErrorIs(t, err, errAnswerTooLarge)

	m = newMultistatus(strings.NewReader(listingOf("")))
	m.entries = maxEntries
	_, err = m.next()
	require.ErrorIs(t, err, errAnswerTooLarge)

	m = newMultistatus(strings.NewReader(listingOf("<d:response>" + strings.Repeat("<d:href>/dav/a</d:href>", 1000) + "</d:response>")))
	m.entries = maxEntries - 500
	_, err = m.next()
	require.NoError(t, err)
	_, err = m.next()
	require.ErrorIs(t, err, errAnswerTooLarge, "a response counts as often as it has hrefs")

	client := serve(t, "webdav", "/dav", answer(""))
	assert.Equal(t, filehost.TooLarge, filehost.KindOf(client.unreadable(err)))
}

func TestErrorOfTheReceiverEndsTheListing(t *testing.T) {
	enough := errors.New("enough")
	client := serve(t, "webdav", "/dav", endless)
	seen := 0
	_, err := client.List(t.Context(), alice, filehost.Root, func(filehost.Entry) error {
		if seen++; seen == 3 {
			return enough
		}
		return nil
	})
	assert.Equal(t, enough, err)
	assert.Equal(t, 3, seen)
}

// endless is a host with a folder that has no end.
func endless(w http.ResponseWriter, r *http.Request) {
	head, _, _ := strings.Cut(listingOf(""), "</d:multistatus>")
	answer(head)(w, r)
	for i := 0; ; i++ {
		if _, err := io.WriteString(w, responseOf(fmt.Sprintf("/dav/f%d", i), "<d:resourcetype/>")); err != nil {
			return
		}
	}
}

func TestMemoryDoesNotGrowWithTheFolder(t *testing.T) {
	const entries, most = 100_000, 8 << 20
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	client := serve(t, "webdav", "/dav", endless)
	enough := errors.New("enough")
	var first uint64
	seen := 0
	_, err := client.List(t.Context(), alice, filehost.Root, func(filehost.Entry) error {
		switch seen++; {
		case seen == 1000:
			first = heap()
		case seen%20_000 == 0:
			assert.Less(t, heap(), first+most, "after %d entries", seen)
		}
		if seen == entries {
			return enough
		}
		return nil
	})
	require.ErrorIs(t, err, enough)
}
