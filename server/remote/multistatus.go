package remote

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// The limits of a multistatus answer. What is above them is an error, never a short listing.
const (
	maxAnswerBytes   = 1 << 30   // of one answer, uncompressed
	maxEntries       = 1_000_000 // of one answer: hrefs, of which a response may have many
	maxResponseBytes = 256 << 10 // of what stands for one entry, so that no token is longer either
	maxDepth         = 32        // of elements
)

// errAnswerTooLarge is the cause of the error for an answer above the limits.
var errAnswerTooLarge = errors.New("the multistatus answer is larger than its limit")

// multistatus reads an answer of that name (RFC 4918 13) while it arrives, entry by entry. It holds one of them at a
// time.
type multistatus struct {
	source  *meter
	decoder *xml.Decoder
	open    bool // <multistatus> has begun
	entries int
}

func newMultistatus(source io.Reader) *multistatus {
	m := &multistatus{source: &meter{reader: bufio.NewReaderSize(source, 32<<10), whole: maxAnswerBytes}}
	raw := xml.NewDecoder(m.source)
	raw.CharsetReader = charset
	m.decoder = xml.NewTokenDecoder(&strictTokens{raw: raw})
	return m
}

// response is what the answer says of one entry (RFC 4918 14.24), or of many of which it says the same.
type response struct {
	hrefs  []string
	values *properties // nil when there are none
	status int         // 200, or why there are no values; 0 = the host doesn't say
}

// responseElement is the form of a response.
type responseElement struct {
	Href      []string   `xml:"DAV: href"`
	Status    string     `xml:"DAV: status"`
	Propstats []propstat `xml:"DAV: propstat"`
}

// propstat is a group of properties with one status (RFC 4918 14.22).
type propstat struct {
	Status string `xml:"DAV: status"`
	Prop   struct {
		Properties []propertyElement `xml:",any"`
	} `xml:"DAV: prop"`
}

type propertyElement struct {
	XMLName  xml.Name
	Text     string         `xml:",chardata"`
	Children []childElement `xml:",any"`
}

type childElement struct {
	XMLName xml.Name
}

// next returns the next entry, and io.EOF only after the end of the whole answer.
func (m *multistatus) next() (response, error) {
	m.source.part = maxResponseBytes
	for {
		token, err := m.decoder.Token()
		if errors.Is(err, io.EOF) {
			return response{}, io.ErrUnexpectedEOF
		}
		if err != nil {
			return response{}, err
		}
		switch element := token.(type) {
		case xml.EndElement: // of <multistatus>: those within are read below
			return response{}, io.EOF
		case xml.StartElement:
			switch {
			case !m.open && element.Name == xml.Name{Space: nsDAV, Local: "multistatus"}:
				m.open = true
			case !m.open:
				return response{}, fmt.Errorf("the answer is a %s, not a multistatus", element.Name.Local)
			case element.Name == xml.Name{Space: nsDAV, Local: "response"}:
				return m.decode(element)
			default:
				if err := m.decoder.Skip(); err != nil {
					return response{}, err
				}
			}
		}
	}
}

func (m *multistatus) decode(element xml.StartElement) (response, error) {
	var r responseElement
	if err := m.decoder.DecodeElement(&r, &element); err != nil {
		return response{}, err
	}
	if len(r.Href) == 0 {
		return response{}, errors.New("an entry of the answer has no href")
	}
	if m.entries += len(r.Href); m.entries > maxEntries {
		return response{}, errAnswerTooLarge
	}
	values, status := r.properties()
	return response{r.Href, values, status}, nil
}

// properties returns the properties of an entry, and 200; or nil and the status that says why there are none.
func (r responseElement) properties() (*properties, int) {
	var values *properties
	status := statusOf(r.Status)
	for _, group := range r.Propstats {
		code := statusOf(group.Status)
		if code/100 != 2 {
			if status == 0 {
				status = code
			}
			continue
		}
		for _, element := range group.Prop.Properties {
			if values == nil {
				values = &properties{}
			}
			values.set(element)
		}
	}
	if values != nil {
		return values, http.StatusOK
	}
	return nil, status
}

func (p *properties) set(element propertyElement) {
	name := slices.Index(propertyNames[:], element.XMLName)
	if name < 0 {
		return
	}
	start := len(p.content)
	p.content += element.Text
	p.values[name] = value{
		told: true, start: start, end: len(p.content), elements: len(element.Children) > 0,
		collection: slices.ContainsFunc(element.Children, func(child childElement) bool {
			return child.XMLName == xml.Name{Space: nsDAV, Local: "collection"}
		}),
	}
}

// statusOf reads the code of a status line (RFC 9112 4); 0 = there is none.
func statusOf(line string) int {
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

// strictTokens hands out the tokens of a document and refuses what no multistatus needs.
type strictTokens struct {
	raw   *xml.Decoder
	depth int
}

// Token implements xml.TokenReader.
func (s *strictTokens) Token() (xml.Token, error) {
	token, err := s.raw.RawToken()
	switch token.(type) {
	case xml.StartElement:
		s.depth++
	case xml.EndElement:
		s.depth--
	case xml.Directive:
		return nil, errors.New("the answer has a document type declaration")
	}
	if s.depth > maxDepth {
		return nil, errors.New("the elements of the answer are nested too deeply")
	}
	return token, err
}

// meter limits what is read: of the whole, and since part was set last.
type meter struct {
	reader *bufio.Reader
	whole  int64
	part   int64
}

// ReadByte implements io.ByteReader. The decoder then buffers nothing itself, so that the count is exact.
func (m *meter) ReadByte() (byte, error) {
	if m.whole--; m.whole < 0 {
		return 0, errAnswerTooLarge
	}
	if m.part--; m.part < 0 {
		return 0, errors.New("what the answer says of one entry is too long")
	}
	return m.reader.ReadByte()
}

// Read implements io.Reader, which the decoder asks for, byte by byte.
func (m *meter) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := m.ReadByte()
	if err != nil {
		return 0, err
	}
	p[0] = b
	return 1, nil
}

// charset translates the one other encoding that hosts use. UTF-8 needs no translation.
func charset(label string, input io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "iso-8859-1", "latin1", "us-ascii":
		return charmap.ISO8859_1.NewDecoder().Reader(input), nil
	default:
		return nil, fmt.Errorf("the answer is encoded in %q", label)
	}
}
