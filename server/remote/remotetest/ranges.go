package remotetest

import (
	"crypto/sha256"
	"io"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// ranges: the rest of a file is byte for byte that of the same file, or it is refused.
func (s *suite) ranges() {
	const size = 1<<20 + 3
	content := noise(size)
	s.write(s.at("file"), string(content))
	entry := s.settled(s.at("file"))
	for _, offset := range []int64{1, 1000, size - 1} {
		rest, err := s.remote.OpenFrom(s.Context(), s.host.Credential, entry, offset)
		s.limit("gives no parts of files", s.host.Limits.NoParts, filehost.KindOf(err) == filehost.Unsupported)
		if filehost.KindOf(err) == filehost.Unsupported {
			continue
		}
		require.NoError(s, err)
		assert.Equal(s, size-offset, rest.Size)
		got, err := io.ReadAll(rest)
		require.NoError(s, err)
		assert.NoError(s, rest.Close())
		assert.Equal(s, sumOf(content[offset:]), sumOf(got), "from byte %d", offset)
	}
	s.otherRest(entry, content)
}

// otherRest holds the host to that the rest of another file is not taken for the rest of the one that was begun.
func (s *suite) otherRest(before filehost.Entry, content []byte) {
	after := before
	for ; filehost.SameETag(after.ETag, before.ETag) && after.ModifiedAt.Equal(before.ModifiedAt); content[0]++ {
		s.write(before.Path, string(content))
		after = s.opened(s.stat(before.Path))
	}
	refusal := s.restError(before)
	if !s.host.Limits.NoParts && !filehost.SameETag(before.ETag, after.ETag) {
		s.wantKind(filehost.Changed, refusal, "of the same length")
	}
	assert.Error(s, refusal)
	s.write(before.Path, "short")
	assert.Error(s, s.restError(before), "shorter than where it went on")
	s.remove(before.Path)
	assert.Error(s, s.restError(before), "gone")
}

func (s *suite) restError(entry filehost.Entry) error {
	rest, err := s.remote.OpenFrom(s.Context(), s.host.Credential, entry, 1000)
	if err == nil {
		assert.NoError(s, rest.Close())
	}
	return err
}

// settled is opened for a file whose ETag is weak as long as it is fresh: Apache's, for a second.
func (s *suite) settled(path filehost.Path) filehost.Entry {
	s.Helper()
	entry := s.opened(s.stat(path))
	if !s.host.Known {
		return entry // it may be weak for ever
	}
	assert.Eventually(s, func() bool {
		entry = s.opened(s.stat(path))
		return !strings.HasPrefix(entry.ETag, "W/")
	}, 5*time.Second, 100*time.Millisecond)
	return entry
}

// opened is an entry with what the answer tells by which the file is opened: a strong ETag that the listing lacks.
func (s *suite) opened(entry filehost.Entry) filehost.Entry {
	s.Helper()
	content, err := s.remote.Open(s.Context(), s.host.Credential, entry)
	require.NoError(s, err)
	assert.NoError(s, content.Close())
	if !filehost.IsStrongETag(entry.ETag) && filehost.IsStrongETag(content.ETag) {
		entry.ETag = content.ETag
	}
	return entry
}

func sumOf(content []byte) [sha256.Size]byte { return sha256.Sum256(content) }
