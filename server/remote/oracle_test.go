package remote

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// toldResponse is one response as a reader tells of it, in a form that can be compared.
type toldResponse struct {
	Hrefs  []string
	Found  bool
	Status int
	Values map[property]toldValue
}

type toldValue struct {
	Text       string
	Elements   bool
	Collection bool
}

// oracle reads a whole answer with encoding/xml into structs, as simply as can be. What encoding/xml takes although the
// standards don't is refused in front of it, by strictTokens.
func oracle(document string) (responses []toldResponse, err error) {
	document, err = prolog(document)
	if err != nil {
		return nil, err
	}
	raw := xml.NewDecoder(strings.NewReader(document))
	decoder := xml.NewTokenDecoder(&strictTokens{raw: raw, document: document, scopes: []map[string]string{{"xml": xmlNamespace}}})
	root, err := start(decoder)
	if err != nil {
		return nil, err
	}
	if root.Name != davName("multistatus") {
		return nil, errors.New("not a multistatus")
	}
	hrefs := 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return responses, err
		}
		switch element := token.(type) {
		case xml.EndElement:
			return responses, rest(decoder)
		case xml.StartElement:
			if element.Name != davName("response") {
				if err := decoder.Skip(); err != nil {
					return responses, err
				}
				continue
			}
			var r responseForm
			if err := decoder.DecodeElement(&r, &element); err != nil {
				return responses, err
			}
			if hrefs += len(r.Href); len(r.Href) == 0 || hrefs > maxEntries {
				return responses, errors.New("no href, or too many")
			}
			responses = append(responses, r.told())
		}
	}
}

func davName(local string) xml.Name { return xml.Name{Space: nsDAV, Local: local} }

func start(decoder *xml.Decoder) (xml.StartElement, error) {
	for {
		token, err := decoder.Token()
		if err != nil {
			return xml.StartElement{}, err
		}
		if element, ok := token.(xml.StartElement); ok {
			return element, nil
		}
	}
}

// rest reads what is behind the root element.
func rest(decoder *xml.Decoder) error {
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

type responseForm struct {
	Href      []string   `xml:"DAV: href"`
	Status    string     `xml:"DAV: status"`
	Propstats []struct { // RFC 4918 14.22
		Status string `xml:"DAV: status"`
		Prop   struct {
			Properties []propertyForm `xml:",any"`
		} `xml:"DAV: prop"`
	} `xml:"DAV: propstat"`
}

type propertyForm struct {
	XMLName  xml.Name
	Text     string `xml:",chardata"`
	Children []struct {
		XMLName xml.Name
	} `xml:",any"`
}

func (r responseForm) told() toldResponse {
	told := toldResponse{Hrefs: r.Href, Status: codeOf(r.Status), Values: map[property]toldValue{}}
	for _, group := range r.Propstats {
		code := codeOf(group.Status)
		if code/100 != 2 {
			if told.Status == 0 {
				told.Status = code
			}
			continue
		}
		for _, each := range group.Prop.Properties {
			told.Found = true
			if name := slices.Index(propertyNames[:], each.XMLName); name >= 0 {
				value := toldValue{Text: each.Text, Elements: len(each.Children) > 0}
				for _, child := range each.Children {
					value.Collection = value.Collection || child.XMLName == davName("collection")
				}
				told.Values[property(name)] = value
			}
		}
	}
	if told.Found {
		told.Status = http.StatusOK
	}
	return told
}

func codeOf(line string) int {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return 0
	}
	code, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return code
}

// declarationForm is that of XML 1.0, 2.8.
var (
	declarationHead = regexp.MustCompile(`^<\?xml[ \t\r\n]`)
	declarationForm = regexp.MustCompile(strings.ReplaceAll(
		`^<\?xml_+version_*=_*("1\.0"|'1\.0')(_+encoding_*=_*("[A-Za-z][-A-Za-z0-9.\x5F]*"|'[A-Za-z][-A-Za-z0-9.\x5F]*'))?`+
			`(_+standalone_*=_*("yes"|"no"|'yes'|'no'))?_*\?>$`, "_", "[ \t\r\n]"))
)

