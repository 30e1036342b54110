package remote

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestNamesAndPathsOfAHostHaveLimits(t *testing.T) {
	name := func(length int) string { return "/" + strings.Repeat("n", length) }
	long := strings.Repeat(name(1023), 4)
	for what, c := range map[string]struct {
		href string
		fits bool
	}{
		"a name at the limit":           {name(maxNameBytes), true},
		"a name above it":               {name(maxNameBytes + 1), false},
		"a name without end":            {name(250 << 10), false},
		"a path at the limit":           {long, true},
		"a path above it":               {long + "/n", false},
		"a path of folders without end": {strings.Repeat("/n", 100<<10), false},
		"a path at the limit, escaped":  {strings.ReplaceAll(long, "n", "%6e"), true},
	} {
		t.Run(what, func(t *testing.T) {
			found, err := treeAt(t, "http://127.0.0.1", "/dav").path("/dav" + c.href)
			if c.fits {
				require.NoError(t, err)
				assert.LessOrEqual(t, len(found.String()), filehost.MaxPathBytes)
				return
			}
			require.ErrorIs(t, err, errTooLong)
		})
	}
	client := serve(t, "webdav", "/dav", answer(listingOf(responseOf("/dav"+name(250<<10), "<d:resourcetype/>"))))
	_, entries, err := list(t.Context(), client, filehost.Root)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
	assert.ErrorContains(t, err, "whose name is too long")
	assert.Empty(t, entries)
}

func TestWhatIsTooLongToKeepCountsAsNotSaid(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	client := serve(t, "nextcloud", "", answer(""))
	entry, err := client.entry(found{path: path(t, "/a.pdf"), values: told(map[property]string{
		resourceType: "", etag: `"` + long + `"`, contentType: "text/" + long, ocFileID: long,
	})})
	require.NoError(t, err)
	assert.Empty(t, entry.ETag)
	assert.Equal(t, "application/pdf", entry.MIMEType)
	assert.Empty(t, entry.WebURL)

	link := func(path string) string {
		return client.webURL(told(map[property]string{ocPrivateLink: client.host.Origin() + "/" + path}))
	}
	assert.NotEmpty(t, link("f/1"))
	assert.Empty(t, link(long))
}

func TestAnAccountWithoutEndIsNone(t *testing.T) {
	client := serve(t, "nextcloud", "", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"ocs":{"meta":{"statuscode":200},"data":{"id":"`+strings.Repeat("a", 64<<10)+`"}}}`)
	})
	_, err := client.Account(t.Context(), alice)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
}

func TestWordsOfTheHostReachAnErrorShortAndEscaped(t *testing.T) {
	hostile := "\x1b[31m&#10;\u202e" + strings.Repeat("é", 4<<10)
	const file = "<d:resourcetype/>"
	malformed := func(head string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.WriteString(connection, "HTTP/1.1 207 OK\r\n"+head+strings.ReplaceAll(hostile, "&#10;", "\a")[:3000]+"\r\n\r\n")
				_ = connection.Close()
			}
		}
	}
	escaped := strings.NewReplacer("\x1b", "").Replace(hostile) // XML has no ESC
	for name, handler := range map[string]http.HandlerFunc{
		"an href of another tree": answer(listingOf(responseOf("/other/"+escaped, file))),
		"an href with a bad name": answer(listingOf(responseOf("/dav/..%2f"+escaped, file))),
		"an href with no escape":  answer(listingOf(responseOf("/dav/%zz"+escaped, file))),
		"a size":                  answer(listingOf(responseOf("/dav/a", file+"<d:getcontentlength>"+escaped+"</d:getcontentlength>"))),
		"an element":              answer("<" + strings.Repeat("é", 4<<10) + "/>"),
		"an encoding":             answer(`<?xml version="1.0" encoding="` + strings.Repeat("é", 4<<10) + `"?><a/>`),
		"a header":                malformed(""),
		"a trailer":               malformed("Transfer-Encoding: chunked\r\n\r\n0\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := list(t.Context(), serve(t, "webdav", "/dav", handler), filehost.Root)
			require.Error(t, err)
			var known *filehost.Error
			require.ErrorAs(t, err, &known)
			require.Error(t, known.Err)
			assert.LessOrEqual(t, utf8.RuneCountInString(known.Err.Error()), 2*maxCited, "some are escaped")
			assert.LessOrEqual(t, len(err.Error()), 2000)
			assert.NotContains(t, err.Error(), "\x1b")
			assert.NotContains(t, err.Error(), "\u202e")
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestACitedErrorIsStillTheError(t *testing.T) {
	assert.ErrorIs(t, cite(net.ErrClosed), net.ErrClosed)
	assert.NoError(t, cite(nil))
	assert.Equal(t, `a\n\x1b[0m`, cite(errors.New("a\n\x1b[0m")).Error())
	assert.Equal(t, strings.Repeat("é", maxCited)+"…", cite(errors.New(strings.Repeat("é", maxCited+1))).Error())
}
