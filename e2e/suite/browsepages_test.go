package suite

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

// addFolder puts a folder of alice's with empty files on the host for one test, and gives its path and where it lies on
// disk.
func addFolder(t *testing.T, files ...string) (path, dir string) {
	t.Helper()
	path = "/temporary " + rand.Text()
	dir = filepath.Join(site.Host.Dir("alice"), path)
	must(t, os.Mkdir(dir, 0o700))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, name := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	return path, dir
}

// walk lists a folder to its end and calls between with the last entry before each further page.
func walk(t *testing.T, client api.Client, query url.Values, between func(last string)) []string {
	t.Helper()
	var shown []string
	for {
		page, err := client.List(t.Context(), query)
		must(t, err)
		if page.Folder == nil || page.Folder.Kind != "folder" {
			t.Fatalf("the folder is %+v", page.Folder)
		}
		shown = append(shown, names(page.Entries)...)
		if page.NextCursor == "" {
			return shown
		}
		between(shown[len(shown)-1])
		query.Set("cursor", page.NextCursor)
	}
}

// TestPagesOfAFolderThatChanges removes and adds entries between the pages.
func TestPagesOfAFolderThatChanges(t *testing.T) {
	for _, order := range []string{"asc", "desc"} {
		t.Run(order, func(t *testing.T) {
			var files, want []string
			for i := range 40 {
				files = append(files, fmt.Sprintf("f%02d.txt", i))
			}
			folder, dir := addFolder(t, files...)
			gone, round := map[string]bool{}, 0
			shown := walk(t, site.Plugin(site.User), in(folder, "limit", "6", "order", order), func(last string) {
				// The entry that the cursor stands on goes, and others come on both sides of it.
				must(t, os.Remove(filepath.Join(dir, last)))
				gone[last] = true
				must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("a%d.txt", round)), nil, 0o600))
				must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("z%d.txt", round)), nil, 0o600))
				round++
			})
			if round < 3 {
				t.Fatalf("only %d pages", round)
			}
			for _, name := range files {
				if !gone[name] {
					want = append(want, name)
				}
			}
			var untouched []string
			for _, name := range shown {
				if name[0] == 'f' && !gone[name] {
					untouched = append(untouched, name)
				}
			}
			slices.Sort(untouched)
			if !slices.Equal(untouched, want) {
				t.Errorf("of those that stayed %q were shown, want %q", untouched, want)
			}
			slices.Sort(shown)
			if all := len(shown); len(slices.Compact(shown)) != all {
				t.Errorf("some entry was shown twice")
			}
		})
	}
}

// TestHostOrder walks the folder of 10,000 entries in the host's own order, by the host's pages if it has any.
func TestHostOrder(t *testing.T) {
	query := in(sample.ManyFolder, "limit", "1000", "sort", "host")
	page := list(t, query)
	if page.Total == nil || *page.Total != sample.ManyCount {
		t.Errorf("total is %v", page.Total)
	}
	shown := walk(t, site.Plugin(site.User), query, func(string) {})
	if len(shown) != sample.ManyCount {
		t.Errorf("%d entries", len(shown))
	}
	slices.Sort(shown)
	if len(slices.Compact(shown)) != sample.ManyCount {
		t.Error("some entry was shown twice")
	}
}

// TestHostOrderByKindOfHost shows what differs between hosts that page and others: the direction, and what a change shows.
func TestHostOrderByKindOfHost(t *testing.T) {
	folder, dir := addFolder(t, "1", "2", "3", "4", "5")
	_, err := site.Plugin(site.User).List(t.Context(), in(folder, "sort", "host", "order", "desc"))
	shown := walk(t, site.Plugin(site.User), in(folder, "sort", "host", "limit", "2"), func(string) {
		must(t, os.WriteFile(filepath.Join(dir, "9"), nil, 0o600))
	})
	slices.Sort(shown)
	if !site.Host.Traits().Pages {
		must(t, err)
		if want := []string{"1", "2", "3", "4", "5", "9"}; !slices.Equal(shown, want) {
			t.Errorf("listed %q, want %q", shown, want)
		}
		return
	}
	if problem := wantProblem(t, err, "invalid_request", http.StatusBadRequest); problem.Details["field"] != "order" {
		t.Errorf("details are %v", problem.Details)
	}
	if want := []string{"1", "2", "3", "4", "5"}; !slices.Equal(shown, want) {
		t.Errorf("listed %q, want %q as it was at the first page", shown, want)
	}
	page := list(t, in(folder, "sort", "host", "type", "file", "limit", "2"))
	if page.Total != nil || len(page.Entries) != 2 {
		t.Errorf("with a type: %+v", page)
	}
}

