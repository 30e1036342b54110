package remote

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// author writes answers that are mostly well-formed, in all ways that XML has to say the same. Its choices come from a
// fuzzer.
type author struct {
	choices []byte
	text    strings.Builder
}

// most of an answer of an author's, in bytes.
const mostWritten = 4 << 10

// pick makes a choice between n; it is 0 when there are no more choices.
func (a *author) pick(n int) int {
	if len(a.choices) == 0 {
		return 0
	}
	choice := int(a.choices[0]) % n
	a.choices = a.choices[1:]
	return choice
}

func (a *author) write(one ...string) { a.text.WriteString(one[a.pick(len(one))]) }

// err writes something that can't be there, now and then.
func (a *author) err(one ...string) {
	if a.pick(200) == 199 {
		a.write(one...)
	}
}

// answer writes a whole one.
func (a *author) answer() string {
	a.write("", "", "\uFEFF")
	a.err("\n")
	a.write("", `<?xml version="1.0"?>`, "<?xml version='1.0' encoding='UTF-8' ?>\n", `<?xml version="1.0" encoding="latin1"?>`)
	a.write("", "", "<!-- a -->", "<?a b?>")
	a.err("text", "<!DOCTYPE a>", "<![CDATA[]]>")
	a.element("multistatus", []string{"response", "response", "response", "responsedescription"}, 0)
	a.write("", "", "\n", "<!-- a -->", "<?a?>")
	a.err("text", "<a/>", "&#32;", "\x00")
	return a.text.String()
}

// childrenOf says what mostly is in an element.
var childrenOf = map[string][]string{
	"response":         {"href", "href", "propstat", "propstat", "status", "error"},
	"propstat":         {"prop", "prop", "status", "status"},
	"prop":             {"getetag", "getcontentlength", "resourcetype", "size", "share-types", "unknown"},
	"resourcetype":     {"collection", "principal"},
	"share-types":      {"share-type"},
	"href":             {"a"},
	"status":           {"a"},
	"getetag":          {"collection"},
	"getcontentlength": {"a"},
}

func (a *author) element(local string, children []string, depth int) {
	if depth > 0 && a.pick(40) == 39 {
		local = "other"
	}
	name := local
	switch choice := a.pick(12); {
	case choice < 9 || depth == 0:
		name = "d:" + local
	case choice == 9:
		name = "o:" + local
	case choice == 10:
		name = "x:" + local
	}
	a.text.WriteString("<" + name)
	if depth == 0 {
		a.text.WriteString(` xmlns:d="DAV:"`)
		a.write("", ` xmlns="DAV:"`, ` xmlns="http://owncloud.org/ns"`)
		a.text.WriteString(` xmlns:o="http://owncloud.org/ns" xmlns:x="http://nextcloud.org/ns"`)
	}
	for depth > 0 && a.pick(8) == 7 {
		a.write(` xmlns="DAV:"`, ` xmlns=""`, ` xmlns:x='DAV:'`, ` xmlns:d="http://owncloud.org/ns"`, ` a="&lt;'"`, "\n", ` x:a=">"`, ` b = ''`)
		a.err(` a="<"`, ` xmlns:x=""`, ` y:a=""`, `a=''`, ` a="&a;"`)
	}
	if a.pick(12) == 11 && local != "response" {
		a.write("/>", " />", "\n/>")
		return
	}
	a.write(">", ">", ">", " >", "\r\n>")
	if local == "response" && a.pick(20) > 0 {
		a.element("href", nil, depth+1)
	}
	a.content(local, children, depth)
	a.err("</x>", "</d:other>")
	a.text.WriteString("</" + name)
	a.write(">", ">", ">", "\t>")
}

func (a *author) content(local string, children []string, depth int) {
	for len(a.choices) > 0 && a.text.Len() < mostWritten {
		switch choice := a.pick(10); {
		case choice == 0 && (depth > 1 || a.pick(8) == 7):
			return
		case choice < 6 && len(children) > 0 && depth < 8:
			child := children[a.pick(len(children))]
			a.element(child, childrenOf[child], depth+1)
		case local == "status" && choice < 9:
			a.write("HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found", "HTTP/1.1 207", "HTTP/1.1", "200", " HTTP/1.1\n423 Locked ", "HTTP/1.1\u2003403", "x 2 00", "")
		default:
			a.write("a", "/dav/é%20b", " ", "\r\n", "\r", "\n", "&amp;", "&#x41;", "&quot;", "]]", "<![CDATA[a]]]]>", "<![CDATA[\r<&]]>", "<!-- a -->", "<?a b?>",
				">", "\U0001F600")
			a.err("]]>", "&a;", "\x01", "\xff", "&#xD800;", "<!--a--b-->")
		}
	}
}

// TestAnswersOfManyFormsAreReadAsEncodingXMLReadsThem does what FuzzForms does, from where nothing is left to chance.
func TestAnswersOfManyFormsAreReadAsEncodingXMLReadsThem(t *testing.T) {
	whole := 0
	for seed := range uint64(1000) {
		source := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
		choices := make([]byte, 20+seed%200)
		_, _ = source.Read(choices)
		document := (&author{choices: choices}).answer()
		holdToOracle(t, document)
		if _, err := oracle(document); err == nil && strings.Contains(document, "href") {
			whole++
		}
	}
	if whole < 200 {
		t.Errorf("only %d of the answers say anything", whole)
	}
}

func FuzzForms(f *testing.F) {
	f.Add([]byte("any choices"))
	f.Fuzz(func(t *testing.T, choices []byte) { holdToOracle(t, (&author{choices: choices}).answer()) })
}
