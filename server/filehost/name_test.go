package filehost_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/unicode/norm"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestStoredNamesAreSafeAndKeepTheirExtension(t *testing.T) {
	for name, test := range map[string]struct{ host, want string }{
		"plain":                  {"report.pdf", "report.pdf"},
		"spaces and signs":       {"100% #1 + a&b?.txt", "100% #1 + a&b?.txt"},
		"markdown":               {"[x](javascript:alert(1)).md", "[x](javascript:alert(1)).md"},
		"decomposed":             {"e\u0301.txt", "é.txt"},
		"bidi override":          {"invoice\u202efdp.exe", "invoice_fdp.exe"},
		"bidi isolate":           {"a\u2067b\u2069.txt", "a_b_.txt"},
		"direction marks":        {"a\u200e\u200f\u061c.txt", "a___.txt"},
		"right to left":          {"שלום.txt", "שלום.txt"},
		"zero width":             {"a\u200b\u2060\ufeff\u00ad\u180e.txt", "a_____.txt"},
		"tags":                   {"a\U000e0041\U000e007f.txt", "a__.txt"},
		"a filler":               {"a\u3164\uffa0\u115f.txt", "a___.txt"},
		"line separators":        {"a\u2028b\u2029c\u0085d", "a_b_c_d"},
		"line break and NUL":     {"a\r\nb\x00c\x1b[31m", "a__b_c_[31m"},
		"Persian":                {"می\u200cخواهم.txt", "می\u200cخواهم.txt"},
		"emoji":                  {"👩\u200d👩\u200d👧 ❤\ufe0f.txt", "👩\u200d👩\u200d👧 ❤\ufe0f.txt"},
		"an Arabic sign":         {"\u0600\u0661.txt", "\u0600\u0661.txt"},
		"backslash":              {`..\..\etc`, ".._.._etc"},
		"not UTF-8":              {"a\xffb", "a_b"},
		"255 bytes":              {strings.Repeat("n", 251) + ".pdf", strings.Repeat("n", 236) + ".pdf"},
		"cut between characters": {strings.Repeat("ü", 120) + ".p", strings.Repeat("ü", 119) + ".p"},
		"all extension":          {"." + strings.Repeat("x", 250), "." + strings.Repeat("x", 239)},
	} {
		assert.Equal(t, test.want, filehost.StoredName(test.host), name)
	}
}

// FuzzStoredNames shows that what Mattermost gets is short, valid, normalised, visible and no path, and that a stored name
// is stored as it is.
func FuzzStoredNames(f *testing.F) {
	for _, name := range []string{"a.txt", "\u202e", "\xff/\x00", strings.Repeat("é", 200) + ".tar.gz", strings.Repeat("e\u0301", 100), "a\u034f\u0301"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		stored := filehost.StoredName(name)
		if len(stored) > 240 || !utf8.ValidString(stored) || !norm.NFC.IsNormalString(stored) || strings.ContainsAny(stored, "/\\") {
			t.Fatalf("%q is stored as %q", name, stored)
		}
		for _, r := range stored {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q is stored as %q", name, stored)
			}
		}
		if again := filehost.StoredName(stored); again != stored {
			t.Fatalf("%q is stored as %q, and then as %q", name, stored, again)
		}
		if (name == "") != (stored == "") {
			t.Fatalf("%q is stored as %q", name, stored)
		}
	})
}
