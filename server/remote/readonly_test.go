package remote

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// reader is a credential that may change nothing.
func reader() filehost.Credential {
	credential := alice
	credential.ReadOnly = true
	return credential
}

func TestWhatChangesSomethingNeverLeavesWithAReadOnlyCredential(t *testing.T) {
	var seen []string
	client := serve(t, "nextcloud", "", func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method)
		w.WriteHeader(http.StatusOK)
	})
	reads := []string{"GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT", "SEARCH"}
	changes := []string{
		"PUT", "POST", "PATCH", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "UNLOCK", "MKCALENDAR", "ACL", "BIND", "VERSION-CONTROL", "get", "",
	}
	for _, method := range slices.Concat(reads, changes) {
		for _, credential := range []filehost.Credential{alice, reader()} {
			seen = nil
			response, err := client.do(t.Context(), call{method: method, url: client.host.Origin() + "/x", credential: &credential, accept: []int{http.StatusOK}})
			if credential.ReadOnly && slices.Contains(changes, method) {
				require.Error(t, err, method)
				assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), method)
				assert.Empty(t, seen, method)
				continue
			}
			require.NoError(t, err, method)
			require.NoError(t, response.Body.Close())
			assert.Len(t, seen, 1, method)
		}
	}
	seen = nil
	assert.Equal(t, filehost.Forbidden, filehost.KindOf(client.Revoker()(t.Context(), reader())))
	assert.Empty(t, seen, "a shared credential doesn't end itself")
}

func TestEntriesOfAReadOnlyCredentialCanBeReadAtMost(t *testing.T) {
	for kind, recorded := range map[string]struct{ name, top string }{
		"nextcloud": {"nextcloud-folder", ""}, "webdav": {"apache-folder", "/dav/Docs"},
	} {
		client := serve(t, kind, recorded.top, answer(recording(t, recorded.name)))
		folder := filehost.Root
		if kind == "nextcloud" {
			folder = path(t, "/Docs")
		}
		both := map[bool][]filehost.Entry{}
		for _, credential := range []filehost.Credential{alice, reader()} {
			self, err := client.List(t.Context(), credential, folder, func(entry filehost.Entry) error {
				both[credential.ReadOnly] = append(both[credential.ReadOnly], entry)
				return nil
			})
			require.NoError(t, err)
			both[credential.ReadOnly] = append(both[credential.ReadOnly], self)
		}
		require.NotEmpty(t, both[true])
		for i, entry := range both[true] {
			full := both[false][i].Permissions
			assert.Greater(t, len(full), 1, "the recording grants more")
			assert.Equal(t, []filehost.Permission{filehost.Read}, entry.Permissions)
		}
	}
	// A part of a listing is made of the same, and what can't be read stays so.
	for readOnly, want := range map[bool][]filehost.Permission{true: {}, false: {filehost.Create}} {
		assert.Equal(t, want, newGrants(profileOf("nextcloud")).granted(told(map[property]string{ocPermissions: "CK"}), readOnly))
	}
}

func TestPartsOfAListingOfAReadOnlyCredential(t *testing.T) {
	host := newPagingHost(4)
	host.damage = func(_ http.Header, rows []string) []string {
		for i, row := range rows {
			rows[i] = strings.Replace(row, "<d:getetag>", `<oc:permissions xmlns:oc="http://owncloud.org/ns">RGDNVW</oc:permissions><d:getetag>`, 1)
		}
		return rows
	}
	client := serve(t, "nextcloud", "", host.ServeHTTP)
	for _, credential := range []filehost.Credential{alice, reader()} {
		var entries []filehost.Entry
		self, err := client.ListPart(t.Context(), credential, filehost.Root, filehost.Part{Rows: 10}, func(filehost.Parts) (func(filehost.Entry, int) error, error) {
			return func(entry filehost.Entry, _ int) error {
				entries = append(entries, entry)
				return nil
			}, nil
		})
		require.NoError(t, err)
		require.Len(t, entries, 4)
		for _, entry := range append(entries, self) {
			assert.Equal(t, credential.ReadOnly, slices.Equal(entry.Permissions, []filehost.Permission{filehost.Read}), entry.Permissions)
		}
	}
}
