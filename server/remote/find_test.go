package remote

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	personalID = "07302767-15ee-4f0c-9237-19615a2d2d30$b1f74ec4-dd7e-11ef-a543-03775734d0f7"
	docsID     = personalID + "!2168b0f4-9a0a-4d30-adbd-7e4a42b76792"
	helloID    = personalID + "!76dbcc0c-36f4-429f-be9d-c2192874f90c"
	emptyDAV   = `<d:multistatus xmlns:d="DAV:"/>`
)

// asked is a request as a host sees it.
type asked struct{ method, path, depth, body string }

// script is a host that answers by what it is asked: by method and path.
type script struct {
	t       *testing.T
	answers map[string]http.HandlerFunc

	mu   sync.Mutex
	seen []asked
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, scripted := s.answers[drivesRequest]; !scripted && r.Method+" "+r.URL.EscapedPath() == drivesRequest {
		onePersonalSpace(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.seen = append(s.seen, asked{r.Method, r.URL.EscapedPath(), r.Header.Get("Depth"), string(body)})
	s.mu.Unlock()
	if serve, ok := s.answers[r.Method+" "+r.URL.EscapedPath()]; ok {
		serve(w, r)
		return
	}
	s.t.Errorf("asked for %s %s", r.Method, r.URL.EscapedPath())
	w.WriteHeader(http.StatusTeapot)
}

func scripted(t *testing.T, kind string, answers map[string]http.HandlerFunc) (*script, *Client) {
	t.Helper()
	host := &script{t: t, answers: answers}
	return host, serve(t, kind, "", host.ServeHTTP)
}

func find(ctx context.Context, client *Client, query filehost.Query) (found []filehost.Entry, truncated bool, err error) {
	truncated, err = client.Find(ctx, alice, query, func(entry filehost.Entry) error {
		found = append(found, entry)
		return nil
	})
	return found, truncated, err
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// row is an entry of an answer.
func row(href, id, kind string) string {
	return `<d:response><d:href>` + href + `</d:href><d:propstat><d:prop><d:resourcetype>` + kind + `</d:resourcetype><oc:fileid>` + id +
		`</oc:fileid><d:getetag>"1"</d:getetag><d:getcontentlength>1</d:getcontentlength></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`
}

func rowsOf(rows ...string) string {
	return `<d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns">` + strings.Join(rows, "") + `</d:multistatus>`
}

func pathsOf(entries []filehost.Entry) []string {
	all := []string{}
	for _, entry := range entries {
		all = append(all, entry.Path.String())
	}
	return all
}

// textsOf are the texts of all elements of a name in a request's body, which must be XML.
func textsOf(t *testing.T, body, local string) []string {
	t.Helper()
	var texts []string
	for decoder := xml.NewDecoder(strings.NewReader(body)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == local {
			var element struct {
				Text string `xml:",chardata"`
			}
			require.NoError(t, decoder.DecodeElement(&element, &start))
			texts = append(texts, element.Text)
		}
	}
}

func TestNextcloudSearchesAsRecorded(t *testing.T) {
	// What was recorded had not been asked for the kind of the entry.
	recorded := strings.ReplaceAll(recording(t, "nextcloud-search"), "<d:getcontentlength>", "<d:resourcetype/><d:getcontentlength>")
	host, client := scripted(t, "nextcloud", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": answer(recorded)})
	found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: `50%_a\<b>`, Folder: path(t, "/Docs"), Most: 10})
	require.NoError(t, err)
	assert.False(t, truncated)
	assert.NotEmpty(t, found)
	for _, entry := range found {
		assert.NotEmpty(t, entry.HostID)
		assert.True(t, entry.Path.IsBelow(path(t, "/Docs")))
	}
	body := host.seen[0].body
	assert.Equal(t, []string{`%50\%\_a\\<b>%`}, textsOf(t, body, "literal"))
	assert.Equal(t, []string{"/files/alice/Docs"}, textsOf(t, body, "href"))
	assert.Equal(t, []string{"12"}, textsOf(t, body, "nresults"), "one more, and the folder itself")

	_, client = scripted(t, "nextcloud", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": answer(recording(t, "nextcloud-search-none"))})
	found, _, err = find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "x", Most: 10})
	require.NoError(t, err)
	assert.Empty(t, found)
}

func TestRecentFilesAreAskedForNewestFirst(t *testing.T) {
	host, client := scripted(t, "nextcloud", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": answer(emptyDAV)})
	for name, test := range map[string]struct {
		types []string
		want  []string
	}{
		"all":        {nil, []string{"httpd/unix-directory"}},
		"images":     {[]string{"IMAGE/png"}, []string{"httpd/unix-directory", "image/%"}},
		"files":      {[]string{"file", "folder"}, []string{"httpd/unix-directory", "httpd/unix-directory", "httpd/unix-directory"}},
		"a wildcard": {[]string{"a%/b"}, []string{"httpd/unix-directory"}},
		"too many":   {slices.Repeat([]string{"image/"}, maxTypes+1), []string{"httpd/unix-directory"}},
	} {
		host.seen = nil
		_, _, err := find(t.Context(), client, filehost.Query{View: filehost.Recent, Types: test.types, Most: 10})
		require.NoError(t, err, name)
		assert.Equal(t, test.want, textsOf(t, host.seen[0].body, "literal"), name)
		assert.Len(t, textsOf(t, host.seen[0].body, "descending"), 1, name)
	}
}

func TestFavoritesAreAskedForByReport(t *testing.T) {
	for _, kind := range []string{"nextcloud", "owncloud"} {
		host, client := scripted(t, kind, map[string]http.HandlerFunc{
			"REPORT /remote.php/dav/files/alice/Docs/": answer(rowsOf(row("/remote.php/dav/files/alice/Docs/a.txt", "7", ""))),
		})
		found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.Favorites, Folder: path(t, "/Docs"), Most: 10})
		require.NoError(t, err, kind)
		assert.Equal(t, []string{"/Docs/a.txt"}, pathsOf(found), kind)
		assert.False(t, truncated, kind)
		assert.Equal(t, []string{"", "1"}, textsOf(t, host.seen[0].body, "favorite"), "as a property, and as the rule")
	}
}

