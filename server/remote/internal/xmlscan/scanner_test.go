package xmlscan

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
)

// known are the names that the tests tell apart.
var known = []xml.Name{{Space: "one", Local: "a"}, {Space: "one", Local: "b"}, {Space: "two", Local: "a"}}

// roomy has limits that no test comes near to, but those about limits.
var roomy = Config{
	Vocabulary: NewVocabulary(known),
	Limits:     Limits{Document: 1 << 40, Part: 1 << 40, Tag: 4096, Depth: 100, Attributes: 20, Bindings: 20},
	Window:     512,
}

// tokens reads a document and writes down what it has: (a for the start of a known name, (? for another, ) for an end,
// and text in quotes.
func tokens(source io.Reader, config Config) (string, error) {
	s := New(source, config)
	var seen strings.Builder
	var text []byte
	for {
		kind, err := s.Next()
		if kind == Text {
			text = append(text, s.Text()...)
			continue
		}
		if len(text) > 0 {
			fmt.Fprintf(&seen, "%q", text)
			text = nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return seen.String(), nil
		case err != nil:
			return seen.String(), err
		case kind == End:
			seen.WriteString(")")
		case s.Name() == Unknown:
			seen.WriteString("(?" + s.Local())
		default:
			seen.WriteString("(" + known[s.Name()].Space + ":" + s.Local())
		}
	}
}

func TestTokens(t *testing.T) {
	for name, c := range map[string]struct{ document, want string }{
		"a root":                 {`<a/>`, `(?a)`},
		"a known name":           {`<a xmlns="one"/>`, `(one:a)`},
		"by a prefix":            {`<p:a xmlns:p="two"></p:a>`, `(two:a)`},
		"of another namespace":   {`<p:b xmlns:p="two"/>`, `(?b)`},
		"a prefix for a while":   {`<a xmlns="one"><a xmlns="two"><a/></a><a/></a>`, `(one:a(two:a(two:a))(one:a))`},
		"the same tag, by turns": {`<x><p:a xmlns:p="one"><p:b/></p:a><p:a xmlns:p="two"><p:b/><p:a/></p:a></x>`, `(?x(one:a(one:b))(two:a(?b)(two:a)))`},
		"no namespace":           {`<a xmlns="one"><b xmlns=""/><b/></a>`, `(one:a(?b)(one:b))`},
		"texts":                  {`<a>x &lt;<b/>]] <![CDATA[<]]]>&#x41;</a>`, `(?a"x <"(?b)"]] <]A")`},
		"comments":               {`<!-- - --><a>x<!----><?y?>z</a><!-- -->`, `(?a"xz")`},
		"line ends":              {"<a>1\r\n2\r3\n4\r\r\n5\r<!---->\n</a>", `(?a"1\n2\n3\n4\n\n5\n\n")`},
		"of other alphabets":     {`<ж:é xmlns:ж="one"><ж:a/></ж:é>`, `(?é(one:a))`},
		"declared":               {"\uFEFF<?xml version='1.0'\n?>\n<a/>\n", `(?a)`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, window := range []int{16, 17, 512} {
				config := roomy
				config.Window = window
				for _, source := range []io.Reader{
					strings.NewReader(c.document),
					iotest.OneByteReader(strings.NewReader(c.document)),
					iotest.DataErrReader(strings.NewReader(c.document)),
				} {
					seen, err := tokens(source, config)
					require.NoError(t, err)
					assert.Equal(t, c.want, seen)
				}
			}
			for cut := range strings.LastIndex(c.document, ">") {
				if strings.HasSuffix(c.document[:cut], "</a>") {
					continue // whole, but for the comment behind it
				}
				_, err := tokens(strings.NewReader(c.document[:cut]), roomy)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut at %d", cut)
			}
		})
	}
}

