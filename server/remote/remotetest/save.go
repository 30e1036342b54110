package remotetest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// saved is when the files that the suite saves were made.
var saved = time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)

func (s *suite) newFile(name string, content []byte) filehost.NewFile {
	return filehost.NewFile{Folder: s.top, Name: name, Size: int64(len(content)), MIMEType: "text/plain", ModifiedAt: saved, Content: bytes.NewReader(content)}
}

func (s *suite) saveError(file filehost.NewFile) error {
	_, err := s.remote.Write(s.Context(), s.host.Credential, file)
	return err
}

// save: files come to the host byte for byte, and what it doesn't take is told.
func (s *suite) save() {
	for name, size := range map[string]int{"none.txt": 0, "one.txt": 1, "odd ü#%.txt": 1<<20 + 3} {
		content := noise(size)
		entry, err := s.remote.Write(s.Context(), s.host.Credential, s.newFile(name, content))
		require.NoError(s, err, name)
		assert.Equal(s, s.stat(s.at(name)), entry, "it tells what is there")
		assert.Equal(s, sha256.Sum256(content), sha256.Sum256(s.read(entry)), name)
		if size > 0 {
			s.limit("keeps the time", s.host.Limits.Dates, entry.ModifiedAt.Equal(saved))
		}
	}
	missing := s.newFile("a.txt", []byte("a"))
	missing.Folder = s.at("none")
	s.wantKind(filehost.NotFound, s.saveError(missing), "a folder that is not there")
	for _, name := range []string{"", ".", "..", "a/b", "nul\x00"} {
		s.wantKind(filehost.InvalidRequest, s.saveError(s.newFile(name, []byte("a"))), "%q", name)
	}
	var refused []string
	for _, name := range Names {
		if strings.Contains(name, `\`) || !utf8.ValidString(name) {
			continue // the plugin gives no file such a name
		}
		err := s.saveError(s.newFile(name, []byte("named")))
		if err == nil {
			continue
		}
		refused = append(refused, name)
		s.wantKind(filehost.InvalidRequest, err, "%q", name)
	}
	limits(s, "names that are not saved", s.host.Limits.Unsavable, refused)
	s.nothingLeft()
}

// nothingLeft wants no trace of what was being saved.
func (s *suite) nothingLeft() {
	s.Helper()
	_, entries := s.list(s.top)
	for name := range entries {
		assert.NotContains(s, name, ".filehost-attach-", "a part of a file is left")
	}
}

// saveConflict: a file comes only where nothing is, or in the place of what was seen.
func (s *suite) saveConflict() {
	s.write(s.at("there.txt"), "the old one")
	s.folder(s.at("folder"))
	s.wantKind(filehost.Conflict, s.saveError(s.newFile("there.txt", []byte("the new one"))), "over a file")
	s.wantKind(filehost.Conflict, s.saveError(s.newFile("folder", []byte("the new one"))), "over a folder")
	s.wantKind(filehost.Conflict, s.saveError(s.newFile("there.txt", nil)), "an empty one")
	seen := s.stat(s.at("there.txt"))
	assert.Equal(s, "the old one", string(s.read(seen)))

	replacing := s.newFile("there.txt", []byte("the new one, which is longer"))
	replacing.Replaces = &seen
	entry, err := s.remote.Write(s.Context(), s.host.Credential, replacing)
	require.NoError(s, err)
	assert.Equal(s, "the new one, which is longer", string(s.read(entry)))

	replacing = s.newFile("there.txt", []byte("a third one"))
	replacing.Replaces = &seen
	s.wantKind(filehost.Changed, s.saveError(replacing), "what is there is not what was seen")
	assert.Equal(s, "the new one, which is longer", string(s.read(s.stat(s.at("there.txt")))))
	s.remove(s.at("there.txt"))
	replacing = s.newFile("there.txt", []byte("a third one"))
	replacing.Replaces = &entry
	s.wantKind(filehost.Changed, s.saveError(replacing), "what was seen is gone")
	s.overtake()
	s.nothingLeft()
}

// overtake lets somebody else save under the name while a file is on its way: one of the two stays, and the
// other is told.
func (s *suite) overtake() {
	slow := s.newFile("race.txt", noise(1<<20))
	want := noise(1 << 20)
	slow.Content = &beginning{Reader: slow.Content, first: func() {
		// Nextcloud locks the name instead.
		if err := s.saveError(s.newFile("race.txt", []byte("the fast one"))); err == nil {
			want = []byte("the fast one")
		} else {
			s.wantKind(filehost.Conflict, err)
		}
	}}
	if err := s.saveError(slow); len(want) < 1<<20 {
		s.wantKind(filehost.Conflict, err)
	} else {
		assert.NoError(s, err)
	}
	assert.Equal(s, sha256.Sum256(want), sha256.Sum256(s.read(s.stat(s.at("race.txt")))))
}

// beginning does something when its first bytes have been read.
type beginning struct {
	io.Reader
	first func()
}

// Read implements io.Reader.
func (b *beginning) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p[:min(len(p), 1<<16)])
	if first := b.first; first != nil {
		b.first = nil
		first()
	}
	return n, err
}

// saveLarge: large files come whole, in constant memory, or not at all.
func (s *suite) saveLarge() {
	size := int64(s.host.Big)
	entry, err := s.remote.Write(s.Context(), s.host.Credential, filehost.NewFile{
		Folder: s.top, Name: "big.bin", Size: size, ModifiedAt: saved, Content: bytes.NewReader(noise(s.host.Big)),
	})
	require.NoError(s, err)
	assert.Equal(s, size, entry.Size)
	assert.Equal(s, sha256.Sum256(noise(s.host.Big)), sha256.Sum256(s.read(entry)))
	s.limit("keeps the time", s.host.Limits.Dates, entry.ModifiedAt.Equal(saved))

	seen := entry
	for name, reason := range map[string]error{"fails": errCut, "ends": io.EOF} {
		for _, replaces := range []*filehost.Entry{nil, &seen} {
			file := filehost.NewFile{Folder: s.top, Name: "cut.bin", Size: size, Content: io.MultiReader(bytes.NewReader(noise(s.host.Big*9/10)), iotest.ErrReader(reason))}
			if replaces != nil {
				file.Name, file.Replaces = "big.bin", replaces
			}
			err := s.saveError(file)
			require.Error(s, err, name)
			if errors.Is(reason, errCut) {
				assert.ErrorIs(s, err, errCut, "it is the content's own error")
			}
			s.wantKind(filehost.Internal, err)
		}
	}
	_, err = s.remote.Stat(s.Context(), s.host.Credential, s.at("cut.bin"))
	s.wantKind(filehost.NotFound, err, "nothing is left of it")
	assert.Equal(s, sha256.Sum256(noise(s.host.Big)), sha256.Sum256(s.read(s.stat(s.at("big.bin")))), "what was there is left as it was")
	s.nothingLeft()

	replacing := filehost.NewFile{Folder: s.top, Name: "big.bin", Size: size + 1, Content: bytes.NewReader(make([]byte, s.host.Big+1)), Replaces: &seen}
	entry, err = s.remote.Write(s.Context(), s.host.Credential, replacing)
	require.NoError(s, err)
	assert.Equal(s, sha256.Sum256(make([]byte, s.host.Big+1)), sha256.Sum256(s.read(entry)))
	replacing.Content = bytes.NewReader(noise(s.host.Big + 1))
	s.wantKind(filehost.Changed, s.saveError(replacing), "what is there is not what was seen")
	assert.Equal(s, sha256.Sum256(make([]byte, s.host.Big+1)), sha256.Sum256(s.read(s.stat(s.at("big.bin")))))
	s.wantKind(filehost.Conflict, s.saveError(filehost.NewFile{Folder: s.top, Name: "big.bin", Size: size, Content: bytes.NewReader(noise(s.host.Big))}))
}

var errCut = errors.New("the content is cut off")

// folders: folders are made where nothing is.
func (s *suite) folders() {
	entry, err := s.remote.MakeFolder(s.Context(), s.host.Credential, s.at("new ü#%"))
	require.NoError(s, err)
	assert.Equal(s, s.stat(s.at("new ü#%")), entry, "it tells what is there")
	assert.Equal(s, filehost.Folder, entry.Kind)
	file := s.newFile("a.txt", []byte("a"))
	file.Folder = s.at("new ü#%")
	require.NoError(s, s.saveError(file))
	s.write(s.at("file"), "content")
	for want, paths := range map[filehost.Kind][]filehost.Path{
		filehost.Conflict: {s.at("new ü#%"), s.at("file")},
		filehost.NotFound: {s.at("none", "below"), s.at("file", "below")},
	} {
		for _, path := range paths {
			_, err := s.remote.MakeFolder(s.Context(), s.host.Credential, path)
			s.wantKind(want, err, "%q", path)
		}
	}
}
