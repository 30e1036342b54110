package remote

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const sharesRequest = "GET /ocs/v2.php/apps/files_sharing/api/v1/shares"

func ocsList(shares ...string) http.HandlerFunc {
	return page(`{"ocs":{"meta":{"status":"ok","statuscode":200,"message":"OK"},"data":[` + strings.Join(shares, ",") + `]}}`)
}

func ocsAt(path string) string {
	return `{"id":"16","share_type":0,"uid_owner":"bob","path":"` + path + `","file_target":"/elsewhere"}`
}

func davAnswer(path, kind string) (string, http.HandlerFunc) {
	href := "/remote.php/dav/files/alice" + path
	return "PROPFIND " + href, answer(rowsOf(row(href, "7", kind)))
}

func TestWhatOthersShareByOCS(t *testing.T) {
	for name, test := range map[string]struct {
		shares    []string
		folder    string
		most      int
		want      []string
		truncated bool
	}{
		"each where the user has it": {[]string{ocsAt("/a.txt"), ocsAt("/In/b.txt")}, "/", 9, []string{"/a.txt", "/In/b.txt"}, false},
		"nothing":                    {nil, "/", 9, []string{}, false},
		"in several ways":            {[]string{ocsAt("/a.txt"), ocsAt("/a.txt")}, "/", 9, []string{"/a.txt"}, false},
		"below a folder":             {[]string{ocsAt("/a.txt"), ocsAt("/In/b.txt")}, "/In", 9, []string{"/In/b.txt"}, false},
		"more than are wanted":       {[]string{ocsAt("/a.txt"), ocsAt("/In/b.txt")}, "/", 1, []string{"/a.txt"}, true},
		"as many":                    {[]string{ocsAt("/a.txt"), ocsAt("/In/b.txt")}, "/", 2, []string{"/a.txt", "/In/b.txt"}, false},
		"not taken, or declined": {
			[]string{`{"path":"/a.txt","state":1}`, `{"path":"/a.txt","state":"2"}`, `{"path":null,"state":1}`, `{"path":"/In/b.txt","state":0}`},
			"/", 9, []string{"/In/b.txt"}, false,
		},
		"gone meanwhile": {[]string{ocsAt("/gone.txt"), ocsAt("/closed.txt"), ocsAt("/a.txt")}, "/", 9, []string{"/a.txt"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"nextcloud", "owncloud"} {
				answers := map[string]http.HandlerFunc{
					sharesRequest: func(w http.ResponseWriter, r *http.Request) {
						assert.Equal(t, "true", r.URL.Query().Get("shared_with_me"))
						assert.Equal(t, "true", r.Header.Get("OCS-APIRequest"))
						ocsList(test.shares...)(w, r)
					},
					"PROPFIND /remote.php/dav/files/alice/gone.txt":   status(404),
					"PROPFIND /remote.php/dav/files/alice/closed.txt": status(403),
				}
				for path, kind := range map[string]string{"/a.txt": "", "/In/b.txt": "", "/In": "<d:collection/>"} {
					request, serve := davAnswer(path, kind)
					answers[request] = serve
				}
				_, client := scripted(t, kind, answers)
				found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.SharedView, Folder: path(t, test.folder), Most: test.most})
				require.NoError(t, err)
				assert.Equal(t, test.want, pathsOf(found), kind)
				assert.Equal(t, test.truncated, truncated, kind)
			}
		})
	}
}

