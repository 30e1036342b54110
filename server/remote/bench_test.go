package remote

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/studio-b12/gowebdav"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// benchEntries are in the listing that the benchmarks read, beside its folder.
const benchEntries = 10_000

// largeListing is the answer of Nextcloud about a folder of so many files, in its form: names escaped with small letters,
// ETags with references, what an entry doesn't have in a group of its own.
func largeListing(entries int) []byte {
	var answer bytes.Buffer
	answer.WriteString("<?xml version=\"1.0\"?>\n" + `<d:multistatus xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns" ` +
		`xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"><d:response><d:href>/remote.php/dav/files/alice/Large/</d:href>` +
		`<d:propstat><d:prop><d:resourcetype><d:collection/></d:resourcetype><d:getlastmodified>Fri, 20 Nov 2026 17:52:53 GMT</d:getlastmodified>` +
		`<d:getetag>&quot;6b0088f5e57b2&quot;</d:getetag><oc:size>109327</oc:size><oc:permissions>RGDNVCK</oc:permissions><oc:fileid>6</oc:fileid>` +
		`<oc:favorite>0</oc:favorite><oc:share-types/><nc:share-attributes>[]</nc:share-attributes></d:prop><d:status>HTTP/1.1 200 OK</d:status>` +
		`</d:propstat><d:propstat><d:prop><d:getcontentlength/><d:getcontenttype/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat></d:response>`)
	for i := range entries {
		fmt.Fprintf(&answer, `<d:response><d:href>/remote.php/dav/files/alice/Large/%%c3%%84rger%%20%d.txt</d:href><d:propstat><d:prop><d:resourcetype/>`+
			`<d:getcontentlength>%d</d:getcontentlength><d:getcontenttype>text/plain</d:getcontenttype>`+
			`<d:getlastmodified>Fri, 20 Nov 2026 17:52:53 GMT</d:getlastmodified><d:getetag>&quot;%032x&quot;</d:getetag><oc:size>%d</oc:size>`+
			`<oc:permissions>RGDNVW</oc:permissions><oc:fileid>%d</oc:fileid><oc:favorite>0</oc:favorite><oc:share-types/>`+
			`<nc:share-attributes>[]</nc:share-attributes></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`, i, i, i, i, 7+i)
	}
	answer.WriteString("</d:multistatus>\n")
	return answer.Bytes()
}

// memory is a host that gives one answer, without a network.
type memory []byte

// RoundTrip implements http.RoundTripper.
func (m memory) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		_ = request.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusMultiStatus, ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {"application/xml; charset=utf-8"}},
		Body:   io.NopCloser(bytes.NewReader(m)), ContentLength: int64(len(m)),
	}, nil
}

// BenchmarkMultistatus reads the same bytes with our reader, with encoding/xml into structs, whole and response by
// response, and with gowebdav. Beside Go's own measures it reports what is allocated for one entry.
func BenchmarkMultistatus(b *testing.B) {
	document := largeListing(benchEntries)
	for _, reader := range []struct {
		name string
		read func(b *testing.B, document []byte) (entries int)
	}{
		{"ours", readOurs}, {"encoding-xml", readStructs}, {"encoding-xml-streamed", readStructsStreamed}, {"gowebdav", readGowebdav},
	} {
		b.Run(reader.name, func(b *testing.B) {
			allocated := testing.AllocsPerRun(1, func() { require.Equal(b, benchEntries, reader.read(b, document)) })
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				reader.read(b, document)
			}
			b.ReportMetric(allocated/benchEntries, "allocs/entry")
		})
	}
}

// readOurs takes all texts that the client asks for.
func readOurs(b *testing.B, document []byte) (entries int) {
	m := newMultistatus(bytes.NewReader(document))
	texts := 0
	for {
		r, err := m.next()
		if errors.Is(err, io.EOF) {
			require.Positive(b, texts)
			return entries - 1 // the folder itself
		}
		require.NoError(b, err)
		for name := range propertyCount {
			if text, ok := r.values.text(name); ok {
				texts += len(text)
			}
		}
		entries++
	}
}

// responseStruct is what somebody would write who wants the same properties.
type responseStruct struct {
	Href      []string `xml:"DAV: href"`
	Status    string   `xml:"DAV: status"`
	Propstats []struct {
		Status          string    `xml:"DAV: status"`
		Collection      *struct{} `xml:"DAV: prop>resourcetype>collection"`
		Length          string    `xml:"DAV: prop>getcontentlength"`
		Type            string    `xml:"DAV: prop>getcontenttype"`
		Modified        string    `xml:"DAV: prop>getlastmodified"`
		ETag            string    `xml:"DAV: prop>getetag"`
		Size            string    `xml:"http://owncloud.org/ns prop>size"`
		Permissions     string    `xml:"http://owncloud.org/ns prop>permissions"`
		FileID          string    `xml:"http://owncloud.org/ns prop>fileid"`
		Favorite        string    `xml:"http://owncloud.org/ns prop>favorite"`
		ShareTypes      []string  `xml:"http://owncloud.org/ns prop>share-types>share-type"`
		ShareAttributes string    `xml:"http://nextcloud.org/ns prop>share-attributes"`
	} `xml:"DAV: propstat"`
}

func readStructs(b *testing.B, document []byte) int {
	var answer struct {
		Responses []responseStruct `xml:"DAV: response"`
	}
	require.NoError(b, xml.Unmarshal(document, &answer))
	require.Equal(b, "text/plain", answer.Responses[1].Propstats[0].Type)
	return len(answer.Responses) - 1
}

func readStructsStreamed(b *testing.B, document []byte) (entries int) {
	decoder := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return entries - 1
		}
		require.NoError(b, err)
		if element, ok := token.(xml.StartElement); ok && element.Name == davName("response") {
			var r responseStruct
			require.NoError(b, decoder.DecodeElement(&r, &element))
			entries++
		}
	}
}

func readGowebdav(b *testing.B, document []byte) int {
	client := gowebdav.NewClient("http://127.0.0.1/remote.php/dav/files/alice", "alice", "secret")
	client.SetTransport(memory(document))
	files, err := client.ReadDir("/Large")
	require.NoError(b, err)
	return len(files)
}

// BenchmarkList takes the same bytes all the way to entries, as a listing does.
func BenchmarkList(b *testing.B) {
	document := largeListing(benchEntries)
	address, err := url.Parse("http://127.0.0.1")
	require.NoError(b, err)
	client, err := New(Config{
		Host:       filehost.Host{ID: filehost.DefaultHostID, Name: "Files", Kind: "nextcloud", BaseURL: address},
		Client:     &http.Client{Transport: memory(document)},
		StallAfter: time.Hour,
	})
	require.NoError(b, err)
	folder := path(b, "/Large")
	list := func() {
		entries := 0
		_, err := client.List(b.Context(), alice, folder, func(filehost.Entry) error { entries++; return nil })
		require.NoError(b, err)
		require.Equal(b, benchEntries, entries)
	}
	allocated := testing.AllocsPerRun(1, list)
	b.SetBytes(int64(len(document)))
	b.ReportAllocs()
	for b.Loop() {
		list()
	}
	b.ReportMetric(allocated/benchEntries, "allocs/entry")
}
