package remotetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/text/unicode/norm"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// AtOnce is how many changes are under way at once: a real host is far away.
const AtOnce = 8

// listing: what a folder and its entries are, and that a look at one tells the same as its folder does.
func (s *suite) listing() {
	began := s.stat(s.top).ModifiedAt
	folder, entries := s.list(s.top)
	assert.Empty(s, entries, "it is empty")
	assert.Equal(s, filehost.Folder, folder.Kind)

	sizes := map[string]int{"none.txt": 0, "one.txt": 1, "some.pdf": 1000}
	for name, size := range sizes {
		s.write(s.at(name), string(noise(size)))
	}
	s.folder(s.at("folder"))
	s.write(s.at("folder", "inner.txt"), "deeper")

	folder, entries = s.list(s.top)
	assert.Equal(s, s.top, folder.Path)
	assert.Equal(s, s.stat(s.top), folder)
	assert.Len(s, entries, len(sizes)+1, "what lies deeper is not in the folder")
	for name, entry := range entries {
		assert.Equal(s, s.stat(entry.Path), entry, name)
		assert.Equal(s, time.UTC, entry.ModifiedAt.Location(), name)
		assert.False(s, entry.ModifiedAt.Before(began.Truncate(time.Second)), "%s is older than its folder was", name)
	}
	for name, size := range sizes {
		entry := entries[name]
		assert.Equal(s, filehost.File, entry.Kind, name)
		assert.EqualValues(s, size, entry.Size, name)
		assert.Regexp(s, `^[a-z]+/[a-z0-9.+-]+$`, entry.MIMEType, name)
		s.limit("no ETag", s.host.Limits.NoETags, entry.ETag == "")
	}
	assert.Equal(s, filehost.Folder, entries["folder"].Kind)
	assert.Empty(s, entries["folder"].MIMEType)
}

// fileNames: whatever name the host has a file by, the file is listed, found again and read by it.
func (s *suite) fileNames() {
	refused := s.makeAll(func(name string) error {
		return s.host.Files.Write(s.Context(), s.at(name), []byte("file "+name))
	})
	_, entries := s.list(s.top)
	s.wantNames(entries, refused)
	var unreadable []string
	for name, entry := range entries {
		assert.Equal(s, filehost.File, entry.Kind)
		again, err := filehost.ParseID("id", entry.Path.ID())
		require.NoError(s, err)
		assert.Equal(s, entry, s.stat(again))
		if err := s.openError(s.host.Credential, entry); err != nil {
			s.wantKind(filehost.HostUnavailable, err, "%q", name)
			unreadable = append(unreadable, name)
			continue
		}
		assert.Equal(s, "file "+name, s.form(string(s.read(entry))))
	}
	limits(s, "can't be read", s.host.Limits.Unreadable, unreadable)
}

func (s *suite) folderNames() {
	refused := s.makeAll(func(name string) error {
		if err := s.host.Files.MakeFolder(s.Context(), s.at(name)); err != nil {
			return err
		}
		return s.host.Files.Write(s.Context(), s.at(name, "inner.txt"), []byte(name))
	})
	_, entries := s.list(s.top)
	s.wantNames(entries, refused)
	for name, entry := range entries {
		assert.Equal(s, filehost.Folder, entry.Kind)
		folder, inner := s.list(entry.Path)
		assert.Equal(s, entry.Path, folder.Path)
		if assert.Len(s, inner, 1, "%q", name) {
			assert.Equal(s, name, s.form(string(s.read(inner["inner.txt"]))))
		}
	}
}

// makeAll makes something of each name and gives those that the host refuses.
func (s *suite) makeAll(each func(name string) error) []string {
	s.Helper()
	var (
		mu      sync.Mutex
		refused []string
		all     errgroup.Group
	)
	all.SetLimit(AtOnce)
	for _, name := range Names {
		all.Go(func() error {
			err := each(name)
			if errors.Is(err, ErrRefused) {
				mu.Lock()
				defer mu.Unlock()
				refused = append(refused, name)
				return nil
			}
			if err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
			return nil
		})
	}
	require.NoError(s, all.Wait())
	return refused
}

// wantNames wants each name in a listing, but those that the host refuses: they are not there.
func (s *suite) wantNames(entries map[string]filehost.Entry, refused []string) {
	s.Helper()
	limits(s, "names refused", s.host.Limits.RefusedNames, refused)
	for _, name := range refused {
		_, err := s.remote.Stat(s.Context(), s.host.Credential, s.at(name))
		if !utf8.ValidString(name) && filehost.KindOf(err) == filehost.HostUnavailable { // OpenCloud fails at it in a space
			continue
		}
		s.wantKind(filehost.NotFound, err, "%q", name)
	}
	var hidden []string
	for _, name := range Names {
		if slices.Contains(refused, name) {
			continue
		}
		entry, listed := entries[s.form(name)]
		if listed && s.form(name) != name && utf8.ValidString(name) {
			found := s.stat(s.at(name))
			found.Path = entry.Path // the host may tell of it in the form that it was asked for
			assert.Equal(s, entry, found, "it is found in either form")
		}
		if !listed {
			assert.Equal(s, s.at(name), s.stat(s.at(name)).Path)
			hidden = append(hidden, name)
		}
	}
	limits(s, "names that are not listed", s.host.Limits.Hidden, hidden)
	assert.Len(s, entries, len(Names)-len(refused)-len(hidden))
}