func TestWhatIsNotWellFormedIsTold(t *testing.T) {
	for document, offset := range map[string]int64{
		"x":                            0,
		"<a/>x":                        4,
		"<a/><b/>":                     4,
		"</a>":                         0,
		"<a></b>":                      3,
		"<a>\x00</a>":                  3,
		"<a>é\xff</a>":                 5,
		"<a>]]></a>":                   3,
		"<a>&b;</a>":                   3,
		"<a b='&b;'/>":                 0,
		"<a b='1' b='2'/>":             0,
		"<b:a/>":                       0,
		"<a><!DOCTYPE a></a>":          3,
		"<!DOCTYPE a><a/>":             0,
		"<a><?xml version='1.0'?></a>": 5,
		"<?xml version='2.0'?><a/>":    0,
		"<![CDATA[]]><a/>":             9,
		"<a xmlns:b=''/>":              0,
		"<a xmlns:b='c d'/>":           0,
		"<a><?b+c?></a>":               6,
		"<a><?b:c d?></a>":             5,
	} {
		s := New(strings.NewReader(document), roomy)
		var err error
		for err == nil {
			_, err = s.Next()
		}
		var syntax *SyntaxError
		require.ErrorAs(t, err, &syntax, document)
		assert.Equal(t, offset, syntax.Offset, document)
		assert.Contains(t, err.Error(), fmt.Sprintf("at byte %d: %s", syntax.Offset, syntax.Problem))

		_, again := s.Next()
		assert.Equal(t, err, again, "an error stays")
	}
}

// endless gives head, and then body again and again, and counts what is read.
type endless struct {
	head, body string
	read       int64
}

func (e *endless) Read(p []byte) (n int, err error) {
	if e.head == "" {
		e.head = strings.Repeat(e.body, 1+len(p)/len(e.body))
	}
	n = copy(p, e.head)
	e.head = e.head[n:]
	e.read += int64(n)
	return n, nil
}

func TestNothingIsWithoutLimit(t *testing.T) {
	limited := roomy
	limited.Limits = Limits{Document: 1 << 20, Part: 100 << 10, Tag: 1000, Depth: 5, Attributes: 3, Bindings: 4}
	for name, c := range map[string]struct {
		head, body string
		limit      Limit
		most       int64
	}{
		"a text":                     {"<a>", "text", PartBytes, 100 << 10},
		"a text of references":       {"<a>", "&#x41;", PartBytes, 100 << 10},
		"a CDATA section":            {"<a><![CDATA[", "]]", PartBytes, 100 << 10},
		"a comment":                  {"<a><!--", " -", PartBytes, 100 << 10},
		"an instruction":             {"<a><?b ", "?", PartBytes, 100 << 10},
		"white space in front":       {"", " ", PartBytes, 100 << 10},
		"white space behind":         {"<a/>", "\n", PartBytes, 100 << 10},
		"comments behind":            {"<a/>", "<!---->", PartBytes, 100 << 10},
		"empty elements":             {"<a>", "<b/>", PartBytes, 100 << 10},
		"a name":                     {"<a", "a", TagBytes, 1000},
		"the name of an end":         {"<a></", "a", TagBytes, 1000},
		"a value":                    {"<a b='", ">", TagBytes, 1000},
		"white space in a tag":       {"<a", " ", TagBytes, 1000},
		"elements within each other": {"", "<a>", Depth, 5},
		"those with attributes":      {"", "<a b=''>", Depth, 5},
		"attributes":                 {"<a b='' c='' d='' e=''>", " ", Attributes, 3},
		"bindings":                   {"<a xmlns='a' xmlns:b='b' xmlns:c='c'><d xmlns:b='d'><d xmlns:b='e'>", " ", Bindings, 4},
	} {
		t.Run(name, func(t *testing.T) {
			source := &endless{head: c.head, body: c.body}
			_, err := tokens(source, limited)
			var limit *LimitError
			require.ErrorAs(t, err, &limit)
			assert.Equal(t, LimitError{Limit: c.limit, Most: c.most}, *limit)
			assert.ErrorContains(t, err, fmt.Sprintf("more than %d %s", c.most, c.limit))
			assert.LessOrEqual(t, source.read, int64(len(c.head))+c.most+4096, "it was not read on")
		})
	}
}

func TestADocumentHasALimitHoweverManyPartsItHas(t *testing.T) {
	config := roomy
	config.Limits.Document, config.Limits.Part = 50_000, 100
	s := New(&endless{head: "<a>", body: "<b/>"}, config)
	var err error
	for err == nil {
		s.NewPart()
		_, err = s.Next()
	}
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, LimitError{Limit: DocumentBytes, Most: 50_000}, *limit)
}

func TestLimitsAreWhatMayBeReached(t *testing.T) {
	config := roomy
	config.Limits = Limits{Document: 1 << 20, Part: 1 << 20, Tag: 40, Depth: 2, Attributes: 2, Bindings: 2}
	config.Window = 16
	for _, document := range []string{
		"<a><b/></a>",
		"<a b='' c=''/>",
		"<a xmlns='b'><b xmlns='c'/><b xmlns='d'/></a>",
		"<" + strings.Repeat("a", 37) + "/>",
		"<a b='" + strings.Repeat("c", 31) + "'/>",
	} {
		_, err := tokens(strings.NewReader(document), config)
		assert.NoError(t, err, document)
	}
	config.Limits.Document = 4
	_, err := tokens(strings.NewReader("<a/>"), config)
	assert.NoError(t, err)
}

