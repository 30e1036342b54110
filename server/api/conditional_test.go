package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// folderOfThree is a world with three files, two of which make a page.
func folderOfThree(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for _, name := range []string{"/a", "/b", "/c"} {
		w.remote.AddFile(name, []byte(name), noon)
	}
	return w
}

const twoOfThree = "/files?limit=2"

func (w *world) tag(t *testing.T, userID, target string, header ...string) string {
	t.Helper()
	recorder := w.call(t, userID, http.MethodGet, target, "", header...)
	assert.Equal(t, http.StatusOK, recorder.Code, recorder.Body)
	tag := recorder.Header().Get("ETag")
	assert.Regexp(t, `^W/"[A-Za-z0-9_-]{24}"$`, tag)
	return tag
}

func TestAPageThatTheCallerHasIsNotSentAgain(t *testing.T) {
	w := folderOfThree(t)
	first := w.call(t, alice, http.MethodGet, twoOfThree, "")
	tag := first.Header().Get("ETag")
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		before := w.remote.Calls()
		recorder := w.call(t, alice, method, twoOfThree, "", "If-None-Match", tag)
		assert.Equal(t, http.StatusNotModified, recorder.Code)
		assert.Equal(t, before+1, w.remote.Calls(), "the host was asked just now")
		assert.Empty(t, recorder.Body.String())
		assert.Empty(t, recorder.Header().Values("Content-Length"))
		assert.Empty(t, recorder.Header().Values("Content-Type"))
		for _, name := range []string{"ETag", "Cache-Control", "Vary"} { // RFC 9110 15.4.5
			assert.Equal(t, first.Header()[http.CanonicalHeaderKey(name)], recorder.Header()[http.CanonicalHeaderKey(name)], name)
		}
	}
	assert.Equal(t, "private, no-cache", first.Header().Get("Cache-Control"))
	assert.Equal(t, "Authorization, Cookie, Accept-Language", first.Header().Get("Vary"))
	head := w.call(t, alice, http.MethodHead, twoOfThree, "")
	assert.Equal(t, http.StatusOK, head.Code)
	assert.Equal(t, tag, head.Header().Get("ETag"))
	assert.Equal(t, first.Header().Get("Content-Length"), head.Header().Get("Content-Length"))
}

func TestATagIsOfOnePageOfOneUserOverOneConnectionInOneLanguage(t *testing.T) {
	w := folderOfThree(t)
	w.tokens.Connect(bob)
	tag := w.tag(t, alice, twoOfThree)
	assert.Equal(t, tag, w.tag(t, alice, twoOfThree), "the cursor is sealed anew, and the page is the same")
	for name, changed := range map[string]string{
		"user":       w.tag(t, bob, twoOfThree),
		"language":   w.tag(t, alice, twoOfThree, "Accept-Language", "de"),
		"descending": w.tag(t, alice, "/files?limit=3&order=desc"),
		"page size":  w.tag(t, alice, "/files?limit=1"),
	} {
		assert.NotEqual(t, tag, changed, name)
	}
	w.remote.Change("/b", func(e *filehost.Entry) { e.ETag = `"other"` })
	changed := w.tag(t, alice, twoOfThree)
	assert.NotEqual(t, tag, changed, "an entry changed")
	w.tokens.Connect(alice)
	assert.NotEqual(t, changed, w.tag(t, alice, twoOfThree), "alice has connected anew")
}

func TestATagFollowsWhereThePageEndsAndNotHowThatIsSealed(t *testing.T) {
	body := func(cursor string) []byte {
		return []byte(`{"entries":[],"next_cursor":"` + cursor + `","total":1}`)
	}
	tag := filesTag(body("one"), "one", "here", nil)
	assert.Equal(t, tag, filesTag(body("another"), "another", "here", nil))
	assert.NotEqual(t, tag, filesTag(body("one"), "one", "there", nil), "a page of the same entries may end elsewhere")
	assert.NotEqual(t, filesTag(body(""), "", "ab", []string{"c"}), filesTag(body(""), "", "a", []string{"bc"}))
}

func TestAnErrorIsNeverNotModified(t *testing.T) {
	w := folderOfThree(t)
	tag := w.tag(t, alice, twoOfThree)
	w.remote.Accept("nobody's")
	for _, named := range []string{tag, "*"} {
		assert.Equal(t, http.StatusFailedDependency, w.call(t, alice, http.MethodGet, twoOfThree, "", "If-None-Match", named).Code)
		assert.Equal(t, http.StatusUnauthorized, w.call(t, "", http.MethodGet, twoOfThree, "", "If-None-Match", named).Code)
	}
}

// conditions are values of If-None-Match, and whether they name W/"a,b".
var conditions = map[string]bool{
	`W/"a,b"`: true, `"a,b"`: true, `*`: true, ` * `: true, `"x", W/"a,b"`: true, `"x",,  ,"a,b",`: true, "\t\"a,b\"": true,
	`W/"é" , "a,b"`: true, `"",W/"","a,b"`: true,
	``: false, `"a"`: false, `"b"`: false, `a,b`: false, `w/"a,b"`: false, `W/`: false, `"a,b`: false, `x, "a,b"`: false,
	`"x" "a,b"`: false, `"x", *`: false, "\"x\x01\", \"a,b\"": false, `W/ "a,b"`: false, `"A,B"`: false, "\f*": false,
}

func TestIfNoneMatchIsReadAsTheStandardSays(t *testing.T) {
	for field, want := range conditions {
		assert.Equal(t, want, namesTag([]string{field}, `W/"a,b"`), field)
	}
	assert.True(t, namesTag([]string{`"x"`, `"a,b"`}, `W/"a,b"`), "lines of one name are one list (RFC 9110 5.3)")
}

// FuzzIfNoneMatch holds namesTag to the reading of net/http, which is laxer: it goes on after what is malformed between
// two tags, and takes an asterisk in a list. What we find, it finds.
func FuzzIfNoneMatch(f *testing.F) {
	const tag = `W/"a,b"`
	for field := range conditions {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		if !namesTag([]string{field}, tag) {
			return
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		request.Header.Set("If-None-Match", field)
		recorder := httptest.NewRecorder()
		recorder.Header().Set("ETag", tag)
		http.ServeContent(recorder, request, "", time.Time{}, strings.NewReader("content"))
		assert.Equal(t, http.StatusNotModified, recorder.Code, "%q", field)
	})
}
