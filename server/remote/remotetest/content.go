package remotetest

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// reading: whole files, byte for byte.
func (s *suite) reading() {
	for name, size := range map[string]int{"none": 0, "one": 1, "odd": 1<<20 + 3, "big": s.host.Big} {
		content := noise(size)
		s.write(s.at(name), string(content))
		entry := s.stat(s.at(name))
		assert.EqualValues(s, size, entry.Size, name)
		got := s.read(entry)
		assert.Len(s, got, size, name)
		assert.Equal(s, sha256.Sum256(content), sha256.Sum256(got), name)
	}
	for _, name := range []string{"page.html", "archive.gz", "text.txt"} {
		content := "<html>" + name + "\r\n\x00\x1f\x8b"
		s.write(s.at(name), content)
		assert.Equal(s, content, string(s.read(s.stat(s.at(name)))), "it is not changed on its way")
	}
}

// changedFile: what was listed and is another file by now is not taken for it.
func (s *suite) changedFile() {
	file := s.at("file.txt")
	s.write(file, "one")
	before := s.stat(file)
	s.write(file, "longer than before")
	s.wantKind(filehost.Changed, s.openError(s.host.Credential, before), "of another length")

	before = s.stat(file)
	after := before
	// A host that tells whole seconds, and no ETag, sees a change of the next second at the earliest.
	for content := []byte("LONGER THAN BEFORE"); after.ETag == before.ETag && after.ModifiedAt.Equal(before.ModifiedAt); content[0]++ {
		s.write(file, string(content))
		after = s.stat(file)
	}
	assert.Equal(s, before.Size, after.Size)
	if !sameButFresh(before, after) {
		s.wantKind(filehost.Changed, s.openError(s.host.Credential, before), "of the same length, was %+v, is %+v", before, after)
	}
	assert.Len(s, s.read(s.stat(file)), len("longer than before"), "asked for anew, it is there")
}

// sameButFresh tells of an entry whose ETag has become a strong one, and which is the same all the same.
func sameButFresh(before, after filehost.Entry) bool {
	return before.ETag != "" && filehost.SameETag(before.ETag, after.ETag)
}

// otherKind: files are no folders, nor the other way round, not even when they were a moment ago.
func (s *suite) otherKind() {
	file, folder := s.at("file.txt"), s.folder(s.at("folder"))
	s.write(file, "content")
	s.wantKind(filehost.InvalidRequest, s.listError(s.Context(), s.host.Credential, file), "a file is listed")
	s.wantKind(filehost.InvalidRequest, s.openError(s.host.Credential, s.stat(folder)), "a folder is read")

	was := s.stat(file)
	s.remove(file)
	s.folder(file)
	// Apache has no page for a folder: to who wants a file, there is none.
	assert.Contains(s, []filehost.Kind{filehost.Changed, filehost.NotFound}, filehost.KindOf(s.openError(s.host.Credential, was)),
		"it is a folder by now")
	s.remove(folder)
	s.write(folder, "content")
	assert.Equal(s, filehost.File, s.stat(folder).Kind)
	s.wantKind(filehost.InvalidRequest, s.listError(s.Context(), s.host.Credential, folder), "it is a file by now")
}

// brokenOff: an answer that ends early is an error, never a short listing or a short file.
func (s *suite) brokenOff() {
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		s.write(s.at(name), string(noise(1000)))
	}
	file := s.stat(s.at("a.txt"))
	whole := s.remote
	for name, left := range map[string]float64{"at once": 0, "in the middle": 0.7, "at the end": 0.999} {
		s.remote = s.host.Client(func(next http.RoundTripper) http.RoundTripper { return cutter{next, left} })
		s.wantKind(filehost.HostUnavailable, s.listError(s.Context(), s.host.Credential, s.top), "the listing ends %s", name)
		content, err := s.remote.Open(s.Context(), s.host.Credential, file)
		require.NoError(s, err)
		got, err := io.ReadAll(content)
		s.wantKind(filehost.HostUnavailable, err, "the file ends %s", name)
		assert.Len(s, got, int(left*1000))
		assert.NoError(s, content.Close())
	}
	s.remote = whole
	_, entries := s.list(s.top)
	assert.Len(s, entries, 3)
}

// cutter ends each body of a file or listing after a part of its bytes, as if that were all. Other answers stay whole.
type cutter struct {
	next http.RoundTripper
	left float64 // 1 = all of it
}

// RoundTrip implements http.RoundTripper.
func (c cutter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err != nil || strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return response, err
	}
	raw, err := io.ReadAll(response.Body)
	if err := response.Body.Close(); err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(raw[:int(c.left*float64(len(raw)))]))
	return response, err
}
