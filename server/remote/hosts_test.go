package remote

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const awkward = "Ärger & #1 +%.txt"

var (
	all         = []filehost.Permission{filehost.Read, filehost.Write, filehost.Delete, filehost.Rename, filehost.Create}
	ownedFile   = []filehost.Permission{filehost.Read, filehost.Write, filehost.Delete, filehost.Rename, filehost.Share}
	ownedFolder = []filehost.Permission{filehost.Read, filehost.Delete, filehost.Rename, filehost.Create, filehost.Share}
)

func at(clock string) time.Time {
	parsed, err := time.Parse(time.DateTime, "2026-11-20 "+clock)
	if err != nil {
		panic(err)
	}
	return parsed
}

func TestListNextcloudAsRecorded(t *testing.T) {
	client := serve(t, "nextcloud", "", answer(recording(t, "nextcloud-folder")))
	docs := path(t, "/Docs")

	folder, entries, err := list(t.Context(), client, docs)

	require.NoError(t, err)
	web := client.host.Origin() + "/index.php/f/"
	assert.Equal(t, filehost.Entry{
		Path: docs, HostID: "6", Kind: filehost.Folder, Size: 109327, ModifiedAt: at("17:52:53"), ETag: `"6b0088f5e57b2"`,
		Permissions: ownedFolder, Favorite: &no, Shared: &no, Tracked: true, WebURL: web + "6",
	}, folder)
	file := func(name, etag, mime, id string, size int64) filehost.Entry {
		at, _ := docs.Join(name)
		return filehost.Entry{
			Path: at, HostID: id, Kind: filehost.File, Size: size, MIMEType: mime, ModifiedAt: folder.ModifiedAt, ETag: `"` + etag + `"`,
			Permissions: ownedFile, Favorite: &no, Shared: &no, Thumbnail: true, Tracked: true, WebURL: web + id,
		}
	}
	assert.Equal(t, []filehost.Entry{
		file("hello.txt", "ef0974089bf7e68fb0a9e547a459fb17", "text/plain", "7", 21),
		file("pic.png", "2af4ac4ec19eeec7f51f8e34723fbfa6", "image/png", "9", 109285),
		file(awkward, "25f91992add34dc36fdf928c3140b639", "text/plain", "8", 21),
	}, entries)
}

func TestListOpenCloudAsRecorded(t *testing.T) {
	client := serve(t, "opencloud", "", withDrives(onePersonalSpace, answer(recording(t, "opencloud-folder"))))

	folder, entries, err := list(t.Context(), client, personal)

	require.NoError(t, err)
	assert.Equal(t, `"6188abd6af47cb2c8b738a7972716f06"`, folder.ETag)
	assert.Equal(t, filehost.PersonalSpace, folder.Space)
	assert.Equal(t, personalID+"!b1f74ec4-dd7e-11ef-a543-03775734d0f7", folder.HostID)
	assert.Equal(t, []filehost.Permission{filehost.Read, filehost.Create, filehost.Share}, folder.Permissions, "a space is not deleted or renamed")
	require.Len(t, entries, 1)
	docs := path(t, "/Alan Turing/Docs")
	assert.Equal(t, filehost.Entry{
		Path: docs, HostID: personalID + "!2168b0f4-9a0a-4d30-adbd-7e4a42b76792", Kind: filehost.Folder, Size: 42, ModifiedAt: at("17:47:43"), ETag: `"3ceb48065eec96ab7da8111e793edf7a"`,
		Permissions: ownedFolder, Shared: &no, Tracked: true,
	}, entries[0], "the private link is of another origin than the base URL")
}

