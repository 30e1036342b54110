package filehost

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxStoredName is the longest file name that Mattermost keeps in every set-up, in bytes: its upload hook adds an ending
// of its own to the name of a file on disk, which may have 255.
const maxStoredName = 240

// StoredName turns the host's name of a file into one for Mattermost: NFC, without characters that end a path, control a
// terminal or turn the direction of text, and at most 240 bytes long with its extension kept.
func StoredName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return '_'
		}
		return r
	}, norm.NFC.String(name))
	if len(name) <= maxStoredName {
		return name
	}
	extension := path.Ext(name)
	if len(extension) > maxStoredName/2 {
		extension = ""
	}
	return cutUTF8(name, maxStoredName-len(extension)) + extension
}

func cutUTF8(text string, limit int) string {
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
