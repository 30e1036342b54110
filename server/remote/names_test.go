package remote

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/webdav"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

var hostileNames = []string{
	"plain.txt",
	" spaces  inside and around ",
	"#1", "100%", "a+b", "a&b", "what?.txt", "a%2Fb", "%2e%2e", "%", "%zz", "%00",
	`"double" and 'single'`, "<b>&amp;", "]]>", "a;b,c=d", "a:b", "a@b", "[x](javascript:alert(1))", "~", "$HOME", "`id`",
	"🗂️ emoji 👩‍👩‍👧", "A\u0308 decomposed", "Ä composed", "русский", "日本語", "\u202eright to left", "\u200bzero width",
	"trailing dots...", "...", ".hidden", "tab\tand\nline break", `back\slash`, "\x01control", "not UTF-8 \xff\xfe",
	strings.Repeat("n", 255), strings.Repeat("ü", 127),
}

// davServer is a real WebDAV server over a temporary folder.
func davServer(t *testing.T) (folder string, client *Client) {
	folder = t.TempDir()
	handler := &webdav.Handler{Prefix: "/my dav", FileSystem: webdav.Dir(folder), LockSystem: webdav.NewMemLS()}
	return folder, serve(t, "webdav", "/my%20dav/", func(w http.ResponseWriter, r *http.Request) {
		if _, password, ok := r.BasicAuth(); !ok || password != alice.Secret.Reveal() {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

func TestEveryNameSurvives(t *testing.T) {
	top, client := davServer(t)
	for _, name := range hostileNames {
		require.NoError(t, os.WriteFile(filepath.Join(top, name), []byte("file "+name), 0o600), "%q", name)
		require.NoError(t, os.MkdirAll(filepath.Join(top, "folders", name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(top, "folders", name, name), []byte("inner "+name), 0o600))
	}

	_, entries, err := list(t.Context(), client, filehost.Root)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		if entry.Kind == filehost.File {
			names = append(names, entry.Path.Name())
			assert.Equal(t, "file "+entry.Path.Name(), contentOf(t, client, entry))
		}
	}
	assert.ElementsMatch(t, hostileNames, names)

	_, folders, err := list(t.Context(), client, path(t, "/folders"))
	require.NoError(t, err)
	assert.Len(t, folders, len(hostileNames))
	for _, folder := range folders {
		name := folder.Path.Name()
		assert.Equal(t, filehost.Folder, folder.Kind)
		_, inner, err := list(t.Context(), client, folder.Path)
		require.NoError(t, err, "%q", name)
		require.Len(t, inner, 1)
		entry, err := client.Stat(t.Context(), alice, inner[0].Path)
		require.NoError(t, err, "%q", name)
		assert.Equal(t, inner[0], entry)
		assert.Equal(t, "inner "+name, contentOf(t, client, entry))
	}
}

func contentOf(t *testing.T, client *Client, entry filehost.Entry) string {
	t.Helper()
	content, err := client.Open(t.Context(), alice, entry)
	require.NoError(t, err, "%q", entry.Path.Name())
	defer content.Close()
	raw, err := io.ReadAll(content)
	require.NoError(t, err)
	assert.Equal(t, content.Size, int64(len(raw)))
	assert.Equal(t, entry.ETag, content.ETag)
	assert.Equal(t, entry.ModifiedAt, content.ModifiedAt)
	return string(raw)
}

func TestAgainstARealServer(t *testing.T) {
	top, client := davServer(t)
	require.NoError(t, os.Mkdir(filepath.Join(top, "empty"), 0o700))
	file := filepath.Join(top, "a.txt")
	require.NoError(t, os.WriteFile(file, []byte("one"), 0o600))

	folder, entries, err := list(t.Context(), client, path(t, "/empty"))
	require.NoError(t, err)
	assert.Equal(t, filehost.Folder, folder.Kind)
	assert.Empty(t, entries)

	_, _, err = list(t.Context(), client, path(t, "/a.txt"))
	assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err))

	_, _, err = list(t.Context(), client, path(t, "/none"))
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))

	_, err = client.Stat(t.Context(), alice, path(t, "/none"))
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err))

	_, err = client.Open(t.Context(), alice, folder)
	assert.Equal(t, filehost.InvalidRequest, filehost.KindOf(err))

	_, err = client.Stat(t.Context(), filehost.Credential{Secret: filehost.NewSecret("wrong")}, filehost.Root)
	assert.Equal(t, filehost.CredentialRejected, filehost.KindOf(err))

	require.NoError(t, client.Check(t.Context()))

	entry, err := client.Stat(t.Context(), alice, path(t, "/a.txt"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("other"), 0o600))
	_, err = client.Open(t.Context(), alice, entry)
	assert.Equal(t, filehost.Changed, filehost.KindOf(err))

	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Mkdir(file, 0o700))
	_, err = client.Open(t.Context(), alice, entry)
	assert.Equal(t, filehost.Changed, filehost.KindOf(err), "it is a folder now")
}