func TestListWebDAVAsRecorded(t *testing.T) {
	cases := map[string]struct {
		kind, base, recording string
		modified              string
		permissions           []filehost.Permission
		etags                 map[string]string
		mime                  string
	}{
		"ownCloud 10": {
			"owncloud", "", "owncloud10-folder", "18:05:54", []filehost.Permission{filehost.Read},
			map[string]string{"hello.txt": `"84c32b493ae1a875d9f1c5f558d2aeaa"`, awkward: `"4179270da7ff20ca78995576c737c595"`},
			"text/plain",
		},
		"Apache": {
			"webdav", "/dav", "apache-folder", "18:01:05", all,
			map[string]string{"hello.txt": `W/"15-660b9072417aa"`, awkward: `W/"15-660b90724756a"`}, "text/plain",
		},
		"nginx": {
			"webdav", "/dav", "nginx-folder", "18:01:20", all,
			map[string]string{"hello.txt": "", awkward: ""}, "text/plain",
		},
		"rclone": {
			"webdav", "", "rclone-folder", "18:02:32", all,
			map[string]string{"hello.txt": `"18e9d2d81cfb0d0115"`, awkward: `"18e9d2d80d0b289215"`}, "application/octet-stream",
		},
		"SFTPGo": {
			"webdav", "/", "sftpgo-folder", "18:09:49", all,
			map[string]string{"hello.txt": `"18e9d33e054ad65315"`, awkward: `"18e9d33e0419a95215"`}, "text/plain",
		},
		"hacdias": {
			"unknown", "", "hacdias-folder", "18:28:03", all,
			map[string]string{"hello.txt": `"18e9d43c9387960f15"`, awkward: `"18e9d43c9256690e15"`}, "text/plain",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := serve(t, c.kind, c.base, answer(recording(t, c.recording)))

			folder, entries, err := list(t.Context(), client, path(t, "/Docs"))

			require.NoError(t, err)
			assert.Equal(t, filehost.Folder, folder.Kind)
			assert.Empty(t, folder.MIMEType)
			etags := map[string]string{}
			for _, entry := range entries {
				etags[entry.Path.Name()] = entry.ETag
				assert.Equal(t, filehost.File, entry.Kind)
				assert.EqualValues(t, 21, entry.Size)
				assert.Equal(t, c.mime, entry.MIMEType)
				assert.Equal(t, c.permissions, entry.Permissions)
				if entry.Path.Name() == "hello.txt" {
					assert.Equal(t, at(c.modified), entry.ModifiedAt)
				}
			}
			assert.Equal(t, c.etags, etags)
		})
	}
}

func TestStatAsRecorded(t *testing.T) {
	client := serve(t, "webdav", "/dav", answer(recording(t, "apache-file")))
	entry, err := client.Stat(t.Context(), alice, path(t, "/Docs/hello.txt"))
	require.NoError(t, err)
	assert.Equal(t, filehost.Entry{
		Path: path(t, "/Docs/hello.txt"), Kind: filehost.File, Size: 21, MIMEType: "text/plain",
		ModifiedAt: at("18:01:05"), ETag: `W/"15-660b9072417aa"`, Permissions: all,
	}, entry)

	_, err = client.Stat(t.Context(), alice, path(t, "/Docs/other.txt"))
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "the host told of another entry")
}

func TestAnotherUsersHomeIsForbidden(t *testing.T) {
	client := serve(t, "nextcloud", "", answer(recording(t, "nextcloud-other-user")))
	credential := alice
	credential.Account = "bob"

	_, err := client.Stat(t.Context(), credential, filehost.Root)
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err))

	_, err = client.List(t.Context(), credential, filehost.Root, func(filehost.Entry) error { return nil })
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(err))
}

func TestWhatIsAsked(t *testing.T) {
	var got *http.Request
	var body string
	client := serve(t, "nextcloud", "/cloud", func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got, body = r, string(raw)
		answer(`<d:multistatus xmlns:d="DAV:"><d:response><d:href>/cloud/remote.php/dav/files/alice/a%20b/</d:href><d:propstat>`+
			`<d:prop><d:resourcetype><d:collection/></d:resourcetype><d:getetag>"1"</d:getetag></d:prop>`+
			`<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`)(w, r)
	})

	_, _, err := list(t.Context(), client, path(t, "/a b"))
	require.NoError(t, err)

	assert.Equal(t, "PROPFIND", got.Method)
	assert.Equal(t, "/cloud/remote.php/dav/files/alice/a%20b/", got.RequestURI)
	assert.Equal(t, "1", got.Header.Get("Depth"))
	assert.Equal(t, "return=minimal", got.Header.Get("Prefer"))
	assert.Equal(t, "gzip", got.Header.Get("Accept-Encoding"))
	assert.Contains(t, body, "<d:getetag/>")
	assert.Contains(t, body, "<oc:permissions/>")
	user, password, _ := got.BasicAuth()
	assert.Equal(t, []string{"alice@example.com", "canary"}, []string{user, password})

	_, err = client.Stat(t.Context(), filehost.Credential{Secret: filehost.NewSecret("t0k3n"), Account: "alice"}, path(t, "/a b"))
	require.NoError(t, err)
	assert.Equal(t, "/cloud/remote.php/dav/files/alice/a%20b", got.RequestURI)
	assert.Equal(t, "0", got.Header.Get("Depth"))
	assert.Equal(t, "Bearer t0k3n", got.Header.Get("Authorization"))
}

func TestAccountMustFitIntoAPath(t *testing.T) {
	client := serve(t, "nextcloud", "", func(http.ResponseWriter, *http.Request) { t.Error("the host was called") })
	for _, account := range []string{"", ".", "..", "a/b", "a\x00"} {
		credential := alice
		credential.Account = account
		_, err := client.Stat(t.Context(), credential, filehost.Root)
		assert.Equal(t, filehost.NotConnected, filehost.KindOf(err), account)
	}
}

