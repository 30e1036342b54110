package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const hello = "hello opencloud world"

// known is what Stat has said about the file that the tests below open.
func known(t *testing.T, etag string) filehost.Entry {
	return filehost.Entry{
		Path: path(t, "/hello.txt"), Kind: filehost.File, Size: int64(len(hello)), ETag: etag, ModifiedAt: at("18:00:00"),
	}
}

const date, dateZone = "Fri, 20 Nov 2026 18:00:00 GMT", "Fri, 20 Nov 2026 18:00:00 +0000"

func TestOpenComparesWithTheEntry(t *testing.T) {
	const tag, other = `"ef0974"`, `"25f919"`
	without := func(change func(*filehost.Entry)) filehost.Entry {
		entry := known(t, tag)
		change(&entry)
		return entry
	}
	undated := without(func(e *filehost.Entry) { e.ETag, e.ModifiedAt = "", time.Time{} })
	type header map[string]string
	cases := map[string]struct {
		kind   string
		entry  filehost.Entry
		status int
		header header
		body   string
		want   filehost.Kind // Internal = it opens
	}{
		"same":                             {"webdav", known(t, tag), 200, header{"ETag": tag, "Last-Modified": date}, hello, filehost.Internal},
		"same, Nextcloud":                  {"nextcloud", known(t, tag), 200, header{"OC-ETag": tag, "ETag": tag}, hello, filehost.Internal},
		"OC-ETag counts before ETag":       {"nextcloud", known(t, tag), 200, header{"OC-ETag": tag, "ETag": other}, hello, filehost.Internal},
		"OC-ETag tells of a change":        {"nextcloud", known(t, tag), 200, header{"OC-ETag": other, "ETag": tag}, hello, filehost.Changed},
		"OC-ETag elsewhere is any header":  {"webdav", known(t, tag), 200, header{"OC-ETag": other, "ETag": tag}, hello, filehost.Internal},
		"OpenCloud's date":                 {"opencloud", known(t, ""), 200, header{"Last-Modified": dateZone}, hello, filehost.Internal},
		"another ETag":                     {"webdav", known(t, tag), 200, header{"ETag": other, "Last-Modified": date}, hello, filehost.Changed},
		"weak, then strong":                {"webdav", known(t, "W/"+tag), 200, header{"ETag": tag, "Last-Modified": date}, hello, filehost.Internal},
		"weak, and another date":           {"webdav", known(t, "W/"+tag), 200, header{"ETag": tag, "Last-Modified": "Fri, 20 Nov 2026 18:00:01 GMT"}, hello, filehost.Changed},
		"suffix of a compressing server":   {"webdav", known(t, tag), 200, header{"ETag": `"ef0974-gzip"`}, hello, filehost.Internal},
		"suffix in the listing":            {"webdav", known(t, `"ef0974-gzip"`), 200, header{"ETag": tag}, hello, filehost.Internal},
		"no quotes":                        {"webdav", known(t, tag), 200, header{"ETag": "ef0974"}, hello, filehost.Internal},
		"nginx lists no ETag":              {"webdav", known(t, ""), 200, header{"ETag": `"6b00"`, "Last-Modified": date}, hello, filehost.Internal},
		"dated ahead, told as now":         {"webdav", known(t, ""), 200, header{"Last-Modified": "Fri, 20 Nov 2026 17:00:00 GMT", "Date": "Fri, 20 Nov 2026 17:00:00 GMT"}, hello, filehost.Internal},
		"dated back, told as now":          {"webdav", known(t, ""), 200, header{"Last-Modified": "Fri, 20 Nov 2026 19:00:00 GMT", "Date": "Fri, 20 Nov 2026 19:00:00 GMT"}, hello, filehost.Changed},
		"another date":                     {"webdav", known(t, ""), 200, header{"Last-Modified": "Fri, 20 Nov 2026 18:00:01 GMT"}, hello, filehost.Changed},
		"the length is all there is":       {"webdav", known(t, tag), 200, nil, hello, filehost.Internal},
		"another length":                   {"webdav", known(t, tag), 200, header{"ETag": tag}, hello + "!", filehost.Changed},
		"nothing was known":                {"webdav", undated, 200, nil, hello, filehost.Internal},
		"a page for a folder, Nextcloud":   {"nextcloud", known(t, tag), 200, header{"Content-Type": "text/html"}, "chunked: This is the WebDAV interface.", filehost.Changed},
		"nothing for a folder, OpenCloud":  {"opencloud", known(t, tag), 200, nil, "", filehost.Changed},
		"nothing for what was empty":       {"opencloud", without(func(e *filehost.Entry) { e.Size = 0 }), 200, nil, "", filehost.Changed},
		"an empty file":                    {"nextcloud", without(func(e *filehost.Entry) { e.Size = 0 }), 200, header{"ETag": tag}, "", filehost.Internal},
		"a listing for a folder, SFTPGo":   {"webdav", known(t, tag), 207, nil, "<multistatus/>", filehost.HostUnavailable},
		"a part":                           {"webdav", known(t, tag), 206, header{"ETag": tag, "Content-Range": "bytes 0-1/21"}, "he", filehost.HostUnavailable},
		"no content":                       {"webdav", known(t, tag), 204, header{"ETag": tag}, "", filehost.HostUnavailable},
		"precondition failed":              {"webdav", known(t, tag), 412, nil, "", filehost.Changed},
		"method not allowed for a folder":  {"webdav", known(t, tag), 405, nil, "", filehost.Changed},
		"gone":                             {"webdav", known(t, tag), 404, nil, "", filehost.NotFound},
		"being processed":                  {"opencloud", known(t, tag), 425, nil, "", filehost.Conflict},
		"compressed though not asked for":  {"webdav", known(t, tag), 200, header{"ETag": tag, "Content-Encoding": "gzip"}, "chunked: ...", filehost.HostUnavailable},
		"kept compressed, and said so":     {"webdav", known(t, tag), 200, header{"ETag": tag, "Content-Encoding": "x-gzip"}, hello, filehost.Internal},
		"length not announced, ETag right": {"webdav", known(t, tag), 200, header{"ETag": tag}, "chunked: " + hello, filehost.Internal},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := serve(t, c.kind, "", withDrives(onePersonalSpace, func(w http.ResponseWriter, _ *http.Request) {
				answerWith(w, c.status, c.header, c.body)
			}))
			c.entry.Path = c.entry.Path.In(topOf(c.kind))
			content, err := client.Open(t.Context(), alice, c.entry)
			if c.want != filehost.Internal {
				assert.Equal(t, c.want, filehost.KindOf(err), "%v", err)
				return
			}
			require.NoError(t, err)
			defer content.Close()
			raw, err := io.ReadAll(content)
			require.NoError(t, err)
			assert.Equal(t, strings.TrimPrefix(c.body, "chunked: "), string(raw))
		})
	}
}

