package remote

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// What the host sends of hello from its sixth byte on.
const remainder, restRange = "opencloud world", "bytes 6-20/21"

func TestAPartIsTheRestOfTheSameFileOrAnError(t *testing.T) {
	const tag, other = `"ef0974"`, `"25f919"`
	type header map[string]string
	cases := map[string]struct {
		kind   string
		entry  filehost.Entry
		status int
		header header
		body   string
		want   filehost.Kind // Internal = it opens
	}{
		"the rest":                      {"webdav", known(t, tag), 206, header{"ETag": tag, "Content-Range": restRange}, remainder, filehost.Internal},
		"the rest, Nextcloud":           {"nextcloud", known(t, tag), 206, header{"OC-ETag": tag, "ETag": other, "Content-Range": restRange}, remainder, filehost.Internal},
		"the rest, length not told":     {"webdav", known(t, tag), 206, header{"ETag": tag, "Content-Range": restRange}, "chunked: " + remainder, filehost.Internal},
		"suffix of a compressing host":  {"webdav", known(t, tag), 206, header{"ETag": `"ef0974-gzip"`, "Content-Range": restRange}, remainder, filehost.Internal},
		"of another file":               {"opencloud", known(t, tag), 206, header{"ETag": other, "Content-Range": restRange}, remainder, filehost.Changed},
		"of a file of no ETag":          {"webdav", known(t, tag), 206, header{"Content-Range": restRange}, remainder, filehost.Unsupported},
		"of a file of a weak ETag":      {"webdav", known(t, tag), 206, header{"ETag": "W/" + tag, "Content-Range": restRange}, remainder, filehost.Unsupported},
		"the entry's ETag is weak":      {"webdav", known(t, "W/"+tag), 206, header{"ETag": tag, "Content-Range": restRange}, remainder, filehost.Unsupported},
		"the entry has no ETag":         {"webdav", known(t, ""), 206, header{"ETag": tag, "Content-Range": restRange}, remainder, filehost.Unsupported},
		"the whole file":                {"webdav", known(t, tag), 200, header{"ETag": tag}, hello, filehost.Unsupported},
		"the whole of another file":     {"webdav", known(t, tag), 200, header{"ETag": other}, hello, filehost.Changed},
		"a folder's page, Nextcloud":    {"nextcloud", known(t, tag), 200, nil, "This is the WebDAV interface.", filehost.Unsupported},
		"from another byte":             {"webdav", known(t, tag), 206, header{"ETag": tag, "Content-Range": "bytes 5-20/21"}, " " + remainder, filehost.HostUnavailable},
		"to another byte":               {"webdav", known(t, tag), 206, header{"ETag": tag, "Content-Range": "bytes 6-19/21"}, remainder[:14], filehost.HostUnavailable},
		"of another length":             {"webdav", known(t, tag), 206, header{"ETag": tag, "Content-Range": "bytes 6-20/22"}, remainder, filehost.HostUnavailable},
		"of unknown length":             {"webdav", known(t, tag), 206, header{"ETag": tag, "Content-Range": "bytes 6-20/*"}, remainder, filehost.HostUnavailable},
		"of no range":                   {"webdav", known(t, tag), 206, header{"ETag": tag}, remainder, filehost.HostUnavailable},
		"several parts":                 {"opencloud", known(t, tag), 206, header{"ETag": tag, "Content-Type": "multipart/byteranges; boundary=8ae5"}, "--8ae5", filehost.HostUnavailable},
		"more than its range":           {"webdav", known(t, tag), 206, header{"ETag": tag, "Content-Range": restRange}, hello, filehost.HostUnavailable},
		"compressed":                    {"webdav", known(t, tag), 206, header{"ETag": tag, "Content-Range": restRange, "Content-Encoding": "gzip"}, remainder, filehost.HostUnavailable},
		"precondition failed":           {"webdav", known(t, tag), 412, nil, "", filehost.Changed},
		"the file is shorter by now":    {"webdav", known(t, tag), 416, header{"Content-Range": "bytes */5"}, "", filehost.Changed},
		"gone":                          {"webdav", known(t, tag), 404, nil, "", filehost.NotFound},
		"the credential is not good":    {"webdav", known(t, tag), 401, nil, "", filehost.CredentialRejected},
		"redirected to another address": {"webdav", known(t, tag), 302, header{"Location": "https://elsewhere.example/"}, "", filehost.HostUnavailable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := serve(t, c.kind, "", withDrives(onePersonalSpace, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					assert.Equal(t, []string{"bytes=6-", tag, tag, "identity"},
						[]string{r.Header.Get("Range"), r.Header.Get("If-Range"), r.Header.Get("If-Match"), r.Header.Get("Accept-Encoding")})
				}
				answerWith(w, c.status, c.header, c.body)
			}))
			c.entry.Path = c.entry.Path.In(topOf(c.kind))
			content, err := client.OpenFrom(t.Context(), alice, c.entry, 6)
			if c.want != filehost.Internal {
				require.Error(t, err)
				assert.Equal(t, c.want.Code(), filehost.KindOf(err).Code(), "%v", err)
				return
			}
			require.NoError(t, err)
			defer content.Close()
			raw, err := io.ReadAll(content)
			require.NoError(t, err)
			assert.Equal(t, remainder, string(raw))
			assert.EqualValues(t, len(remainder), content.Size)
			assert.True(t, filehost.IsStrongETag(content.ETag))
		})
	}
}

func TestAPartThatIsShorterThanItsRangeIsAnError(t *testing.T) {
	client := serve(t, "webdav", "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"a"`)
		w.Header().Set("Content-Range", restRange)
		w.WriteHeader(http.StatusPartialContent)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, remainder[:10])
	})
	content, err := client.OpenFrom(t.Context(), alice, known(t, `"a"`), 6)
	require.NoError(t, err)
	defer content.Close()
	raw, err := io.ReadAll(content)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
	assert.Len(t, raw, 10)
}

func TestNoPartIsAskedForThatTheFileDoesNotHave(t *testing.T) {
	client := serve(t, "webdav", "", func(http.ResponseWriter, *http.Request) { t.Error("the host is asked") })
	for _, offset := range []int64{-1, 0, int64(len(hello)), int64(len(hello)) + 1} {
		_, err := client.OpenFrom(t.Context(), alice, known(t, `"a"`), offset)
		assert.ErrorContains(t, err, "from byte", offset)
	}
}

// counted is a transport that counts the answers which are not closed.
type counted struct {
	http.RoundTripper
	open *atomic.Int32
}

func (c counted) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.RoundTripper.RoundTrip(request)
	if err == nil {
		c.open.Add(1)
		response.Body = countedBody{response.Body, c.open}
	}
	return response, err
}

type countedBody struct {
	io.ReadCloser
	open *atomic.Int32
}

func (b countedBody) Close() error {
	b.open.Add(-1)
	return b.ReadCloser.Close()
}

func TestAnAnswerThatIsNotTheRestIsClosed(t *testing.T) {
	client := serve(t, "webdav", "", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, hello) })
	var open atomic.Int32
	client.http.Transport = counted{client.http.Transport, &open}
	_, err := client.OpenFrom(t.Context(), alice, known(t, `"a"`), 6)
	assert.Equal(t, filehost.Unsupported, filehost.KindOf(err))
	assert.Zero(t, open.Load())
}
