package xmlscan

import (
	"strconv"
	"unicode/utf8"
)

// class is a set of places that a byte can't simply be passed over in, and of what it can be in a name.
type class uint8

const (
	inText        class = 1 << iota
	inCDATA             // between <![CDATA[ and ]]>
	inComment           // between <!-- and -->
	inInstruction       // between <? and ?>
	inValue             // of an attribute
	illegal             // everywhere, or to be looked at as part of a character of many bytes
	nameStart           // of an NCName (Namespaces in XML 1.0, 4)
	nameRest            // of an NCName, or the colon between two
	special       = inText | inCDATA | inComment | inInstruction | inValue | illegal
)

// classes are those of each byte.
var classes = func() (table [256]class) {
	for c := range table {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c >= utf8.RuneSelf {
			table[c] = special
		}
	}
	table['<'] |= inText | inValue
	table['&'] |= inText | inValue
	table['\r'] |= inText | inCDATA
	table[']'] |= inText | inCDATA
	table['-'] |= inComment | nameRest
	table['?'] |= inInstruction
	table['.'] |= nameRest
	table[':'] |= nameRest
	table['_'] |= nameStart | nameRest
	for c := '0'; c <= '9'; c++ {
		table[c] |= nameRest
	}
	for c := 'a'; c <= 'z'; c++ {
		table[c] |= nameStart | nameRest
		table[c-'a'+'A'] |= nameStart | nameRest
	}
	return table
}()

// plain returns the length of what b begins with that is valid and may be passed over in a place.
func plain(b []byte, stop class) int {
	for i := 0; i < len(b); {
		c := b[i]
		if classes[c]&stop == 0 {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			return i
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 || !isCharacter(r) {
			return i
		}
		i += size
	}
	return len(b)
}

// isCharacter tells whether a document may have it (XML 1.0, 2.2).
func isCharacter(r rune) bool {
	switch {
	case r < ' ':
		return r == '\t' || r == '\n' || r == '\r'
	default:
		return r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= utf8.MaxRune
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	return b
}

// qualifiedName returns the length of the qualified name (Namespaces in XML 1.0, 4) that b begins with, and where its
// colon is, -1 for none. The length is 0 where there is no such name.
func qualifiedName(b []byte) (length, colon int) {
	colon = -1
	starts := true // a name does, here
	for length < len(b) {
		c := b[length]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(b[length:])
			if !isNameStart(r) && (starts || !isNameRest(r)) || r == utf8.RuneError && size == 1 {
				return ended(length, colon, starts)
			}
			starts = false
			length += size
			continue
		case classes[c]&nameRest == 0:
			return ended(length, colon, starts)
		case c == ':':
			if starts || colon >= 0 {
				return 0, -1
			}
			colon, starts = length, true
		case starts && classes[c]&nameStart == 0:
			return 0, -1
		default:
			starts = false
		}
		length++
	}
	return ended(length, colon, starts)
}

// ended returns a name's measures, if it doesn't end where it should begin.
func ended(length, colon int, starts bool) (int, int) {
	if starts {
		return 0, -1
	}
	return length, colon
}

// isNameStart tells whether a name can begin with r, which is not of ASCII (XML 1.0, fifth edition, 2.3).
func isNameStart(r rune) bool {
	switch {
	case r < 0x370:
		return r >= 0xC0 && r != 0xD7 && r != 0xF7 && r <= 0x2FF
	case r < 0x2000:
		return r != 0x37E
	case r < 0x3001:
		return r == 0x200C || r == 0x200D || r >= 0x2070 && r <= 0x218F || r >= 0x2C00 && r <= 0x2FEF
	default:
		return r <= 0xD7FF || r >= 0xF900 && r <= 0xFDCF || r >= 0xFDF0 && r <= 0xFFFD || r >= 0x10000 && r <= 0xEFFFF
	}
}

// isNameRest tells whether r, which is not of ASCII and can't begin a name, can be in one (XML 1.0, fifth edition, 2.3).
func isNameRest(r rune) bool {
	return r == 0xB7 || r >= 0x300 && r <= 0x36F || r == 0x203F || r == 0x2040
}

// referred returns the character that a reference stands for, by what it has between & and ; (XML 1.0, 4.1 and 4.6).
func referred(reference []byte) (rune, bool) {
	switch string(reference) {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	if len(reference) < 2 || reference[0] != '#' {
		return 0, false
	}
	digits, base := reference[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	number, err := strconv.ParseUint(string(digits), base, 64)
	if err != nil || number > utf8.MaxRune {
		return 0, false
	}
	return rune(number), isCharacter(rune(number))
}
