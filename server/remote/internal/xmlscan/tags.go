package xmlscan

import "bytes"

// The measures of the memory for tags.
const (
	tagsSeen    = 128 // a power of two
	maxTagsSeen = 31  // bytes of a tag that is remembered
)

// seenTag is a tag without attributes that was read before: documents are made of few tags that come again and again.
type seenTag struct {
	text       [maxTagsSeen]byte // what is between < and >
	length     int
	name       int // bytes of the text that are the name
	word       int
	generation uint64 // of the namespaces that word holds in; 0 = there is no tag here
}

// seen returns the tag that b begins with if it was seen under the same namespaces, and its length.
func (s *Scanner) seen(b []byte) (*seenTag, int) {
	length := bytes.IndexByte(b[:min(len(b), maxTagsSeen+1)], '>')
	if length <= 0 {
		return nil, 0
	}
	tag := &s.tags[slot(b[:length])]
	if tag.generation != s.generation || string(tag.text[:tag.length]) != string(b[:length]) {
		return nil, 0
	}
	return tag, length
}

// slot is where a tag is remembered, be it in place of another.
func slot(text []byte) int {
	n := len(text)
	return (n + 3*int(text[n-1]) + 5*int(text[n/2]) + 7*int(text[n/4*3])) % tagsSeen
}

// again begins an element by a tag that was seen.
func (s *Scanner) again(tag *seenTag, length int) (Kind, error) {
	if s.Depth() >= s.limits.Depth {
		return None, &LimitError{Limit: Depth, Most: int64(s.limits.Depth)}
	}
	s.pos += length + len("<>")
	s.closing = tag.name < tag.length
	s.push(tag.text[:tag.name])
	s.called(tag.word)
	return Start, nil
}

// remember keeps a tag whose element has just begun; name are the bytes of its name.
func (s *Scanner) remember(text []byte, name int) {
	if len(text) > maxTagsSeen {
		return
	}
	tag := &s.tags[slot(text)]
	copy(tag.text[:], text)
	tag.length, tag.name, tag.word, tag.generation = len(text), name, s.word, s.generation
}
