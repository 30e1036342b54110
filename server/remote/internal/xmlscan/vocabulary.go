package xmlscan

import "encoding/xml"

// Unknown is the index of a name that is not in the vocabulary.
const Unknown = -1

// noSpace is the index of a namespace that no name of the vocabulary is in.
const noSpace = -1

// Vocabulary are names that a Scanner tells apart. It can serve any number of them at once.
type Vocabulary struct {
	spaces   []string
	byLength [][]word // by the length of the local part
}

type word struct {
	local string
	space int
	index int
}

// NewVocabulary makes the vocabulary of these names. Each has a namespace.
func NewVocabulary(names []xml.Name) *Vocabulary {
	v := &Vocabulary{}
	for index, name := range names {
		space := v.space([]byte(name.Space))
		if space == noSpace {
			space = len(v.spaces)
			v.spaces = append(v.spaces, name.Space)
		}
		for len(v.byLength) <= len(name.Local) {
			v.byLength = append(v.byLength, nil)
		}
		v.byLength[len(name.Local)] = append(v.byLength[len(name.Local)], word{local: name.Local, space: space, index: index})
	}
	return v
}

func (v *Vocabulary) space(namespace []byte) int {
	for i, known := range v.spaces {
		if known == string(namespace) {
			return i
		}
	}
	return noSpace
}

func (v *Vocabulary) word(space int, local []byte) int {
	if space == noSpace || len(local) >= len(v.byLength) {
		return Unknown
	}
	for i := range v.byLength[len(local)] {
		if known := &v.byLength[len(local)][i]; known.space == space && known.local == string(local) {
			return known.index
		}
	}
	return Unknown
}