func TestOpenAsksForThisVersionAndNoCompression(t *testing.T) {
	for listed, want := range map[string]string{
		`"a"`: `"a"`, `"a-gzip"`: `"a"`, `W/"a"`: "", "": "",
	} {
		client := serve(t, "webdav", "", func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, want, r.Header.Get("If-Match"))
			assert.Equal(t, "identity", r.Header.Get("Accept-Encoding"))
			assert.Empty(t, r.Header.Get("Range"))
			_, _ = io.WriteString(w, hello)
		})
		content, err := client.Open(t.Context(), alice, known(t, listed))
		require.NoError(t, err)
		require.NoError(t, content.Close())
	}
}

func TestContentThatDoesNotKeepItsSize(t *testing.T) {
	chunked := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"a"`)
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, body)
		}
	}
	cases := map[string]struct {
		handler http.HandlerFunc
		want    filehost.Kind
	}{
		"cut, length announced": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "21")
			_, _ = io.WriteString(w, hello[:5])
		}, filehost.HostUnavailable},
		"cut, in chunks": {func(w http.ResponseWriter, r *http.Request) {
			chunked(hello[:5])(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, filehost.HostUnavailable},
		"short, in chunks":       {chunked(hello[:5]), filehost.HostUnavailable},
		"long, in chunks":        {chunked(hello + "!"), filehost.Changed},
		"very long, in chunks":   {chunked(strings.Repeat(hello, 10_000)), filehost.Changed},
		"nothing at all, chunks": {chunked(""), filehost.HostUnavailable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			content, err := serve(t, "webdav", "", c.handler).Open(t.Context(), alice, known(t, `"a"`))
			require.NoError(t, err)
			defer content.Close()
			raw, err := io.ReadAll(content)
			assert.Equal(t, c.want, filehost.KindOf(err), "%v", err)
			assert.LessOrEqual(t, len(raw), len(hello))
		})
	}
}

func TestLargeContentArrivesWhole(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	client := serve(t, "webdav", "", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(large))
	})
	entry := filehost.Entry{Path: path(t, "/large"), Kind: filehost.File, Size: int64(len(large))}
	content, err := client.Open(t.Context(), alice, entry)
	require.NoError(t, err)
	defer content.Close()
	raw, err := io.ReadAll(content)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(large, raw))
}

func TestCancelEndsTheContent(t *testing.T) {
	client := serve(t, "webdav", "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "21")
		_, _ = io.WriteString(w, hello[:5])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	content, err := client.Open(ctx, alice, known(t, ""))
	require.NoError(t, err)
	defer content.Close()
	_, err = io.ReadFull(content, make([]byte, 5))
	require.NoError(t, err)
	cancel()
	_, err = content.Read(make([]byte, 5))
	assert.Equal(t, filehost.Timeout, filehost.KindOf(err))
	require.ErrorIs(t, err, context.Canceled)
}

func TestETags(t *testing.T) {
	for raw, want := range map[string]string{
		`"a"`: `"a"`, `W/"a"`: `W/"a"`, ` "a" `: `"a"`, "a": `"a"`, "W/a": `W/"a"`,
		"": "", `""`: "", `W/""`: "", `"a"b"`: "", "\"a\nb\"": "", "\"a b\"": "", "\"\x7f\"": "", "\"\x00\"": "",
	} {
		assert.Equal(t, want, quoteETag(raw), "%q", raw)
	}
}