func TestErrorsOfTheSourceAreItsOwn(t *testing.T) {
	lost := errors.New("connection lost")
	for cut := range len("<a>b</a>") + 1 {
		_, err := tokens(io.MultiReader(strings.NewReader("<a>b</a>"[:cut]), iotest.ErrReader(lost)), roomy)
		require.Equal(t, lost, err, "even behind the end of the root: the document may go on, cut at %d", cut)
	}
	_, err := tokens(io.MultiReader(strings.NewReader("<a>"), idle{}), roomy)
	assert.Equal(t, io.ErrNoProgress, err)
}

// idle is a source that gives nothing and doesn't end.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestOtherEncodings(t *testing.T) {
	config := roomy
	document := "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9\r\n" + strings.Repeat("\xe4", 2000) + "</a>"
	_, err := tokens(strings.NewReader(document), config)
	assert.ErrorContains(t, err, "encoding")

	unknown := errors.New("unknown")
	config.Charset = func(label string, source io.Reader) (io.Reader, error) {
		if label != "ISO-8859-1" {
			return nil, unknown
		}
		return charmap.ISO8859_1.NewDecoder().Reader(source), nil
	}
	for _, source := range []io.Reader{
		strings.NewReader(document), iotest.OneByteReader(strings.NewReader(document)), iotest.DataErrReader(strings.NewReader(document)),
	} {
		seen, err := tokens(source, config)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("(?a%q)", "é\n"+strings.Repeat("ä", 2000)), seen)
	}
	_, err = tokens(strings.NewReader("<?xml version='1.0' encoding='koi8-r'?><a/>"), config)
	require.Equal(t, unknown, err)

	lost := errors.New("connection lost")
	_, err = tokens(&both{text: document[:60], err: lost}, config)
	require.Equal(t, lost, err, "one that comes with the last bytes is not forgotten")
}

// both gives its text and its error at once, and then claims to be at its end.
type both struct {
	text string
	err  error
}

func (b *both) Read(p []byte) (int, error) {
	n, err := copy(p, b.text), b.err
	b.text, b.err = b.text[n:], io.EOF
	return n, err
}

func TestContentAndSkipReadOneElement(t *testing.T) {
	const document = `<a><b>text</b><b/><b>x&amp;y</b><b><c/></b><b>t<!-- --></b><b>last</b></a>`
	for _, window := range []int{16, 512} {
		config := roomy
		config.Window = window
		for skipped := range 7 {
			s := New(strings.NewReader(document), config)
			elements := 0
			var err error
			for err == nil {
				var kind Kind
				if kind, err = s.Next(); kind != Start || s.Depth() != 2 {
					continue
				}
				if elements == skipped {
					require.NoError(t, s.Skip())
					assert.Equal(t, 1, s.Depth())
				}
				elements++
			}
			require.ErrorIs(t, err, io.EOF)
			assert.Equal(t, 6, elements, "skipped %d", skipped)
		}
	}
	s := New(strings.NewReader(document), roomy)
	var contents []string
	for kind, err := s.Next(); err == nil; kind, err = s.Next() {
		if kind == Start && s.Depth() == 2 {
			text, all := s.Content()
			contents = append(contents, fmt.Sprint(string(text), all))
		}
	}
	assert.Equal(t, []string{"texttrue", "true", "false", "false", "false", "lasttrue"}, contents)
}

func TestNothingIsAllocatedForTokens(t *testing.T) {
	body := bytes.Repeat([]byte(`<p:a q:b="c" xmlns:q="two">&amp;<q:a>text</q:a><q:b/><!-- --><![CDATA[x]]></p:a>`), 100)
	document := []byte(`<p:a xmlns:p="one">` + string(bytes.Repeat(body, 100)) + `</p:a>`)
	read := func() {
		s := New(bytes.NewReader(document), roomy)
		for {
			if _, err := s.Next(); err != nil {
				require.ErrorIs(t, err, io.EOF)
				return
			}
		}
	}
	assert.Less(t, testing.AllocsPerRun(5, read), 40.0, "of 120,000 tokens")
}