// TestCursorEndsWithItsConnection shows that who connects anew begins anew.
func TestCursorEndsWithItsConnection(t *testing.T) {
	account := newConnected(t, "alice")
	client := site.Plugin(account)
	for _, sort := range []string{"name", "host"} {
		query := in(sample.KindsFolder, "limit", "2", "sort", sort)
		page, err := client.List(t.Context(), query)
		must(t, err)
		query.Set("cursor", page.NextCursor)
		_, err = client.List(t.Context(), query)
		must(t, err)
		must(t, site.Connect(t.Context(), account, "alice"))
		_, err = client.List(t.Context(), query)
		if problem := wantProblem(t, err, "invalid_request", http.StatusBadRequest); problem.Details["field"] != "cursor" {
			t.Errorf("details are %v", problem.Details)
		}
	}
}

// conditional asks for a page under the conditions of the header, and gives the answer's status and header.
func conditional(t *testing.T, client api.Client, method string, query url.Values, header ...string) (int, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, client.URL+"/files?"+query.Encode(), nil)
	must(t, err)
	for pair := range slices.Chunk(header, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	request.Header.Set("Authorization", "Bearer "+client.Token)
	response, err := client.HTTP.Do(request)
	must(t, err)
	must(t, response.Body.Close())
	return response.StatusCode, response.Header
}

// TestConditionalList shows that a page which the caller has comes as 304, through the server, and that it is his alone.
func TestConditionalList(t *testing.T) {
	folder, dir := addFolder(t, "a", "b", "c")
	query, client, other := in(folder, "limit", "2"), site.Plugin(site.User), site.Plugin(newConnected(t, "alice"))
	status, header := conditional(t, client, http.MethodGet, query)
	tag := header.Get("ETag")
	if status != http.StatusOK || tag == "" {
		t.Fatalf("%d with ETag %q", status, tag)
	}
	want := func(what string, want int, client api.Client, method string, header ...string) {
		t.Helper()
		status, got := conditional(t, client, method, query, header...)
		if status != want {
			t.Errorf("%s: %d, want %d", what, status, want)
		}
		if status == http.StatusNotModified && (got.Get("ETag") != tag || got.Get("Cache-Control") != "private, no-cache" || got.Get("Vary") == "" || got.Get("Content-Type") != "") {
			t.Errorf("%s: headers %v", what, got)
		}
	}
	want("again", http.StatusNotModified, client, http.MethodGet, "If-None-Match", tag)
	want("in a list", http.StatusNotModified, client, http.MethodGet, "If-None-Match", `"x", `+tag)
	want("any", http.StatusNotModified, client, http.MethodGet, "If-None-Match", "*")
	want("HEAD", http.StatusNotModified, client, http.MethodHead, "If-None-Match", tag)
	want("another tag", http.StatusOK, client, http.MethodGet, "If-None-Match", `"x"`)
	want("another language", http.StatusOK, client, http.MethodGet, "If-None-Match", tag, "Accept-Language", "de")
	want("another user of the same account", http.StatusOK, other, http.MethodGet, "If-None-Match", tag)
	must(t, os.WriteFile(filepath.Join(dir, "b"), []byte("changed"), 0o600))
	want("a file has changed", http.StatusOK, client, http.MethodGet, "If-None-Match", tag)
	must(t, os.RemoveAll(dir))
	want("the folder is gone", http.StatusNotFound, client, http.MethodGet, "If-None-Match", "*")
}
