package xmlscan

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQualifiedNames(t *testing.T) {
	for text, want := range map[string]struct{ length, colon int }{
		"a":        {1, -1},
		"a>":       {1, -1},
		"d:a/":     {3, 1},
		"_-.9 ":    {4, -1},
		"ж:é=":     {5, 2},
		"a·\u0301": {5, -1},
		"":         {0, -1},
		">":        {0, -1},
		"1":        {0, -1},
		"-a":       {0, -1},
		"·":        {0, -1},
		"×":        {0, -1},
		":a":       {0, -1},
		"a:":       {0, -1},
		"a: b":     {0, -1},
		"a:1":      {0, -1},
		"a:b:c":    {0, -1},
		"a\xff":    {1, -1},
		"a\xc3":    {1, -1},
	} {
		length, colon := qualifiedName([]byte(text))
		assert.Equal(t, want, struct{ length, colon int }{length, colon}, "%q", text)
	}
}

func TestNamesAreThoseOfTheFifthEdition(t *testing.T) {
	for _, r := range []rune{
		0xC0, 0xD6, 0xD8, 0xF6, 0xF8, 0x2FF, 0x370, 0x37D, 0x37F, 0x1FFF, 0x200C, 0x200D, 0x2070, 0x218F, 0x2C00, 0x2FEF,
		0x3001, 0xD7FF, 0xF900, 0xFDCF, 0xFDF0, 0xFFFD, 0x10000, 0xEFFFF,
	} {
		assert.True(t, isNameStart(r), "%U", r)
	}
	for _, r := range []rune{
		0xBF, 0xD7, 0xF7, 0x300, 0x36F, 0x37E, 0x2000, 0x200B, 0x200E, 0x206F, 0x2190, 0x2BFF, 0x2FF0, 0x3000,
		0xE000, 0xF8FF, 0xFDD0, 0xFDEF, 0xFFFE, 0xF0000,
	} {
		assert.False(t, isNameStart(r), "%U", r)
	}
	for _, r := range []rune{0xB7, 0x300, 0x36F, 0x203F, 0x2040} {
		assert.True(t, isNameRest(r), "%U", r)
	}
	for _, r := range []rune{0xB6, 0xB8, 0x203E, 0x2041} {
		assert.False(t, isNameRest(r), "%U", r)
	}
}