func TestWhatOthersShareCantBeTold(t *testing.T) {
	file, serveFile := davAnswer("/x", "")
	trouble := "PROPFIND /remote.php/dav/files/alice/a.txt"
	for name, test := range map[string]struct {
		folder  string
		answers map[string]http.HandlerFunc
		want    filehost.Kind
	}{
		"sharing is switched off": {"/", map[string]http.HandlerFunc{sharesRequest: status(404)}, filehost.Unsupported},
		"the sign-in":             {"/", map[string]http.HandlerFunc{sharesRequest: status(401)}, filehost.CredentialRejected},
		"too many requests":       {"/", map[string]http.HandlerFunc{sharesRequest: status(429)}, filehost.RateLimited},
		"trouble":                 {"/", map[string]http.HandlerFunc{sharesRequest: status(500)}, filehost.HostUnavailable},
		"a page":                  {"/", map[string]http.HandlerFunc{sharesRequest: page("<html>")}, filehost.HostUnavailable},
		"it breaks off":           {"/", map[string]http.HandlerFunc{sharesRequest: page(`{"ocs":{"meta":{"statuscode":200},"data":[` + ocsAt("/a"))}, filehost.HostUnavailable},
		"no list":                 {"/", map[string]http.HandlerFunc{sharesRequest: page(`{"ocs":{"meta":{"statuscode":200},"data":7}}`)}, filehost.HostUnavailable},
		"nowhere":                 {"/", map[string]http.HandlerFunc{sharesRequest: ocsList(`{"id":"1"}`)}, filehost.HostUnavailable},
		"a way out":               {"/", map[string]http.HandlerFunc{sharesRequest: ocsList(ocsAt("/../bob/a"))}, filehost.HostUnavailable},
		"the top folder":          {"/", map[string]http.HandlerFunc{sharesRequest: ocsList(ocsAt("/"))}, filehost.HostUnavailable},
		"no path":                 {"/", map[string]http.HandlerFunc{sharesRequest: ocsList(ocsAt("a"))}, filehost.HostUnavailable},
		"one fails":               {"/", map[string]http.HandlerFunc{sharesRequest: ocsList(ocsAt("/a.txt")), trouble: status(500)}, filehost.HostUnavailable},
		"below a file":            {"/x", map[string]http.HandlerFunc{file: serveFile}, filehost.InvalidRequest},
		"below what is gone":      {"/x", map[string]http.HandlerFunc{file: status(404)}, filehost.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := scripted(t, "nextcloud", test.answers)
			found, _, err := find(t.Context(), client, filehost.Query{View: filehost.SharedView, Folder: path(t, test.folder), Most: 9})
			assert.Equal(t, test.want.Code(), filehost.KindOf(err).Code(), "%v", err)
			assert.Empty(t, found)
		})
	}
}

func TestWhatOthersShareAtOpenCloud(t *testing.T) {
	rows := []string{row("/dav/spaces/"+jail+"/", jail+"!a0", "<d:collection/>")}
	for i := range 3 {
		rows = append(rows, row(fmt.Sprintf("/dav/spaces/%s/f%d.txt", jail, i), fmt.Sprintf("%s!s:m:%d", jail, i), ""))
	}
	answers := recordedSpaces()
	answers[propfindOf(jail, "/")] = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Depth") == "0" {
			answer(rowsOf(rows[0]))(w, r)
			return
		}
		answer(rowsOf(rows...))(w, r)
	}
	answers[propfindOf(jail, "/FromMary")] = answer(rowsOf(row("/dav/spaces/"+jail+"/FromMary/", jail+"!"+fromMary, "<d:collection/>")))
	_, client := scripted(t, "opencloud", answers)
	for name, test := range map[string]struct {
		folder    string
		most      int
		want      int
		truncated bool
	}{
		"all": {"/", 9, 3, false}, "as many as there are": {"/", 3, 3, false}, "fewer": {"/", 2, 2, true},
		"in their space": {"/Shares", 9, 3, false}, "in one of them": {"/Shares/FromMary", 9, 0, false}, "elsewhere": {"/Alan Turing", 9, 0, false},
	} {
		found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.SharedView, Folder: path(t, test.folder), Most: test.most})
		require.NoError(t, err, name)
		assert.Len(t, found, test.want, name)
		assert.Equal(t, test.truncated, truncated, name)
		for i, entry := range found {
			assert.Equal(t, fmt.Sprintf("/Shares/f%d.txt", i), entry.Path.String(), name)
		}
	}
	_, _, err := find(t.Context(), client, filehost.Query{View: filehost.SharedView, Folder: path(t, "/nowhere"), Most: 9})
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))

	answers[propfindOf(jail, "/")] = status(500)
	_, _, err = find(t.Context(), client, filehost.Query{View: filehost.SharedView, Most: 9})
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))

	_, client = scripted(t, "opencloud", nil)
	found, truncated, err := find(t.Context(), client, filehost.Query{View: filehost.SharedView, Most: 9})
	require.NoError(t, err)
	assert.Empty(t, found, "the host shows the user none")
	assert.False(t, truncated)
}
