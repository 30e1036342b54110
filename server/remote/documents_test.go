package remote

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostileDocuments are answers of a host that errs or wants to harm. Some of them are well-formed all the same.
var hostileDocuments = map[string]string{
	"nothing":                  "",
	"a mark only":              "\uFEFF",
	"a mark":                   "\uFEFF" + `<?xml version="1.0"?>` + small[strings.Index(small, "<multistatus"):],
	"half a mark":              "\xEF\xBB",
	"UTF-16":                   "\xFF\xFE<\x00",
	"another version":          `<?xml version="1.1"?>` + listingOf(""),
	"no version":               `<?xml encoding="UTF-8"?>` + listingOf(""),
	"declaration, odd":         "<?xml\tversion = '1.0' encoding\n=\r'utf-8' standalone='yes' ?>" + listingOf(""),
	"declaration, odd quotes":  `<?xml version="1.0'?>` + listingOf(""),
	"declaration, late":        " <?xml version='1.0'?>" + listingOf(""),
	"declaration, within":      listingOf("<?xml version='1.0' encoding='latin1'?>"),
	"declaration without end":  "<?xml version='1.0'" + strings.Repeat(" ", 300) + "?>" + listingOf(""),
	"declaration of Latin-1":   "<?xml version='1.0' encoding='Latin1'?>" + listingOf(responseOf("/dav/\xc4", "<d:resourcetype/>")),
	"declaration in capitals":  "<?XML version='1.0'?>" + listingOf(""),
	"instructions":             "<?a?><?xml-stylesheet href='a'?>" + listingOf("<?b ?c??>") + "<?c d?>\n",
	"instruction, odd target":  listingOf("<?a+b?>"),
	"instruction with a colon": listingOf("<?a:b c?>"),
	"instruction, no target":   listingOf("<? a?>"),
	"instruction, late target": listingOf("<?" + strings.Repeat("t", 300) + "?>"),
	"instruction with NUL":     listingOf("<?a \x00?>"),
	"comments":                 "<!-- a - b -->" + listingOf(responseOf("/d<!---->av/a", "<d:resourcetype/>")) + "<!--é-->",
	"comment with dashes":      listingOf("<!-- a -- b -->"),
	"comment of dashes":        listingOf("<!--->--><!-- a --->"),
	"comment not UTF-8":        listingOf("<!--\xff-->"),
	"comment not closed":       listingOf("") + "<!-- ",
	"text in front":            "garbage" + listingOf(""),
	"text behind":              listingOf("") + "garbage",
	"reference behind":         listingOf("") + "&#32;",
	"section behind":           listingOf("") + "<![CDATA[]]>",
	"another root":             listingOf("") + listingOf(""),
	"an end too many":          listingOf("") + "</d:multistatus>",
	"two responses of one":     listingOf("<d:response><d:href>/a</d:href><d:href> /b </d:href><d:status>HTTP/1.1 403 F</d:status></d:response>"),
	"nested texts": listingOf("<d:response><d:href>/d<b>no</b>av/a</d:href><d:status/><d:status>HTTP/1.1\u00a0404</d:status><d:propstat><d:status>1 2</d:status>" +
		"<d:prop><d:getetag>a<d:collection><d:getetag>b</d:getetag></d:collection>c</d:getetag></d:prop><d:prop><x/></d:prop><d:status>HTTP/1.1 +207</d:status></d:propstat></d:response>"),
	"statuses": listingOf("<d:response><d:href/><d:propstat><d:prop><d:getetag>a</d:getetag></d:prop><d:status>no</d:status></d:propstat>" +
		"<d:propstat><d:status>HTTP/1.1 999999999999999999999 a</d:status></d:propstat><d:propstat><d:status> HTTP/1.1\t423\t</d:status></d:propstat>" +
		"<d:propstat><d:status>HTTP/1.1 -299</d:status></d:propstat></d:response>"),
	"an empty group behind": listingOf("<d:response><d:href/><d:propstat><d:prop><d:getetag>a</d:getetag></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>" +
		"<d:propstat><d:prop/><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"),
	"nothing is left of the one before": listingOf("<d:response><d:href/><d:propstat><d:prop><d:getetag>a</d:getetag></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>" +
		"<d:propstat><d:prop><d:getetag>b</d:getetag></d:prop></d:propstat></d:response>" +
		"<d:response><d:href/><d:propstat><d:status>HTTP/1.1 403 F</d:status></d:propstat></d:response><d:response><d:href/></d:response>"),
	"a folder and more": listingOf(responseOf("/dav/a", "<d:resourcetype><d:collection/><d:principal/></d:resourcetype>")),
	"a property said twice": listingOf(responseOf("/dav/a", "<d:resourcetype><d:collection/></d:resourcetype><d:getetag>first</d:getetag>") +
		responseOf("/dav/b", "<d:getetag>1</d:getetag><d:resourcetype><d:collection/></d:resourcetype><d:getetag>22</d:getetag><d:resourcetype>x</d:resourcetype>")),
	"line ends":                   listingOf(responseOf("/a\r\n\rb\r&#10;&#13;\n<![CDATA[\r\n\r]]>\n\r<!---->\n", "")),
	"sections":                    listingOf(responseOf("<![CDATA[<&]]]>]] >]]>]]<![CDATA[]]>&#x5D;&#93;>", "")),
	"section not UTF-8":           listingOf(responseOf("<![CDATA[\xff]]>", "")),
	"section not closed":          listingOf("<![CDATA[ ]]"),
	"section of another case":     listingOf("<![cdata[]]>"),
	"end of a section":            listingOf(responseOf("]]>", "")),
	"references":                  listingOf(responseOf("&lt;&gt;&amp;&quot;&apos;&#x10FFFF;&#x00000000041;&#65;&#xfffd;", "")),
	"reference to nothing":        listingOf(responseOf("&;", "")),
	"reference to no number":      listingOf(responseOf("&#;", "")),
	"reference to no hex":         listingOf(responseOf("&#x;", "")),
	"reference in capitals":       listingOf(responseOf("&#X41;", "")),
	"reference with a sign":       listingOf(responseOf("&#+65;", "")),
	"reference with a bar":        listingOf(responseOf("&#6_5;", "")),
	"reference to NUL":            listingOf(responseOf("&#0;", "")),
	"reference to a surrogate":    listingOf(responseOf("&#xD800;", "")),
	"reference to U+FFFE":         listingOf(responseOf("&#xFFFE;", "")),
	"reference beyond Unicode":    listingOf(responseOf("&#x110000;", "")),
	"reference beyond 32 bits":    listingOf(responseOf("&#x100000041;", "")),
	"reference beyond 64 bits":    listingOf(responseOf("&#x10000000000000041;", "")),
	"reference, many zeros":       listingOf(responseOf("&#"+strings.Repeat("0", 40)+"65;", "")),
	"reference without end":       listingOf(responseOf("&amp", "")),
	"reference in an attribute":   listingOf(`<d:a b="&#xD800;"/>`),
	"entities upon entities":      `<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>` + listingOf(responseOf("/dav/&b;", "")),
	"an external entity":          `<!DOCTYPE a SYSTEM "http://evil.example.org/a.dtd">` + listingOf(""),
	"NUL":                         listingOf(responseOf("/dav/\x00", "")),
	"a control character":         listingOf(responseOf("/dav/\x1b", "")),
	"U+FFFF":                      listingOf(responseOf("/dav/\uffff", "")),
	"a surrogate":                 listingOf(responseOf("/dav/\xed\xa0\x80", "")),
	"overlong UTF-8":              listingOf(responseOf("/dav/\xc0\xaf", "")),
	"DEL and the last":            listingOf(responseOf("/dav/\x7f\u0080\U0010FFFF", "")),
	"an attribute twice":          listingOf(`<d:a b="1" c="2" b="3"/>`),
	"an attribute, two prefixes":  listingOf(`<d:a xmlns:x="u" xmlns:y="u" x:b="1" y:b="3"/>`),
	"attributes of two spaces":    listingOf(`<d:a xmlns:x="u" xmlns:y="v" x:b="1" y:b="3" b='' xml:lang="de"/>`),
	"an attribute with <":         listingOf(`<d:a b="<"/>`),
	"an attribute with >":         listingOf(`<d:a b=">" c='">'/>`),
	"an attribute with NUL":       listingOf("<d:a b='\x00'/>"),
	"an attribute without value":  listingOf(`<d:a b/>`),
	"an attribute without quotes": listingOf(`<d:a b=c/>`),
	"attributes without a space":  listingOf(`<d:a b="1"c="2"/>`),
	"many attributes":             listingOf(many("<d:a", ` a%d=""`, maxAttributes, "/>")),
	"too many attributes":         listingOf(many("<d:a", ` a%d=""`, maxAttributes+1, "/>")),
	"white space in tags":         listingOf("<d:a \n/><d:b\t></d:b\r\n><d:c\nd = '' ></d:c>"),
	"white space in front":        listingOf("< d:a/>"),
	"a slash too early":           listingOf("<d:a / >"),
	"a slash in the name":         listingOf("<d:a/b>"),
	"an end with attributes":      listingOf("<d:a></d:a b=''>"),
	"the end of another":          listingOf("<d:a></d:ab>"),
	"the end of another prefix":   listingOf(`<d:a xmlns:e="DAV:"></e:a>`),
	"ends crossed":                listingOf("<d:a><d:b></d:a></d:b>"),
	"prefix not bound":            listingOf("<e:a/>"),
	"prefix bound later":          listingOf(`<d:a xmlns:e="DAV:"/><e:a/>`),
	"prefix bound by itself":      listingOf(`<e:response xmlns:e="DAV:"><e:href>/e</e:href></e:response>`),
	"prefix bound again":          listingOf(`<d:response xmlns:d="other"><d:href>/no</d:href></d:response><d:response><d:href>/d</d:href></d:response>`),
	"prefix for nothing":          listingOf(`<d:a xmlns:e=""/>`),
	"prefix of an attribute":      listingOf(`<d:a e:b=""/>`),
	"no prefix":                   listingOf(`<response xmlns="DAV:"><href>/a</href><a xmlns=""><href/></a></response><response><href>/no</href></response>`),
	"xml elsewhere":               listingOf(`<d:a xmlns:xml="DAV:"/>`),
	"xml itself":                  listingOf(`<d:a xmlns:xml="http://www.w3.org/XML/1998/namespace" xml:b=""/>`),
	"xml by another prefix":       listingOf(`<d:a xmlns:e="http://www.w3.org/XML/1998/namespace"/>`),
	"xmlns elsewhere":             listingOf(`<d:a xmlns:xmlns="DAV:"/>`),
	"xmlns by another prefix":     listingOf(`<d:a xmlns:e="http://www.w3.org/2000/xmlns/"/>`),
	"xmlns of an element":         listingOf(`<xmlns:a/>`),
	"DAV: by a reference":         strings.Replace(listingOf(responseOf("/dav/a", "")), `"DAV:"`, `"&#68;AV&#x3a;"`, 1),
	"DAV: with a space":           strings.Replace(listingOf(""), `"DAV:"`, `"DAV: "`, 1),
	"many bindings":               listingOf(many("<d:a", ` xmlns:a%d="u"`, maxBindings-2, "/>")),
	"too many bindings":           listingOf(many("<d:a", ` xmlns:a%d="u"`, maxBindings-1, "/>")),
	"bindings of their depths":    listingOf(strings.Repeat(many("<d:a", ` xmlns:a%d="u"`, 10, ">"), 7) + strings.Repeat("</d:a>", 7)),
	"colons":                      listingOf("<d:a:b/>"),
	"a colon in front":            listingOf("<:a/>"),
	"a colon behind":              listingOf("<d:/>"),
	"a digit behind a colon":      listingOf("<d:1/>"),
	"a digit":                     listingOf("<1/>"),
	"other alphabets":             listingOf("<d:имя имя='a'/><d:a\u0301·/>"),
	"a name of the fifth edition": listingOf("<d:\U00010400/>"),
	"no name":                     listingOf("<d:\u00d7/>"),
	"a name not UTF-8":            listingOf("<d:a\xff/>"),
	"deep":                        listingOf(strings.Repeat("<d:x>", maxDepth-1) + strings.Repeat("</d:x>", maxDepth-1)),
	"too deep":                    listingOf(strings.Repeat("<d:x>", maxDepth) + strings.Repeat("</d:x>", maxDepth)),
	"a response in a response":    listingOf("<d:response><d:response><d:href>/a</d:href></d:response><d:href>/b</d:href></d:response>"),
	"a root of nothing":           `<multistatus/>`,
	"an empty root":               `<multistatus xmlns="DAV:"/>`,
	"a text longer than windows":  listingOf(responseOf("/dav/"+strings.Repeat("näme]]&amp;\r\n", 4000), "")),
	"a comment longer than that":  listingOf("<!--" + strings.Repeat(" - é", 10_000) + "-->"),
	"a tag longer than that":      listingOf(`<d:a b="` + strings.Repeat("é'&gt;", 5000) + `"/>`),
	"a tag at the limit":          listingOf(`<d:a b="` + strings.Repeat("x", maxTagBytes-len(`<d:a b=""/>`)) + `"/>`),
	"a tag above the limit":       listingOf(`<d:a b="` + strings.Repeat("x", maxTagBytes-len(`<d:a b=""/>`)+1) + `"/>`),
}

// many repeats form n times, numbered.
func many(head, form string, n int, tail string) string {
	var text strings.Builder
	text.WriteString(head)
	for i := range n {
		fmt.Fprintf(&text, form, i)
	}
	return text.String() + tail
}

// recorded are all answers that real hosts gave, by the name of the recording.
func recorded(t testing.TB) map[string]string {
	t.Helper()
	files, err := recordings.ReadDir("testdata")
	require.NoError(t, err)
	answers := map[string]string{}
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), ".xml")
		answers[name] = recording(t, name)
	}
	require.GreaterOrEqual(t, len(answers), 20)
	return answers
}
