package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func withImages(t *testing.T, images *filehosttest.Images) *world {
	t.Helper()
	w := newWorld(t)
	w.remote.Thumbnails = images
	return w
}

func TestAThumbnailIsAnImageAndNothingElseToABrowser(t *testing.T) {
	w := withImages(t, &filehosttest.Images{Bytes: []byte("an image")})
	recorder := w.call(t, alice, http.MethodGet, "/thumbnail?path=/a.png", "")
	assert.Equal(t, http.StatusOK, recorder.Code)
	assert.Equal(t, "an image", recorder.Body.String())
	for name, want := range map[string]string{
		"Content-Type": "image/png", "Content-Length": "8", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; sandbox", "Content-Disposition": `inline; filename="thumbnail"`,
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie",
	} {
		assert.Equal(t, want, recorder.Header().Get(name), name)
	}
	head := w.call(t, alice, http.MethodHead, "/thumbnail?path=/a.png", "")
	assert.Equal(t, recorder.Header(), head.Header())
}

func TestAnImageThatTheBrowserHasIsNotSentAgainAfterTheHostHasAnswered(t *testing.T) {
	images := &filehosttest.Images{Bytes: []byte("an image")}
	w := withImages(t, images)
	first := w.call(t, alice, http.MethodGet, "/thumbnail?path=/a.png&etag=%221%22", "")
	assert.Equal(t, "private, max-age=3600, immutable", first.Header().Get("Cache-Control"))
	tag := first.Header().Get("ETag")
	recorder := w.call(t, alice, http.MethodGet, "/thumbnail?path=/a.png&etag=%221%22", "", "If-None-Match", tag)
	assert.Equal(t, http.StatusNotModified, recorder.Code)
	assert.Len(t, images.Asks(), 2)
	for _, name := range []string{"ETag", "Cache-Control", "Vary"} {
		assert.Equal(t, first.Header().Get(name), recorder.Header().Get(name), name)
	}

	images.Failure = filehost.E(filehost.Forbidden, "Not any more.", nil)
	recorder = w.call(t, alice, http.MethodGet, "/thumbnail?path=/a.png", "", "If-None-Match", tag)
	assert.Equal(t, "forbidden", failureOf(t, recorder).Code, "what may be seen no longer is no 304 either")
}

func TestTheTagOfAnImageIsOfOneUserAndHisConnection(t *testing.T) {
	images := &filehosttest.Images{Bytes: []byte("an image")}
	w := withImages(t, images)
	w.tokens.Connect(bob)
	tag := func(user string) string {
		return w.call(t, user, http.MethodGet, "/thumbnail?path=/a.png", "").Header().Get("ETag")
	}
	first := tag(alice)
	assert.Equal(t, first, tag(alice))
	assert.NotEqual(t, first, tag(bob), "another user")
	w.tokens.Connect(alice)
	assert.NotEqual(t, first, tag(alice), "another connection")
	first = tag(alice)
	images.Bytes = []byte("an Image")
	assert.NotEqual(t, first, tag(alice), "another image")
}

func TestWhatAThumbnailIsAskedFor(t *testing.T) {
	images := &filehosttest.Images{Bytes: []byte("an image")}
	w := withImages(t, images)
	id := filehost.Ref{HostID: "7"}.ID()
	for target, want := range map[string]struct {
		pixels int
		ref    filehost.Ref
	}{
		"/thumbnail?path=/a.png":                        {256, filehost.Ref{Path: filehosttest.MustPath("/a.png")}},
		"/thumbnail?id=" + id + "&size=16&host=default": {16, filehost.Ref{HostID: "7"}},
		"/thumbnail?path=/a.png&size=1024":              {1024, filehost.Ref{Path: filehosttest.MustPath("/a.png")}},
	} {
		assert.Equal(t, http.StatusOK, w.call(t, alice, http.MethodGet, target, "").Code, target)
		asks := images.Asks()
		assert.Equal(t, filehosttest.Ask{UserID: alice, Ref: want.ref, Pixels: want.pixels}, asks[len(asks)-1], target)
	}
	before := len(images.Asks())
	for target, field := range map[string]string{
		"/thumbnail": "path", "/thumbnail?path=/a.png&id=" + id: "path", "/thumbnail?path=a.png": "path", "/thumbnail?path=/../a.png": "path",
		"/thumbnail?id=x": "id", "/thumbnail?path=/a.png&size=15": "size", "/thumbnail?path=/a.png&size=1025": "size",
		"/thumbnail?path=/a.png&size=64&size=64": "size", "/thumbnail?path=/a.png&x=1": "x", "/thumbnail?path=/a.png&host=other": "host",
	} {
		f := failureOf(t, w.call(t, alice, http.MethodGet, target, ""))
		assert.Equal(t, "invalid_request", f.Code, target)
		assert.Equal(t, field, f.Details.Field, target)
	}
	assert.Len(t, images.Asks(), before)
}

func TestAThumbnailThatIsNotReadyYetSaysWhenToAskAgain(t *testing.T) {
	images := &filehosttest.Images{Failure: &filehost.Error{Kind: filehost.Conflict, Message: "Still working.", RetryAfter: 5e9}}
	recorder := withImages(t, images).call(t, alice, http.MethodGet, "/thumbnail?path=/a.png", "")
	assert.Equal(t, http.StatusConflict, recorder.Code)
	assert.Equal(t, "5", recorder.Header().Get("Retry-After"))
	assert.Equal(t, "no-store", recorder.Header().Get("Cache-Control"))
}
