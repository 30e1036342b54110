package remotetest

import (
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// ids: an entry is found by the host's own id, and not once it is gone.
func (s *suite) ids() {
	file := s.at("a & b.txt")
	s.write(file, "content")
	entry := s.stat(file)
	if !s.remote.Capabilities(s.Context(), s.host.Credential).StableIDs {
		assert.Empty(s, entry.HostID)
		_, err := s.remote.StatID(s.Context(), s.host.Credential, "7")
		s.wantKind(filehost.Unsupported, err, "by an id")
		return
	}
	again, err := s.remote.StatID(s.Context(), s.host.Credential, entry.HostID)
	require.NoError(s, err)
	assert.Equal(s, entry, again)
	folder := s.stat(s.top)
	again, err = s.remote.StatID(s.Context(), s.host.Credential, folder.HostID)
	require.NoError(s, err)
	assert.Equal(s, folder.Path, again.Path)
	s.remove(file)
	_, err = s.remote.StatID(s.Context(), s.host.Credential, entry.HostID)
	s.wantKind(filehost.NotFound, err, "by the id of what is gone")
}

// search: names are found anywhere below a folder. A host that is not known may take its time to know a new file.
func (s *suite) search() {
	s.write(s.at("Report 1.txt"), "1")
	s.write(s.at("other.txt"), "2")
	found, err := s.find(filehost.Query{View: filehost.FolderView, Text: "report", Folder: s.top, Most: 10})
	if !s.remote.Capabilities(s.Context(), s.host.Credential).Search {
		s.wantKind(filehost.Unsupported, err, "a search")
		return
	}
	require.NoError(s, err)
	s.limit("found", []string{"Report 1.txt"}, found)
	_, err = s.find(filehost.Query{View: filehost.FolderView, Text: "report", Folder: s.at("none"), Most: 10})
	s.wantKind(filehost.NotFound, err, "below what is not there")
}

// views: recent files and favorites, each where the host has it.
func (s *suite) views() {
	s.write(s.at("new.txt"), "1")
	offered := s.remote.Capabilities(s.Context(), s.host.Credential)
	for view, test := range map[filehost.View]struct {
		offered bool
		want    []string
	}{
		filehost.Recent: {offered.Recent, []string{"new.txt"}}, filehost.Favorites: {offered.Favorites, nil}, filehost.SharedView: {offered.Shared, nil},
	} {
		found, err := s.find(filehost.Query{View: view, Folder: s.top, Most: 10})
		if !test.offered {
			s.wantKind(filehost.Unsupported, err, "%s", view)
			continue
		}
		require.NoError(s, err)
		assert.Equal(s, test.want, found, "%s", view)
	}
}

// find gives the names of what matches a query.
func (s *suite) find(query filehost.Query) (names []string, err error) {
	s.Helper()
	_, err = s.remote.Find(s.Context(), s.host.Credential, query, func(entry filehost.Entry) error {
		names = append(names, s.form(entry.Path.Name()))
		return nil
	})
	slices.Sort(names)
	return names, err
}