// prolog returns a document in UTF-8, without byte order mark and XML declaration. encoding/xml takes a mark for text,
// and a declaration everywhere and in any form.
func prolog(document string) (string, error) {
	document = strings.TrimPrefix(document, "\uFEFF")
	if !declarationHead.MatchString(document) {
		return document, nil
	}
	head, rest, _ := strings.Cut(document, "?>")
	match := declarationForm.FindStringSubmatch(head + "?>")
	if match == nil || len(head+"?>") > 256 {
		return "", errors.New("no XML declaration")
	}
	encoding := strings.Trim(match[3], `"'`)
	if encoding == "" || strings.EqualFold(encoding, "utf-8") {
		return rest, nil
	}
	translated, err := charset(encoding, strings.NewReader(rest))
	if err != nil {
		return "", err
	}
	raw, err := io.ReadAll(translated)
	return string(raw), err
}

// strictTokens hands out the tokens of encoding/xml and refuses what that takes although it isn't well-formed (XML 1.0),
// not so in its namespaces (Namespaces in XML 1.0), or above the limits.
type strictTokens struct {
	raw      *xml.Decoder
	document string
	rooted   bool
	scopes   []map[string]string // of the elements around, by prefix
}

// Token implements xml.TokenReader.
func (s *strictTokens) Token() (xml.Token, error) {
	from := s.raw.InputOffset()
	token, err := s.raw.RawToken()
	if token == nil {
		return nil, err
	}
	written := s.document[from:s.raw.InputOffset()]
	if problem := s.problem(token, written); problem != "" {
		return nil, errors.New(problem)
	}
	return token, err
}

func (s *strictTokens) problem(token xml.Token, written string) string {
	switch token := token.(type) {
	case xml.StartElement:
		return s.started(token, written)
	case xml.EndElement:
		if len(s.scopes) > 1 {
			s.scopes = s.scopes[:len(s.scopes)-1]
		}
	case xml.CharData:
		section := strings.HasPrefix(written, "<![CDATA[")
		if len(s.scopes) == 1 && (section || strings.Trim(written, " \t\r\n") != "") {
			return "text outside of the root"
		}
		if !section && badReference(written) {
			return "a reference to no character"
		}
	case xml.Comment:
		return characters(string(token))
	case xml.ProcInst:
		if !instructionForm.MatchString(written) || strings.EqualFold(token.Target, "xml") || len(token.Target) > 256 {
			return "no target"
		}
		return characters(string(token.Inst))
	case xml.Directive:
		return "a document type declaration"
	}
	return ""
}

// characters says what is wrong with a comment or an instruction, whose characters encoding/xml doesn't look at.
func characters(text string) string {
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 || r < ' ' && !strings.ContainsRune("\t\r\n", r) || r == 0xFFFE || r == 0xFFFF {
			return "no character"
		}
		rest = rest[size:]
	}
	return ""
}

// ncName is an NCName of XML 1.0 in its fifth edition, and QName two of them.
const (
	nameStartForm = `A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}\x{2070}-\x{218F}` +
		`\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}`
	ncName = `[` + nameStartForm + `][-.0-9\x{B7}\x{300}-\x{36F}\x{203F}-\x{2040}` + nameStartForm + `]*`
	qName  = ncName + `(?::` + ncName + `)?`
)

var (
	// instructionForm: encoding/xml wants no white space behind the target.
	instructionForm = regexp.MustCompile(`^<\?` + ncName + `(?:[ \t\r\n]|\?>)`)
	// tagForm: encoding/xml wants no white space in front of an attribute, and takes names with colons at their ends.
	tagForm   = regexp.MustCompile(`^<` + qName + `(?:[ \t\r\n]+` + qName + `[ \t\r\n]*=[ \t\r\n]*(?:"[^"]*"|'[^']*'))*[ \t\r\n]*/?>$`)
	nameForm  = regexp.MustCompile(`^` + qName + `$`)
	reference = regexp.MustCompile(`&[^;]*;?`)
)

