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
		filehost.Recent: {offered.Recent, []string{"new.txt"}}, filehost.Favorites: {offered.Favorites, nil},
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

// shared: what others share with the user is told with where he has it, and what he may do with it; and not once it is taken
// back.
func (s *suite) shared() {
	query := filehost.Query{View: filehost.SharedView, Most: 500}
	if !s.remote.Capabilities(s.Context(), s.host.Credential).Shared {
		_, err := s.find(query)
		s.wantKind(filehost.Unsupported, err, "the view")
		return
	}
	const name, content = "lent by another.txt", "of another"
	before, err := s.find(query)
	require.NoError(s, err)
	assert.NotContains(s, before, name)
	if s.host.Lend == nil {
		s.Log("nobody shares anything here")
		return
	}
	back, err := s.host.Lend(name, content)
	require.NoError(s, err)
	var lent []filehost.Entry
	_, err = s.remote.Find(s.Context(), s.host.Credential, query, func(entry filehost.Entry) error {
		if entry.Path.Name() == name {
			lent = append(lent, entry)
		}
		return nil
	})
	require.NoError(s, err)
	require.Len(s, lent, 1)
	assert.Equal(s, lent[0], s.stat(lent[0].Path), "as it is where the user has it")
	assert.Contains(s, lent[0].Permissions, filehost.Read)
	assert.NotContains(s, lent[0].Permissions, filehost.Write)
	require.NotNil(s, lent[0].Shared)
	assert.True(s, *lent[0].Shared)
	assert.Equal(s, content, string(s.read(lent[0])))
	byID, err := s.remote.StatID(s.Context(), s.host.Credential, lent[0].HostID)
	require.NoError(s, err)
	assert.Equal(s, lent[0].Path, byID.Path)
	own, err := s.find(filehost.Query{View: filehost.SharedView, Folder: s.top, Most: 500})
	require.NoError(s, err)
	assert.Empty(s, own, "nothing of it is in a folder of the user's own")
	back()
	after, err := s.find(query)
	require.NoError(s, err)
	assert.NotContains(s, after, name)
}

// spaces: at a host that has them, each is a folder at the top, and nothing else is there.
func (s *suite) spaces() {
	offered := s.remote.Capabilities(s.Context(), s.host.Credential).Spaces
	top, entries := s.list(filehost.Root)
	assert.Equal(s, filehost.Folder, top.Kind)
	home, _ := s.top.Top()
	kinds := map[filehost.SpaceKind]int{}
	for _, entry := range entries {
		kinds[entry.Space]++
		if !offered {
			assert.Empty(s, entry.Space)
			continue
		}
		assert.Equal(s, filehost.Folder, entry.Kind)
		assert.NotContains(s, entry.Permissions, filehost.Delete)
		assert.NotContains(s, entry.Permissions, filehost.Rename)
		again, err := s.remote.StatID(s.Context(), s.host.Credential, entry.HostID)
		require.NoError(s, err, "%s", entry.Path)
		assert.Equal(s, entry, again)
		s.list(entry.Path)
	}
	if !offered {
		return
	}
	assert.Equal(s, filehost.PersonalSpace, entries[home.Name()].Space)
	assert.Equal(s, 1, kinds[filehost.PersonalSpace])
	assert.LessOrEqual(s, kinds[filehost.SharesSpace], 1)
	assert.Zero(s, kinds[""])
	nowhere, _ := filehost.Root.Join("no space of " + home.Name())
	_, err := s.remote.Stat(s.Context(), s.host.Credential, nowhere)
	s.wantKind(filehost.NotFound, err, "what is no space")
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
