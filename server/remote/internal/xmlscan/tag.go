package xmlscan

import (
	"bytes"
	"unicode/utf8"
)

// attribute is one of the tag at hand (XML 1.0, 3.1), in the bytes of the window.
type attribute struct {
	prefix []byte
	local  []byte
	value  []byte // as it is written, without its quotes

	namespace []byte // of the name, as scope.qualify found it; nil without a prefix
	nameSum   uint64 // of both parts of it
}

// declares tells whether it is a namespace declaration, and of which prefix; "" = the default (Namespaces in XML 1.0, 3).
func (a *attribute) declares() (prefix []byte, ok bool) {
	switch {
	case string(a.prefix) == "xmlns":
		return a.local, true
	case len(a.prefix) == 0 && string(a.local) == "xmlns":
		return nil, true
	default:
		return nil, false
	}
}

func (s *Scanner) startTag() (Kind, error) {
	if s.Depth() == 0 && s.rooted {
		return None, s.malformed("a second root element")
	}
	rest := s.buffer[s.pos+1 : s.end]
	if seen, length := s.seen(rest); seen != nil {
		return s.again(seen, length)
	}
	length, colon := qualifiedName(rest)
	if length == 0 || length+1 >= len(rest) {
		return s.longTag()
	}
	tag := length
	switch {
	case rest[length] == '>':
	case rest[length] == '/' && rest[length+1] == '>':
		s.closing = true
		tag++
	default:
		return s.longTag()
	}
	kind, err := s.open(rest[:length], colon, nil)
	if err == nil {
		s.remember(rest[:tag], length)
		s.pos += tag + len("<>")
	}
	return kind, err
}

// longTag reads a tag that has attributes, or white space, or does not end within the window.
func (s *Scanner) longTag() (Kind, error) {
	end, err := s.tagEnd()
	if err != nil {
		return None, err
	}
	inner := s.buffer[s.pos+1 : end]
	length, colon := qualifiedName(inner)
	if length == 0 {
		return None, s.malformed("what is no name of an element")
	}
	rest, empty := bytes.CutSuffix(inner[length:], []byte("/"))
	s.tagged = s.tagged[:0]
	for len(rest) > 0 {
		if rest = s.attribute(rest); rest == nil {
			return None, s.malformed("what is no attribute")
		}
		if len(s.tagged) > s.limits.Attributes {
			return None, &LimitError{Limit: Attributes, Most: int64(s.limits.Attributes)}
		}
	}
	s.closing = empty
	kind, err := s.open(inner[:length], colon, s.tagged)
	s.pos = end + 1
	return kind, err
}

// tagEnd returns the position of the > that ends the tag at the current position, and reads on until it is there. What
// has been looked at is not looked at again, however few bytes the source gives.
func (s *Scanner) tagEnd() (int, error) {
	var quote byte // that a value stands in
	for length := 1; ; length++ {
		if err := s.need(length + 1); err != nil {
			return 0, err
		}
		switch c := s.buffer[s.pos+length]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return s.pos + length, nil
		}
	}
}

// attribute reads one, with the white space in front of it, and returns what is behind it: nothing after the last one,
// nil when there is no attribute.
func (s *Scanner) attribute(b []byte) []byte {
	rest := trimSpace(b)
	if len(rest) == 0 {
		return []byte{}
	}
	length, colon := qualifiedName(rest)
	if length == 0 || len(rest) == len(b) {
		return nil
	}
	name := attribute{local: rest[colon+1 : length]}
	if colon > 0 {
		name.prefix = rest[:colon]
	}
	rest, ok := bytes.CutPrefix(trimSpace(rest[length:]), []byte("="))
	if rest = trimSpace(rest); !ok || len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return nil
	}
	name.value, rest, ok = bytes.Cut(rest[1:], rest[:1])
	if !ok {
		return nil
	}
	s.tagged = append(s.tagged, name)
	return rest
}

// open begins an element. name and attributes are of the window.
func (s *Scanner) open(name []byte, colon int, attributes []attribute) (Kind, error) {
	s.rooted = true
	if s.Depth() >= s.limits.Depth {
		return None, &LimitError{Limit: Depth, Most: int64(s.limits.Depth)}
	}
	s.push(name)
	for i := range attributes {
		if problem, err := s.declare(&attributes[i]); err != nil {
			return None, err
		} else if problem != "" {
			return None, s.malformed(problem)
		}
	}
	if !s.qualify(attributes) {
		return None, s.malformed("a prefix of an attribute that stands for no namespace")
	}
	if !unique(attributes) {
		return None, s.malformed("an attribute that the tag has already")
	}
	if !s.resolve(name, colon) {
		return None, s.malformed("a prefix of an element that stands for no namespace")
	}
	return Start, nil
}

// unique tells whether no two attributes of a tag have one name (XML 1.0, 3.1; Namespaces in XML 1.0, 6.3).
func unique(attributes []attribute) bool {
	for i := range attributes {
		for j := range i {
			if attributes[i].nameSum == attributes[j].nameSum && attributes[i].named(&attributes[j]) {
				return false
			}
		}
	}
	return true
}

// named tells whether an attribute has the name of another.
func (a *attribute) named(other *attribute) bool {
	return string(a.local) == string(other.local) && string(a.namespace) == string(other.namespace)
}

func (s *Scanner) endTag() (Kind, error) {
	if s.Depth() == 0 {
		return None, s.malformed("the end of an element that did not begin")
	}
	name := s.innermost()
	s.pos += len("</")
	rest := s.buffer[s.pos:s.end]
	if n := len(name); len(rest) > n && rest[n] == '>' && string(rest[:n]) == string(name) {
		s.pos += n + len(">")
		return s.close(), nil
	}
	s.pos -= len("</")
	end, err := s.tagEnd()
	if err != nil {
		return None, err
	}
	rest, ok := bytes.CutPrefix(s.buffer[s.pos+len("</"):end], name)
	if !ok || len(trimSpace(rest)) > 0 {
		return None, s.malformed("the end of another element than the innermost")
	}
	s.pos = end + 1
	return s.close(), nil
}

// appendValue appends the value of an attribute (XML 1.0, 3.3.3), but that white space stays what it is. It reports false
// for what can't be in one.
func appendValue(value, written []byte) ([]byte, bool) {
	for len(written) > 0 {
		n := plain(written, inValue)
		value, written = append(value, written[:n]...), written[n:]
		if len(written) == 0 {
			break
		}
		if written[0] != '&' {
			return nil, false
		}
		end := bytes.IndexByte(written, ';')
		if end < 0 || end >= maxReferenceBytes {
			return nil, false
		}
		r, ok := referred(written[1:end])
		if !ok {
			return nil, false
		}
		value, written = utf8.AppendRune(value, r), written[end+1:]
	}
	return value, true
}