func TestOwnCloudSearchesAsRecorded(t *testing.T) {
	folder := answer(rowsOf(row("/remote.php/dav/files/alice/Docs/", "6", "<d:collection/>")))
	_, client := scripted(t, "owncloud", map[string]http.HandlerFunc{
		"PROPFIND /remote.php/dav/files/alice/Docs": folder,
		"REPORT /remote.php/dav/files/alice/":       answer(recording(t, "owncloud10-search")),
	})
	_, _, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "hello", Folder: path(t, "/Docs"), Most: 10})
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "the recorded answer says nothing of what was found but its id")

	rows := rowsOf(
		row("/remote.php/dav/files/alice/Docs/5_0.txt", "7", ""), row("/remote.php/dav/files/alice/Docs/5x0.txt", "8", ""),
		row("/remote.php/dav/files/alice/Other/5_0.txt", "9", ""))
	host, client := scripted(t, "owncloud", map[string]http.HandlerFunc{
		"PROPFIND /remote.php/dav/files/alice/Docs": folder, "REPORT /remote.php/dav/files/alice/": answer(rows),
	})
	found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "5_0", Folder: path(t, "/Docs"), Most: 3})
	require.NoError(t, err)
	assert.Equal(t, []string{"/Docs/5_0.txt"}, pathsOf(found), "only below the folder, and _ stands for itself")
	assert.False(t, truncated)
	assert.Equal(t, []string{"5_0"}, textsOf(t, host.seen[1].body, "pattern"))
	assert.Equal(t, []string{"4"}, textsOf(t, host.seen[1].body, "limit"))

	_, truncated, err = find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "5_0", Folder: path(t, "/Docs"), Most: 2})
	require.NoError(t, err)
	assert.True(t, truncated, "what was left out might have been more of it")
}

