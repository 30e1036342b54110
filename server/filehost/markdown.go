package filehost

import (
	"net/url"
	"strings"
	"unicode"
)

// maxLiteral is how much of a name a message shows, in characters.
const maxLiteral = 64

// literal shows a name that somebody else chose in a Markdown message as it is: as code, in which nothing is a link, a
// mention or an emoji. What would end the code is left out or replaced.
func literal(name string) string {
	shown := []rune(strings.Map(func(r rune) rune {
		switch {
		case r == '`':
			return '\''
		case r == unicode.ReplacementChar, invisible(r):
			return -1
		case unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name))
	if len(shown) > maxLiteral {
		shown = append(shown[:maxLiteral], '…')
	}
	if text := strings.TrimSpace(string(shown)); text != "" {
		return "`" + text + "`"
	}
	return "`?`"
}

// Literal is a name that somebody else chose, as Markdown that shows it as it is.
func Literal(name string) string { return literal(name) }

// linkable is an address that ends no Markdown link before its own end, nor begins code in which that would be none.
func linkable(address string) string {
	var text strings.Builder
	for _, r := range address {
		if strings.ContainsRune("()<>\\`\"", r) || unicode.IsSpace(r) {
			text.WriteString(url.PathEscape(string(r)))
			continue
		}
		text.WriteRune(r)
	}
	return text.String()
}