// badReference finds references to what is no character, for which encoding/xml takes U+FFFD, and those that are longer
// than a reference can be without zeros in front of it.
func badReference(written string) bool {
	return slices.ContainsFunc(reference.FindAllString(written, -1), func(each string) bool {
		digits, numeric := strings.CutPrefix(strings.TrimSuffix(each, ";"), "&#")
		base := 10
		if hex, ok := strings.CutPrefix(digits, "x"); ok {
			digits, base = hex, 16
		}
		number, err := strconv.ParseUint(digits, base, 64)
		return len(each) > 32 || numeric && (err != nil || number >= 0xD800 && number <= 0xDFFF)
	})
}

const (
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsNamespace = "http://www.w3.org/2000/xmlns/"
)

func (s *strictTokens) started(element xml.StartElement, written string) string {
	switch {
	case len(s.scopes) == 1 && s.rooted:
		return "a second root"
	case len(s.scopes) > maxDepth:
		return "too deep"
	case !tagForm.MatchString(written):
		return "no tag"
	case badReference(written):
		return "a reference to no character"
	case len(written) > maxTagBytes || len(element.Attr) > maxAttributes:
		return "too long"
	}
	s.rooted = true
	bindings := 0
	scope := map[string]string{}
	for _, attribute := range element.Attr {
		prefix := attribute.Name.Local
		if attribute.Name == (xml.Name{Local: "xmlns"}) {
			prefix = ""
		} else if attribute.Name.Space != "xmlns" {
			continue
		}
		if _, twice := scope[prefix]; twice || !declarable(prefix, attribute.Value) {
			return "no namespace declaration"
		}
		scope[prefix] = attribute.Value
	}
	s.scopes = append(s.scopes, scope)
	for _, scope := range s.scopes {
		bindings += len(scope)
	}
	if bindings-1 > maxBindings {
		return "too many bindings"
	}
	return s.names(element)
}

func declarable(prefix, namespace string) bool {
	return !strings.ContainsAny(namespace, " \t\r\n") && prefix != "xmlns" && namespace != xmlnsNamespace &&
		(prefix == "xml") == (namespace == xmlNamespace) && (prefix == "" || namespace != "")
}

// names checks that prefixes are bound and attributes are there once.
func (s *strictTokens) names(element xml.StartElement) string {
	if _, bound := s.lookup(element.Name.Space); !bound {
		return "unbound prefix of an element"
	}
	seen := map[string]bool{}
	for _, attribute := range element.Attr {
		name := attribute.Name
		if name.Space != "" && name.Space != "xmlns" {
			namespace, bound := s.lookup(name.Space)
			if !bound {
				return "unbound prefix of an attribute"
			}
			name.Space = "{" + namespace + "}"
		}
		key := fmt.Sprint(name.Space, " ", name.Local)
		if seen[key] {
			return "the same attribute twice"
		}
		seen[key] = true
	}
	return ""
}

func (s *strictTokens) lookup(prefix string) (string, bool) {
	for _, scope := range slices.Backward(s.scopes) {
		if namespace, ok := scope[prefix]; ok {
			return namespace, true
		}
	}
	return "", prefix == ""
}

// otherEdition tells whether encoding/xml refused a name only because it goes by the fourth edition of XML 1.0, which has
// fewer characters for names. We go by the fifth, as the parsers of the hosts do.
func otherEdition(err error) bool {
	var syntax *xml.SyntaxError
	if !errors.As(err, &syntax) {
		return false
	}
	name, ok := strings.CutPrefix(syntax.Msg, "invalid XML name: ")
	return ok && nameForm.MatchString(name)
}
