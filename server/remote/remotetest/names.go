package remotetest

import "strings"

// Names are those that careless code loses. None is another's in another case or form.
var Names = []string{
	"plain.txt", "no extension", "two  spaces.txt", " space before", "space behind ", "#1.txt", "100% done.txt", "%2e%2e", "a%2Fb", "%00", "%zz", "%",
	"a+b=c.txt", "this & that; and, so on.txt", "what?.txt", "a:b@c.txt", "it's.txt", `"quoted".txt`, "<b>&amp;.txt", "]]>", "a|b*c",
	"[x](javascript:alert(1)).txt", "~$HOME`id`", "{user}.txt", "-rf", ".hidden", "..hidden", "...", "trailing dots..",
	"party 🎉👩‍👩‍👧.txt", "Ärger composed", "E\u0301clair decomposed", "русский", "日本語", "שלום right to left",
	"invoice\u202efdp.exe", "zero\u200bwidth",
	`back\slash`, "two\nlines", "tab\tbed", "\x01control", "latin \xe9",
	strings.Repeat("long", 50), Longest, LongestUmlauts,
}

// Longest has all the bytes that a name can have on common file systems.
var Longest = strings.Repeat("n", 255)

// LongestUmlauts has half as many characters as bytes: all but one of those there can be.
var LongestUmlauts = strings.Repeat("ü", 127)