// form is a name as the host gives it back. Who composes names takes bytes that are not UTF-8 for Latin-1.
func (s *suite) form(name string) string {
	if !s.host.Limits.Composed {
		return name
	}
	if !utf8.ValidString(name) {
		latin := make([]rune, len(name))
		for i := range len(name) {
			latin[i] = rune(name[i])
		}
		name = string(latin)
	}
	return norm.NFC.String(name)
}

// fill makes a folder of many entries, and gives their names.
func (s *suite) fill() map[string]bool {
	s.Helper()
	names := map[string]bool{}
	var all errgroup.Group
	all.SetLimit(AtOnce)
	for i := range s.host.Many {
		name := fmt.Sprintf("file %05d.txt", i)
		names[name] = true
		all.Go(func() error { return s.host.Files.Write(s.Context(), s.at(name), []byte("x")) })
	}
	require.NoError(s, all.Wait())
	return names
}

func (s *suite) largeFolder() {
	names := s.fill()
	_, entries := s.list(s.top)
	assert.Len(s, entries, len(names))
	for name := range entries {
		assert.True(s, names[name], "%q was not made", name)
	}

	enough := errors.New("enough")
	seen := 0
	_, err := s.remote.List(s.Context(), s.host.Credential, s.top, func(filehost.Entry) error {
		seen++
		return enough
	})
	assert.ErrorIs(s, err, enough, "who has enough is asked no further")
	assert.Equal(s, 1, seen)
}

// parts: a folder in parts, each once; of a host that knows none, the whole folder at once.
func (s *suite) parts() {
	names := s.fill()
	most := len(names)/3 + 1
	part := filehost.Part{Rows: most}
	for {
		told, count := s.part(part, names)
		s.limit("in parts", s.host.Limits.Pages, told.parts.Paged)
		if !told.parts.Paged || told.parts.Listing == "" {
			break
		}
		assert.LessOrEqual(s, count, most)
		assert.Positive(s, count)
		part = filehost.Part{Listing: told.parts.Listing, Offset: told.next, Rows: most, Total: told.parts.Total}
		if part.Offset >= part.Total {
			break
		}
	}
	assert.Empty(s, names, "what no part had")

	if part.Listing == "" {
		return
	}
	_, err := s.remote.ListPart(s.Context(), s.host.Credential, s.top,
		filehost.Part{Listing: "unknown", Offset: most, Rows: most, Total: len(names)},
		func(filehost.Parts) (func(filehost.Entry, int) error, error) {
			return func(filehost.Entry, int) error { return nil }, nil
		})
	s.wantKind(filehost.Changed, err, "a listing that the host doesn't keep")
}

type toldPart struct {
	parts filehost.Parts
	next  int // the row after the last
}

// part reads a part and takes what it has out of names.
func (s *suite) part(part filehost.Part, names map[string]bool) (told toldPart, count int) {
	s.Helper()
	_, err := s.remote.ListPart(s.Context(), s.host.Credential, s.top, part,
		func(parts filehost.Parts) (func(filehost.Entry, int) error, error) {
			told.parts = parts
			return func(entry filehost.Entry, next int) error {
				assert.True(s, names[entry.Path.Name()], "%q was not made, or came before", entry.Path.Name())
				delete(names, entry.Path.Name())
				told.next = next
				count++
				return nil
			}, nil
		})
	require.NoError(s, err)
	return told, count
}

func (s *suite) permissions() {
	s.write(s.at("file.txt"), "mine")
	s.folder(s.at("folder"))
	_, entries := s.list(s.top)
	limits(s, "a file", s.host.Limits.File, entries["file.txt"].Permissions)
	limits(s, "a folder", s.host.Limits.Folder, entries["folder"].Permissions)
	assert.Contains(s, entries["file.txt"].Permissions, filehost.Read)
	assert.Contains(s, entries["folder"].Permissions, filehost.Read)

	reader := s.host.Credential
	reader.ReadOnly = true
	entry, err := s.remote.Stat(s.Context(), reader, s.at("file.txt"))
	require.NoError(s, err)
	assert.Equal(s, []filehost.Permission{filehost.Read}, entry.Permissions, "of a credential that is for reading")
	assert.NoError(s, s.openError(reader, entry))
}
