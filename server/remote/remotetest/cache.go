package remotetest

import "github.com/stretchr/testify/assert"

// cache: where a folder's ETag is to tell of all changes below it, it does.
func (s *suite) cache() {
	top := s.folder(s.at("top"))
	s.folder(s.at("top", "middle"))
	deep := s.folder(s.at("top", "middle", "deep"))
	s.write(s.at("top", "middle", "deep", "file.txt"), "one")
	before := s.stat(top)
	s.limit("its ETag tells of changes below", s.host.Limits.Tracks, before.Tracked)
	if !before.Tracked {
		return
	}
	assert.Equal(s, before.ETag, s.stat(top).ETag, "nothing has changed")
	for _, change := range []struct {
		what string
		make func()
	}{
		{"a file is longer", func() { s.write(s.at("top", "middle", "deep", "file.txt"), "longer") }},
		{"a file comes", func() { s.write(s.at("top", "middle", "deep", "other.txt"), "other") }},
		{"a file goes", func() { s.remove(s.at("top", "middle", "deep", "other.txt")) }},
		{"a folder comes", func() { s.folder(s.at("top", "middle", "folder")) }},
		{"a folder goes", func() { s.remove(deep) }},
	} {
		change.make()
		after := s.stat(top)
		assert.NotEqual(s, before.ETag, after.ETag, change.what)
		listed, _ := s.list(top)
		assert.Equal(s, after.ETag, listed.ETag, "a listing tells the same")
		before = after
	}
}
