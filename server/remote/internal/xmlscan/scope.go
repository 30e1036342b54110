package xmlscan

import (
	"bytes"
	"hash/maphash"
)

// The namespaces that XML has itself (Namespaces in XML 1.0, 3).
const (
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

// scope is what holds at one place of a document: the elements around it and the namespaces that their tags declare.
type scope struct {
	vocabulary *Vocabulary
	elements   []element // the innermost is the last
	names      []byte    // of the elements, one behind the other
	bindings   []binding // the one that counts is the last of its prefix
	bound      []byte    // prefixes and namespaces, one behind the other
	word       int       // of the last tag
	generation uint64    // changes with the bindings, and back with them
	declared   uint64    // the last generation that there was
}

// element is one that has begun and not ended.
type element struct {
	name     int // where it begins in names
	word     int // of the vocabulary
	bindings int // those that hold outside of it

	generation uint64 // outside of it
}

// binding is a prefix and the namespace that it stands for; the prefix of the default namespace is empty.
type binding struct {
	start, middle, end int // of both, in bound
	space              int // of the vocabulary

	prefixSum, namespaceSum uint64
}

// seed makes sums that no peer can foretell, so that names which differ have different ones.
var seed = maphash.MakeSeed()

// declarations is the namespace of the attributes whose prefix is xmlns.
var (
	declarations    = []byte(xmlnsNamespace)
	declarationsSum = sum(declarations)
)

// sum stands for a name where it is compared with many: a peer may send names that are long and differ in their last byte.
func sum(name []byte) uint64 { return maphash.Bytes(seed, name) }

func newScope(vocabulary *Vocabulary) scope {
	s := scope{vocabulary: vocabulary}
	s.bind([]byte("xml"), []byte(xmlNamespace))
	return s
}

// Depth is the number of elements that have begun and not ended.
func (s *scope) Depth() int { return len(s.elements) }

// Name is the index, in the vocabulary, of the name of the element whose Start or End was read last; Unknown = it has
// none there.
func (s *scope) Name() int { return s.word }

// Local is the local part of the name of the innermost element, as it is written; "" where there is none.
func (s *scope) Local() string {
	if len(s.elements) == 0 {
		return ""
	}
	name := s.innermost()
	return string(name[bytes.IndexByte(name, ':')+1:])
}

// innermost is the name of the innermost element, as it is written.
func (s *scope) innermost() []byte { return s.names[s.elements[len(s.elements)-1].name:] }

func (s *scope) push(name []byte) {
	s.elements = append(s.elements, element{name: len(s.names), bindings: len(s.bindings), generation: s.generation})
	s.names = append(s.names, name...)
}

// close ends the innermost element.
func (s *scope) close() Kind {
	last := len(s.elements) - 1
	closed := s.elements[last]
	s.elements, s.names, s.word = s.elements[:last], s.names[:closed.name], closed.word
	if len(s.bindings) > closed.bindings {
		s.bound = s.bound[:s.bindings[closed.bindings].start]
		s.bindings = s.bindings[:closed.bindings]
		s.generation = closed.generation
	}
	return End
}

// resolve finds the word for the name of the innermost element. It reports false when the prefix stands for nothing.
func (s *scope) resolve(name []byte, colon int) bool {
	var prefix []byte
	if colon > 0 {
		prefix = name[:colon]
	}
	space := noSpace
	if at := s.binding(prefix); at >= 0 {
		space = s.bindings[at].space
	} else if colon > 0 {
		return false
	}
	s.called(s.vocabulary.word(space, name[colon+1:]))
	return true
}

// called notes the word for the name of the innermost element.
func (s *scope) called(word int) {
	s.word = word
	s.elements[len(s.elements)-1].word = word
}

// binding returns the index of the binding of a prefix, -1 for none.
func (s *scope) binding(prefix []byte) int {
	wanted := sum(prefix)
	for i := len(s.bindings) - 1; i >= 0; i-- {
		if b := &s.bindings[i]; b.prefixSum == wanted && string(s.bound[b.start:b.middle]) == string(prefix) {
			return i
		}
	}
	return -1
}

func (s *scope) bind(prefix, namespace []byte) {
	s.declared++
	s.generation = s.declared
	start := len(s.bound)
	s.bound = append(append(s.bound, prefix...), namespace...)
	s.bindings = append(s.bindings, binding{
		start: start, middle: start + len(prefix), end: len(s.bound), space: s.vocabulary.space(namespace),
		prefixSum: sum(prefix), namespaceSum: sum(namespace),
	})
}

// declare reads the value of an attribute, and binds the prefix that it declares. It returns what is wrong with it.
func (s *Scanner) declare(a *attribute) (problem string, err error) {
	var ok bool
	if s.uri, ok = appendValue(s.uri[:0], a.value); !ok {
		return "a value of an attribute that can't be one", nil
	}
	prefix, ok := a.declares()
	if !ok {
		return "", nil
	}
	if problem := undeclarable(prefix, s.uri); problem != "" {
		return problem, nil
	}
	if len(s.bindings) > s.limits.Bindings { // with the one of XML itself
		return "", &LimitError{Limit: Bindings, Most: int64(s.limits.Bindings)}
	}
	s.bind(prefix, s.uri)
	return "", nil
}

// undeclarable says why a prefix can't stand for a namespace (Namespaces in XML 1.0, 2.2 and 3); "" = it can.
func undeclarable(prefix, namespace []byte) string {
	switch {
	case bytes.ContainsAny(namespace, " \t\r\n"):
		return "a namespace that is no URI reference"
	case string(prefix) == "xmlns" || string(namespace) == xmlnsNamespace:
		return "a declaration of xmlns itself"
	case (string(prefix) == "xml") != (string(namespace) == xmlNamespace):
		return "another declaration of xml than its own"
	case len(prefix) > 0 && len(namespace) == 0:
		return "a prefix that is declared to stand for nothing"
	default:
		return ""
	}
}

// qualify looks up the namespaces of a tag's attributes (Namespaces in XML 1.0, 6.2), once for each. It reports false when
// a prefix stands for nothing.
func (s *scope) qualify(attributes []attribute) bool {
	for i := range attributes {
		a := &attributes[i]
		a.nameSum = sum(a.local)
		switch string(a.prefix) {
		case "":
		case "xmlns":
			a.namespace = declarations
			a.nameSum += 31 * declarationsSum
		default:
			at := s.binding(a.prefix)
			if at < 0 {
				return false
			}
			b := &s.bindings[at]
			a.namespace = s.bound[b.middle:b.end]
			a.nameSum += 31 * b.namespaceSum
		}
	}
	return true
}
