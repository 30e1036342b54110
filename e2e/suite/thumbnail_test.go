package suite

import (
	"bytes"
	"image"
	_ "image/jpeg" // what hosts make
	_ "image/png"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

// thumbnail gets a small image, or the API's error.
func thumbnail(t *testing.T, as *rest.Client, query url.Values, header ...string) (*http.Response, []byte, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, as.URL+"/thumbnail?"+query.Encode(), nil)
	must(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := as.Send(request)
	if err != nil {
		return nil, nil, api.AsProblem(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	must(t, err)
	return response, content, nil
}

// TestThumbnails looks at small images as a browser does, where the host has them.
func TestThumbnails(t *testing.T) {
	page := list(t, in(sample.KindsFolder))
	user := site.Plugin(site.User).Client
	if !page.Capabilities.Thumbnails {
		_, _, err := thumbnail(t, user, in(sample.KindsFolder+"/"+sample.PNGFile))
		wantProblem(t, err, "unsupported", 422)
		return
	}
	shown := map[string]bool{}
	for _, entry := range page.Entries {
		response, content, err := thumbnail(t, user, url.Values{"id": {entry.ID}, "size": {"64"}})
		if !entry.HasThumbnail || entry.Name == sample.BrokenPNGFile {
			wantProblem(t, err, "unsupported", 422)
			continue
		}
		must(t, err)
		drawn, _, err := image.Decode(bytes.NewReader(content))
		must(t, err)
		if size := drawn.Bounds().Size(); size.X > 64 || size.Y > 64 {
			t.Errorf("%s is %v", entry.Name, size)
		}
		_, again, err := thumbnail(t, user, in(entry.Path, "size", "64", "etag", entry.ETag))
		if must(t, err); !bytes.Equal(content, again) {
			t.Errorf("%s by its path is another image", entry.Name)
		}
		if got := response.Header.Get("Content-Security-Policy"); got != "default-src 'none'; sandbox" {
			t.Errorf("Mattermost lets through the policy %q", got)
		}
		shown[entry.Name] = true
	}
	for _, name := range []string{sample.PNGFile, "photo.jpg"} {
		if !shown[name] {
			t.Errorf("%s has no thumbnail", name)
		}
	}
	if shown[sample.SVGFile] || shown["letter.pdf"] || shown[sample.EmptyFile] {
		t.Errorf("thumbnails of %v", shown)
	}
}

// TestAThumbnailInABrowser asks as an <img> does: with the session's cookie, and with nothing that a script could add.
func TestAThumbnailInABrowser(t *testing.T) {
	if !list(t, in("/")).Capabilities.Thumbnails {
		return
	}
	query := in(sample.KindsFolder + "/" + sample.PNGFile)
	browser := *site.Plugin(site.User).Client
	cookie := "MMAUTHTOKEN=" + browser.Token
	browser.Token = ""
	response, content, err := thumbnail(t, &browser, query, "Cookie", cookie)
	if must(t, err); len(content) == 0 {
		t.Error("there is no image")
	}
	tag := response.Header.Get("ETag")
	_, _, err = thumbnail(t, &browser, query)
	wantProblem(t, err, "not_authenticated", 401)

	for _, method := range []string{http.MethodGet, "PROPFIND"} { // OpenCloud answers 403 for an image that is too large, too: it is asked for the file
		defer site.Host.Fault(hosts.Fault{User: "alice", Path: sample.KindsFolder + "/" + sample.PNGFile, Method: method, Status: http.StatusForbidden})()
	}
	_, _, err = thumbnail(t, &browser, query, "Cookie", cookie, "If-None-Match", tag)
	wantProblem(t, err, "forbidden", 403)
}