type panickingBody struct{}

func (panickingBody) Read([]byte) (int, error) { panic("in the body") }
func (panickingBody) Close() error             { return nil }

func TestAPanicWhileAFileIsReadIsAnError(t *testing.T) {
	content := &sizedBody{ReadCloser: panickingBody{}, size: 10}
	read := make(chan error)
	go func() { // as net/http does
		n, err := content.Read(make([]byte, 10))
		assert.Zero(t, n)
		read <- err
	}()
	err := <-read
	require.ErrorContains(t, err, "panic of type string")
	require.NotContains(t, err.Error(), "in the body")
}

func TestAFileThatHasBecomeAFolderHasChanged(t *testing.T) {
	cases := map[string]struct {
		kind string // of what is there now
		want filehost.Kind
	}{
		"a folder":              {"<D:collection/>", filehost.Changed},
		"a file, asked to sign": {"", filehost.HostUnavailable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := serve(t, "webdav", "", func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					// As nginx does for a folder, and others for who must sign in.
					w.Header().Set("Location", "http://"+r.Host+"/a.txt/")
					w.WriteHeader(http.StatusMovedPermanently)
					return
				}
				answer(`<D:multistatus xmlns:D="DAV:"><D:response><D:href>/a.txt</D:href><D:propstat><D:prop><D:resourcetype>`+c.kind+
					`</D:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>`)(w, r)
			})
			_, err := client.Open(t.Context(), alice, filehost.Entry{Path: path(t, "/a.txt"), Kind: filehost.File, Size: 3})
			assert.Equal(t, c.want, filehost.KindOf(err), "%v", err)
		})
	}
}

func TestBelowAFileThereIsNothing(t *testing.T) {
	for _, status := range []int{400, 405} {
		client := serve(t, "webdav", "/dav", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/dav/Docs/hello.txt" {
				w.WriteHeader(status) // as Apache and x/net/webdav do
				return
			}
			answer(recording(t, "apache-file"))(w, r)
		})
		below := path(t, "/Docs/hello.txt/below")
		_, err := client.Stat(t.Context(), alice, below)
		assert.Equal(t, filehost.NotFound, filehost.KindOf(err), status)
		_, _, err = list(t.Context(), client, below)
		assert.Equal(t, filehost.NotFound, filehost.KindOf(err), status)

		_, err = client.Stat(t.Context(), alice, path(t, "/Docs/other"))
		assert.NotEqual(t, filehost.NotFound, filehost.KindOf(err), "its folder is no file")
	}
}

func TestAFileThatIsGoneIsNotFoundWhateverTheConditionSays(t *testing.T) {
	for there, want := range map[bool]filehost.Kind{false: filehost.NotFound, true: filehost.Changed} {
		client := serve(t, "webdav", "/dav", func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodGet:
				w.WriteHeader(http.StatusPreconditionFailed) // as Nextcloud does for either
			case there:
				answer(recording(t, "apache-file"))(w, r)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
		})
		_, err := client.Open(t.Context(), alice, filehost.Entry{Path: path(t, "/Docs/hello.txt"), Kind: filehost.File, ETag: `"1"`})
		assert.Equal(t, want, filehost.KindOf(err), "%v", err)
	}
}

// answerWith gives a body; behind "chunked: " one whose length is not announced.
func answerWith(w http.ResponseWriter, status int, header map[string]string, body string) {
	for name, value := range header {
		w.Header().Set(name, value)
	}
	body, chunked := strings.CutPrefix(body, "chunked: ")
	w.WriteHeader(status)
	if chunked {
		_ = http.NewResponseController(w).Flush()
	}
	_, _ = io.WriteString(w, body)
}
