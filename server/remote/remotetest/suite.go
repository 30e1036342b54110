package remotetest

import (
	"context"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Case is one thing that a host must do.
type Case struct {
	Name string // of the subtest
	run  func(*suite)
}

// Cases are all there are.
var Cases = []Case{
	{"health", (*suite).health},
	{"account", (*suite).account},
	{"listing", (*suite).listing},
	{"file-names", (*suite).fileNames},
	{"folder-names", (*suite).folderNames},
	{"large-folder", (*suite).largeFolder},
	{"parts", (*suite).parts},
	{"permissions", (*suite).permissions},
	{"reading", (*suite).reading},
	{"ranges", (*suite).ranges},
	{"changed-file", (*suite).changedFile},
	{"other-kind", (*suite).otherKind},
	{"absent", (*suite).absent},
	{"forbidden", (*suite).forbidden},
	{"wrong-credential", (*suite).wrongCredential},
	{"broken-off", (*suite).brokenOff},
	{"ids", (*suite).ids},
	{"search", (*suite).search},
	{"views", (*suite).views},
	{"thumbnails", (*suite).thumbnails},
	{"shared", (*suite).shared},
	{"spaces", (*suite).spaces},
	{"save", (*suite).save},
	{"save-conflict", (*suite).saveConflict},
	{"save-large", (*suite).saveLarge},
	{"folders", (*suite).folders},
	{"cache", (*suite).cache},
	{"capabilities", (*suite).capabilities},
	{"links", (*suite).links},
	{"link-limits", (*suite).linkLimits},
	{"invitations", (*suite).invitations},
	{"access", (*suite).access},
}

// Run holds a host to all Cases, each as a subtest in a folder of its own.
func Run(t *testing.T, host Host) {
	for _, each := range Cases {
		t.Run(each.Name, func(t *testing.T) {
			s := &suite{T: t, host: host, remote: host.Client(nil), top: child(t, host.Folder, each.Name)}
			require.NoError(t, host.Files.MakeFolder(t.Context(), s.top))
			each.run(s)
		})
	}
}

// suite is one case on one host.
type suite struct {
	*testing.T
	host   Host
	remote filehost.Remote
	top    filehost.Path // the case's own folder
}

func child(t *testing.T, folder filehost.Path, name string) filehost.Path {
	t.Helper()
	path, ok := folder.Join(name)
	require.True(t, ok, "%q is no name", name)
	return path
}

// at is a path in the case's own folder.
func (s *suite) at(names ...string) filehost.Path {
	s.Helper()
	path := s.top
	for _, name := range names {
		path = child(s.T, path, name)
	}
	return path
}

func (s *suite) folder(path filehost.Path) filehost.Path {
	s.Helper()
	require.NoError(s, s.host.Files.MakeFolder(s.Context(), path))
	return path
}

func (s *suite) write(path filehost.Path, content string) {
	s.Helper()
	require.NoError(s, s.host.Files.Write(s.Context(), path, []byte(content)))
}

func (s *suite) remove(path filehost.Path) {
	s.Helper()
	require.NoError(s, s.host.Files.Remove(s.Context(), path))
}

func (s *suite) stat(path filehost.Path) filehost.Entry {
	s.Helper()
	entry, err := s.remote.Stat(s.Context(), s.host.Credential, path)
	require.NoError(s, err, "%q", path)
	return entry
}

// list gives a folder, and what is in it by name. No name may come twice.
func (s *suite) list(path filehost.Path) (filehost.Entry, map[string]filehost.Entry) {
	s.Helper()
	entries := map[string]filehost.Entry{}
	folder, err := s.remote.List(s.Context(), s.host.Credential, path, func(entry filehost.Entry) error {
		assert.NotContains(s, entries, entry.Path.Name())
		assert.Equal(s, path, entry.Path.Parent())
		entries[entry.Path.Name()] = entry
		return nil
	})
	require.NoError(s, err, "%q", path)
	return folder, entries
}

func (s *suite) listError(ctx context.Context, credential filehost.Credential, path filehost.Path) error {
	_, err := s.remote.List(ctx, credential, path, func(filehost.Entry) error { return nil })
	return err
}

func (s *suite) openError(credential filehost.Credential, entry filehost.Entry) error {
	content, err := s.remote.Open(s.Context(), credential, entry)
	if err == nil {
		assert.NoError(s, content.Close())
	}
	return err
}

// read gives a file's bytes, and holds what the host told of them to what came.
func (s *suite) read(entry filehost.Entry) []byte {
	s.Helper()
	content, err := s.remote.Open(s.Context(), s.host.Credential, entry)
	require.NoError(s, err, "%q", entry.Path)
	defer func() { assert.NoError(s, content.Close()) }()
	raw, err := io.ReadAll(content)
	require.NoError(s, err, "%q", entry.Path)
	assert.EqualValues(s, len(raw), content.Size)
	if entry.ETag != "" && content.ETag != "" {
		assert.True(s, filehost.SameETag(entry.ETag, content.ETag), "%s is %s", entry.ETag, content.ETag)
	}
	if !content.ModifiedAt.IsZero() {
		assert.Equal(s, entry.ModifiedAt, content.ModifiedAt, "%q", entry.Path)
	}
	return raw
}

func (s *suite) wantKind(want filehost.Kind, err error, what ...any) {
	s.Helper()
	if assert.Error(s, err, what...) {
		assert.Equal(s, want.Code(), filehost.KindOf(err).Code(), append([]any{"%v: %v", err}, what...)...)
	}
}

// limit holds a host that is known to its limits, and tells those of another.
func (s *suite) limit(what string, want, got any) {
	s.Helper()
	if !s.host.Known {
		s.Logf("%s: %v", what, got)
		return
	}
	assert.Equal(s, want, got, what)
}

// limits is limit for lists in any order.
func limits[T any](s *suite, what string, want, got []T) {
	s.Helper()
	if !s.host.Known {
		s.Logf("%s: %v", what, got)
		return
	}
	assert.ElementsMatch(s, want, got, what)
}

// noise are bytes that no compression makes smaller, always the same for the same length.
func noise(length int) []byte {
	raw := make([]byte, length)
	_, _ = rand.NewChaCha8(sha256.Sum256([]byte(strconv.Itoa(length)))).Read(raw) // it never fails
	return raw
}
