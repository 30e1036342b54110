package remote

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// metaRow is what ownCloud tells of the path of an id.
func metaRow(id, path string) string {
	return rowsOf(`<d:response><d:href>/remote.php/dav/meta/` + id + `/</d:href><d:propstat><d:prop><oc:meta-path-for-user>` + path +
		`</oc:meta-path-for-user></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`)
}

func TestNextcloudFindsAnIDBySearching(t *testing.T) {
	host, client := scripted(t, "nextcloud", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": answer(rowsOf(
		row("/remote.php/dav/files/alice/z.txt", "7", ""), row("/remote.php/dav/files/alice/Docs/a.txt", "7", "")))})
	entry, err := client.StatID(t.Context(), alice, "7")
	require.NoError(t, err)
	assert.Equal(t, []string{"/Docs/a.txt", "7"}, []string{entry.Path.String(), entry.HostID}, "the first of the places where it is")
	assert.Equal(t, []string{"7"}, textsOf(t, host.seen[0].body, "literal"))
	assert.Equal(t, []string{"/files/alice"}, textsOf(t, host.seen[0].body, "href"))
	assert.Len(t, host.seen, 1)
}

func TestOwnCloudTellsWhereAnIDIs(t *testing.T) {
	for kind, id := range map[string]string{"owncloud": "7", "opencloud": helloID} {
		escaped := path(t, "/"+id).Escaped()
		top := map[string]string{"owncloud": "/remote.php/dav/files/alice", "opencloud": "/dav/spaces/" + personalID}[kind]
		host, client := scripted(t, kind, map[string]http.HandlerFunc{
			"PROPFIND /remote.php/dav/meta" + escaped + "/": answer(metaRow(escaped[1:], "/Docs/a &amp; b.txt")),
			"PROPFIND " + top + "/Docs/a%20&%20b.txt":       answer(rowsOf(row(top+"/Docs/a%20&amp;%20b.txt", id, ""))),
		})
		entry, err := client.StatID(t.Context(), alice, id)
		require.NoError(t, err, kind)
		assert.Equal(t, []string{path(t, "/Docs/a & b.txt").In(topOf(kind)).String(), id}, []string{entry.Path.String(), entry.HostID}, kind)
		assert.Equal(t, "0", host.seen[0].depth)
	}
}

func TestAnIDThatFindsNothingIsNotFound(t *testing.T) {
	metaHello := "PROPFIND /remote.php/dav/meta" + path(t, "/"+helloID).Escaped() + "/"
	meta, file := "PROPFIND /remote.php/dav/meta/7/", "PROPFIND /remote.php/dav/files/alice/a"
	none := rowsOf(`<d:response><d:href>/remote.php/dav/meta/7/</d:href><d:propstat><d:prop><oc:meta-path-for-user/></d:prop>` +
		`<d:status>HTTP/1.1 404 Not Found</d:status></d:propstat></d:response>`)
	for name, test := range map[string]struct {
		kind, id string
		answers  map[string]http.HandlerFunc
		want     filehost.Kind
	}{
		"Nextcloud, none":             {"nextcloud", "7", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": answer(emptyDAV)}, filehost.NotFound},
		"Nextcloud, another":          {"nextcloud", "7", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": answer(rowsOf(row("/remote.php/dav/files/alice/a", "8", "")))}, filehost.NotFound},
		"Nextcloud, no number":        {"nextcloud", helloID, nil, filehost.NotFound},
		"Nextcloud, too large":        {"nextcloud", "9223372036854775808", nil, filehost.NotFound},
		"Nextcloud, trouble":          {"nextcloud", "7", map[string]http.HandlerFunc{"SEARCH /remote.php/dav/": status(500)}, filehost.HostUnavailable},
		"ownCloud, none":              {"owncloud", "7", map[string]http.HandlerFunc{meta: status(404)}, filehost.NotFound},
		"ownCloud, no path":           {"owncloud", "7", map[string]http.HandlerFunc{meta: answer(none)}, filehost.NotFound},
		"ownCloud, moved meanwhile":   {"owncloud", "7", map[string]http.HandlerFunc{meta: answer(metaRow("7", "/a")), file: status(404)}, filehost.NotFound},
		"ownCloud, another meanwhile": {"owncloud", "7", map[string]http.HandlerFunc{meta: answer(metaRow("7", "/a")), file: answer(rowsOf(row("/remote.php/dav/files/alice/a", "8", "")))}, filehost.NotFound},
		"ownCloud, the top folder":    {"owncloud", "7", map[string]http.HandlerFunc{meta: answer(metaRow("7", "/"))}, filehost.NotFound},
		"ownCloud, a way out":         {"owncloud", "7", map[string]http.HandlerFunc{meta: answer(metaRow("7", "/../a"))}, filehost.HostUnavailable},
		"OpenCloud, gone":             {"opencloud", helloID, map[string]http.HandlerFunc{metaHello: answer(metaRow(helloID, ""))}, filehost.NotFound},
		"ownCloud, no answer":         {"owncloud", "7", map[string]http.HandlerFunc{meta: answer(emptyDAV)}, filehost.NotFound},
		"OpenCloud, of no such form":  {"opencloud", helloID, map[string]http.HandlerFunc{metaHello: status(400)}, filehost.NotFound},
		"OpenCloud, of no space":      {"opencloud", "7", nil, filehost.NotFound},
		"OpenCloud, a way out":        {"opencloud", "..", nil, filehost.NotFound},
		"plain WebDAV":                {"webdav", "7", nil, filehost.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := scripted(t, test.kind, test.answers)
			_, err := client.StatID(t.Context(), alice, test.id)
			assert.Equal(t, test.want, filehost.KindOf(err), "%v", err)
		})
	}
}