func TestPermissions(t *testing.T) {
	list := func(names ...filehost.Permission) []filehost.Permission {
		return append([]filehost.Permission{}, names...)
	}
	cases := map[string]struct {
		kind, letters string
		want          []filehost.Permission
	}{
		"Nextcloud file":                 {"nextcloud", "RGDNVW", ownedFile},
		"Nextcloud folder":               {"nextcloud", "RGDNVCK", ownedFolder},
		"Nextcloud, read only":           {"nextcloud", "SG", list(filehost.Read)},
		"Nextcloud, upload only":         {"nextcloud", "SCK", list(filehost.Create)},
		"Nextcloud, nothing":             {"nextcloud", "", list()},
		"OpenCloud file":                 {"opencloud", "RDNVWZP", ownedFile},
		"OpenCloud, look but don't take": {"opencloud", "X", list()},
		"ownCloud, read only":            {"owncloud", "S", list(filehost.Read)},
		"plain WebDAV that says so":      {"webdav", "G", all},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			values := told(map[property]string{ocPermissions: c.letters})
			assert.Equal(t, c.want, newGrants(profileOf(c.kind)).granted(values, false))
		})
	}
	assert.Equal(t, list(filehost.Read), newGrants(profileOf("nextcloud")).granted(&properties{}, false))
}

func TestAShareToLookAtIsNotReadable(t *testing.T) {
	for attributes, readable := range map[string]bool{
		`[{"scope":"permissions","key":"download","value":false}]`: false, // Nextcloud 34
		`[{"scope":"permissions","key":"download","value":true}]`:  true,
		`[{"scope":"other","key":"download","value":false}]`:       true,
		`[]`: true, ``: true, `nonsense`: true,
	} {
		granted := newGrants(profileOf("nextcloud")).granted(told(map[property]string{ocPermissions: "SGDN", ncShareAttributes: attributes}), false)
		assert.Equal(t, readable, slices.Contains(granted, filehost.Read), attributes)
	}
}

func TestRedirectForAMissingSlashIsAnsweredByUs(t *testing.T) {
	var asked []string
	client := serve(t, "webdav", "/dav", func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.RequestURI)
		if !strings.HasSuffix(r.URL.Path, "/") {
			// As a hostile host would: the answer must not decide where the credential goes.
			w.Header().Set("Location", "https://evil.example.org/dav/Docs/")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		answer(recording(t, "nginx-folder")[:strings.Index(recording(t, "nginx-folder"), "</D:response>")]+
			"</D:response></D:multistatus>")(w, r)
	})

	entry, err := client.Stat(t.Context(), alice, path(t, "/Docs"))

	require.NoError(t, err)
	assert.Equal(t, filehost.Folder, entry.Kind)
	assert.Equal(t, []string{"/dav/Docs", "/dav/Docs/"}, asked)
}

func TestFileAskedForAsAFolder(t *testing.T) {
	for _, status := range []int{400, 404, 405, 409} {
		client := serve(t, "webdav", "/dav", func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/") {
				w.WriteHeader(status)
				return
			}
			answer(recording(t, "apache-file"))(w, r)
		})
		_, _, err := list(t.Context(), client, path(t, "/Docs/hello.txt"))
		assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err), status)
	}
}

func TestWebURL(t *testing.T) {
	const origin = "https://files.example.com"
	client := clientOf(t, origin, Config{Host: filehost.Host{Kind: "owncloud"}})
	cases := map[string]struct{ link, want string }{
		"of the host":        {origin + "/f/7", origin + "/f/7"},
		"of its port, named": {"HTTPS://Files.example.com:443/f/7", "HTTPS://Files.example.com:443/f/7"},
		"of another host":    {"https://evil.example.org/f/7", ""},
		"with a user":        {strings.Replace(origin, "//", "//a:b@", 1) + "/f/7", ""},
		"script":             {"javascript:alert(1)", ""},
		"none":               {"", ""},
		"nothing that reads": {"http://[", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, client.webURL(told(map[property]string{ocPrivateLink: c.link})))
		})
	}
}

func TestMIMEType(t *testing.T) {
	cases := map[string]struct{ declared, name, want string }{
		"declared":                      {"text/plain", "a.png", "text/plain"},
		"declared with parameters":      {"Text/HTML; charset=utf-8", "a", "text/html"},
		"not declared":                  {"", "Report.PDF", "application/pdf"},
		"not declared, no extension":    {"", "pdf", "application/octet-stream"},
		"declared, but not a type":      {"directory", "a.jpeg", "image/jpeg"},
		"not declared, not known":       {"", "a.unheard-of", "application/octet-stream"},
		"declared, but not readable":    {";;", "a.unheard-of", "application/octet-stream"},
		"extension of another alphabet": {"", "a.док", "application/octet-stream"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, mimeType(c.declared, c.name)) })
	}
}
