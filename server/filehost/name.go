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

// StoredName turns the host's name of a file into one for Mattermost: NFC, at most 240 bytes long with its extension kept,
// and with an underscore for each character that ends a path, controls a terminal or can't be seen. The last let a name
// read as another: "invoice", U+202E, "fdp.exe".
func StoredName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == utf8.RuneError || unicode.IsControl(r) || invisible(r) {
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

// Shown tells whether a text of somebody else's can be shown to people as a name: UTF-8, not empty and not longer than
// limit bytes, without a character that controls a terminal or can't be seen.
func Shown(text string, limit int) bool {
	return text != "" && len(text) <= limit && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || invisible(r) })
}

// invisible tells characters that show nothing themselves, most of which change how others look (Unicode 16, 23.2). The
// joiners stay: Persian, Indic scripts and emoji are written with them.
func invisible(r rune) bool {
	switch {
	case r == '\u200c' || r == '\u200d' || unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	default:
		return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
	}
}