func TestOpenCloudSearchesItsSpaceInKQL(t *testing.T) {
	rootID := personalID + "!b1f74ec4-dd7e-11ef-a543-03775734d0f7"
	answers := map[string]http.HandlerFunc{
		"PROPFIND /dav/spaces/" + personalID + "/":     answer(rowsOf(row("/dav/spaces/"+personalID+"/", rootID, "<d:collection/>"))),
		"PROPFIND /dav/spaces/" + personalID + "/Docs": answer(rowsOf(row("/dav/spaces/"+personalID+"/Docs/", docsID, "<d:collection/>"))),
		"REPORT /dav/spaces/" + personalID: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "rows 0-0/1")
			answer(recording(t, "opencloud-search"))(w, r)
		},
	}
	for name, test := range map[string]struct {
		folder, text, pattern string
		found                 int
	}{
		"in a whole space":         {"/", "hello", `name:"*hello*"`, 1},
		"below a folder":           {"/Docs", "HELLO", `name:"*HELLO*" scope:` + docsID, 1},
		"a quotation mark":         {"/", `he"llo`, `name:"*he?llo*"`, 0},
		"a scope of somebody's":    {"/Docs", "scope:x", `name:"*scope?x*" scope:` + docsID, 0},
		"operators":                {"/", "a OR b -c", `name:"*a OR b -c*"`, 0},
		"what stands for anything": {"/", "h*o?", `name:"*h*o?*"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			host, client := scripted(t, "opencloud", answers)
			found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: test.text, Folder: path(t, test.folder).In(personal), Most: 10})
			require.NoError(t, err)
			assert.Equal(t, []string{test.pattern}, textsOf(t, host.seen[1].body, "pattern"))
			assert.Len(t, found, test.found)
			assert.False(t, truncated)
			for _, entry := range found {
				assert.Equal(t, filehost.Entry{
					Path: path(t, "/Alan Turing/Docs/hello.txt"), HostID: helloID, Kind: filehost.File, Size: 21, MIMEType: "text/plain", ModifiedAt: at("17:47:43"),
					Permissions: []filehost.Permission{filehost.Read, filehost.Write, filehost.Delete, filehost.Rename, filehost.Share}, Thumbnail: true, Tracked: true,
				}, entry, "the index has no ETag and doesn't say whether it is shared")
			}
		})
	}
}

func TestOpenCloudTellsHowManyItFound(t *testing.T) {
	rootID := personalID + "!b1f74ec4-dd7e-11ef-a543-03775734d0f7"
	hits := rowsOf(row("/dav/spaces/"+personalID+"/a.txt", docsID, ""), row("/remote.php/dav/spaces/"+personalID+"/b/a.txt", helloID, ""))
	for contentRange, want := range map[string]bool{"rows 0-1/2": false, "rows 0-1/3": true, "": false, "nonsense": false} {
		_, client := scripted(t, "opencloud", map[string]http.HandlerFunc{
			"PROPFIND /dav/spaces/" + personalID + "/": answer(rowsOf(row("/dav/spaces/"+personalID+"/", rootID, "<d:collection/>"))),
			"REPORT /dav/spaces/" + personalID: func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Range", contentRange)
				answer(hits)(w, r)
			},
		})
		found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "a", Folder: personal, Most: 10})
		require.NoError(t, err)
		assert.Equal(t, []string{"/Alan Turing/a.txt", "/Alan Turing/b/a.txt"}, pathsOf(found), "by either name of the space")
		assert.Equal(t, want, truncated, contentRange)
	}
	for name, id := range map[string]string{"no id": "", "two words": "a b!c", "a slash": "a/b!c"} {
		_, client := scripted(t, "opencloud", map[string]http.HandlerFunc{
			"PROPFIND /dav/spaces/" + personalID + "/Docs": answer(rowsOf(row("/dav/spaces/"+personalID+"/Docs/", id, "<d:collection/>"))),
		})
		_, _, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "a", Folder: path(t, "/Alan Turing/Docs"), Most: 10})
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), name)
	}
}

func TestASearchIsCutWhereItIsFull(t *testing.T) {
	var rows []string
	for i := range 5 {
		rows = append(rows, row(fmt.Sprintf("/remote.php/dav/files/alice/f%d", i), "7", ""))
	}
	_, client := scripted(t, "nextcloud", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": answer(rowsOf(rows...))})
	for most, want := range map[int]bool{4: true, 5: false, 6: false} {
		found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "f", Most: most})
		require.NoError(t, err)
		assert.Len(t, found, min(most, 5))
		assert.Equal(t, want, truncated)
	}
}

func TestASearchBelowWhatIsNoFolder(t *testing.T) {
	file, gone := answer(rowsOf(row("/remote.php/dav/files/alice/x", "7", ""))), status(http.StatusNotFound)
	for name, test := range map[string]struct {
		kind    string
		answers map[string]http.HandlerFunc
		want    filehost.Kind
	}{
		"Nextcloud, a file":  {"nextcloud", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": status(500), "PROPFIND /remote.php/dav/files/alice/x": file}, filehost.InvalidRequest},
		"Nextcloud, gone":    {"nextcloud", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": status(404), "PROPFIND /remote.php/dav/files/alice/x": gone}, filehost.NotFound},
		"Nextcloud, trouble": {"nextcloud", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": status(500), "PROPFIND /remote.php/dav/files/alice/x": status(500)}, filehost.HostUnavailable},
		"Nextcloud, sign-in": {"nextcloud", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": status(401)}, filehost.CredentialRejected},
		"ownCloud, a file":   {"owncloud", map[string]http.HandlerFunc{"PROPFIND /remote.php/dav/files/alice/x": file}, filehost.InvalidRequest},
		"ownCloud, gone":     {"owncloud", map[string]http.HandlerFunc{"PROPFIND /remote.php/dav/files/alice/x": gone}, filehost.NotFound},
		"OpenCloud, a file":  {"opencloud", map[string]http.HandlerFunc{"PROPFIND /dav/spaces/" + personalID + "/x": answer(rowsOf(row("/dav/spaces/"+personalID+"/x", helloID, "")))}, filehost.InvalidRequest},
		"OpenCloud, gone":    {"opencloud", map[string]http.HandlerFunc{"PROPFIND /dav/spaces/" + personalID + "/x": gone}, filehost.NotFound},
		"plain WebDAV":       {"webdav", nil, filehost.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := scripted(t, test.kind, test.answers)
			_, _, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "f", Folder: path(t, "/x").In(topOf(test.kind)), Most: 10})
			assert.Equal(t, test.want, filehost.KindOf(err))
		})
	}
	_, client := scripted(t, "nextcloud", nil)
	folder, _ := filehost.Root.Join("\x01")
	_, _, err := find(t.Context(), client, filehost.Query{View: filehost.FolderView, Text: "f", Folder: folder, Most: 10})
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "XML can't name it")
}

func TestEachHostOffersWhatItCan(t *testing.T) {
	for kind, want := range map[string]filehost.Capabilities{
		"nextcloud": {Links: allLinks, Search: true, Recent: true, Favorites: true, Shared: true, Thumbnails: true, StableIDs: true, ChangeDetection: true, Save: true},
		"owncloud":  {Links: allLinks, Search: true, Favorites: true, Shared: true, Thumbnails: true, StableIDs: true, ChangeDetection: true, Save: true},
		"opencloud": {Links: allLinks, Search: true, Shared: true, Thumbnails: true, StableIDs: true, ChangeDetection: true, Spaces: true, Save: true},
		"webdav":    {ChangeDetection: true, Save: true},
	} {
		_, client := scripted(t, kind, map[string]http.HandlerFunc{"GET /ocs/v2.php/cloud/capabilities": status(http.StatusNotFound)})
		assert.Equal(t, want, client.Capabilities(t.Context(), filehost.Credential{}), kind)
		for view, offered := range map[filehost.View]bool{filehost.Recent: want.Recent, filehost.Favorites: want.Favorites, filehost.SharedView: want.Shared} {
			if !offered {
				_, _, err := find(t.Context(), client, filehost.Query{View: view, Most: 10})
				assert.Equal(t, filehost.Unsupported, filehost.KindOf(err), "%s %s", kind, view)
			}
		}
	}
}

func FuzzSearchBodies(f *testing.F) {
	f.Add(`a%_\"<>&:`, "Docs & more")
	f.Add("\u2028 ]]>", "x\x01")
	client := clientOf(f, "http://127.0.0.1", Config{Host: filehost.Host{Kind: "nextcloud"}})
	f.Fuzz(func(t *testing.T, text, name string) {
		folder, ok := filehost.Root.Join(name)
		if !ok || !isXMLText(text) {
			return
		}
		ask, err := client.search(t.Context(), &alice, folder, basicSearch{properties: client.profile.properties, where: contains(text), most: 1})
		if err != nil {
			return
		}
		plain := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace // as XML has them, unless they are escaped
		literal := textsOf(t, string(ask.body), "literal")[0]
		unescaped := strings.NewReplacer(`\\`, `\`, `\%`, `%`, `\_`, `_`).Replace(literal)
		if plain(unescaped) != plain("%"+text+"%") || plain(textsOf(t, string(ask.body), "href")[0]) != plain("/files/alice/"+name) {
			t.Fatalf("%q below %q became %s", text, name, ask.body)
		}
	})
}
