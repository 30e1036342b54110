package filehost

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// collation makes keys that sort names in natural order: as Unicode does (UTS 10), case ignored, numbers by their value. It
// is not safe for concurrent use.
type collation struct {
	collator *collate.Collator
	buffer   collate.Buffer
	text     []byte
	made     []byte
}

func newCollation() *collation {
	return &collation{collator: collate.New(language.Und, collate.IgnoreCase)}
}

// key returns the key of a name. It is valid until the next call.
func (c *collation) key(name string) []byte {
	c.text = appendNatural(c.text[:0], name)
	if isASCII(c.text) {
		c.made = appendASCIIKey(c.made[:0], c.text)
		return c.made
	}
	c.buffer.Reset()
	return c.collator.Key(&c.buffer, c.text)
}

// appendNatural appends a text that collates as name does in natural order: before the digits of each number stands how
// many they are, without leading zeros. The collator's own Numeric option puts "0 x" after "9999 x".
func appendNatural(text []byte, name string) []byte {
	for i := 0; i < len(name); {
		if !isDigit(name[i]) {
			text = append(text, name[i])
			i++
			continue
		}
		start := i
		for i < len(name) && isDigit(name[i]) {
			i++
		}
		for start < i && name[start] == '0' {
			start++
		}
		length := i - start
		text = append(text, digits[length/1000%10], digits[length/100%10], digits[length/10%10], digits[length%10])
		text = append(text, name[start:i]...)
	}
	return text
}

const digits = "0123456789"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// asciiWeights are the collator's weights of the ASCII characters. In Unicode's root order none of them collates in another way
// beside another one, so that the key of an ASCII text is put together from theirs: the primary weights of all, two
// zeros, and the secondary weights of all. That takes a small part of the collator's time.
var asciiWeights = sync.OnceValue(func() *[utf8.RuneSelf]weights {
	table := new([utf8.RuneSelf]weights)
	collator := collate.New(language.Und, collate.IgnoreCase)
	for c := range table {
		var buffer collate.Buffer
		key := bytes.Clone(collator.KeyFromString(&buffer, string(rune(c))))
		end := 0
		for key[end] != 0 || key[end+1] != 0 { // a primary weight has two bytes, or three if its first bit is set
			end += 2 + int(key[end]>>7)
		}
		table[c] = weights{key[:end:end], key[end+2:]}
	}
	return table
})

type weights struct{ primary, secondary []byte }

func appendASCIIKey(key, text []byte) []byte {
	table := asciiWeights()
	for _, c := range text {
		key = append(key, table[c].primary...)
	}
	key = append(key, 0, 0)
	for _, c := range text {
		key = append(key, table[c].secondary...)
	}
	return key
}
