package remote

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/remote/internal/xmlscan"
)

// The limits of a multistatus answer. What is above them is an error, never a short listing.
const (
	maxAnswerBytes   = 1 << 30   // of one answer, uncompressed
	maxEntries       = 1_000_000 // of one answer: hrefs, of which a response may have many
	maxResponseBytes = 256 << 10 // of what stands for one entry
	maxTagBytes      = 64 << 10
	maxDepth         = 32 // of elements
	maxAttributes    = 64 // of an element
	maxBindings      = 64 // namespace declarations around an element
)

// windowBytes are read at once of an answer.
const windowBytes = 16 << 10

// errAnswerTooLarge is the cause of the error for an answer above the limits.
var errAnswerTooLarge = errors.New("the multistatus answer is larger than its limit")

// The elements of an answer (RFC 4918 14). They follow the properties in the vocabulary.
const (
	multistatusElement = int(propertyCount) + iota
	responseElement
	hrefElement
	statusElement
	propstatElement
	propElement
	collectionElement
)

var vocabulary = xmlscan.NewVocabulary(append(propertyNames[:],
	xml.Name{Space: nsDAV, Local: "multistatus"},
	xml.Name{Space: nsDAV, Local: "response"},
	xml.Name{Space: nsDAV, Local: "href"},
	xml.Name{Space: nsDAV, Local: "status"},
	xml.Name{Space: nsDAV, Local: "propstat"},
	xml.Name{Space: nsDAV, Local: "prop"},
	xml.Name{Space: nsDAV, Local: "collection"},
))

// scanning is how every answer is read.
var scanning = xmlscan.Config{
	Vocabulary: vocabulary,
	Limits: xmlscan.Limits{
		Document:   maxAnswerBytes,
		Part:       maxResponseBytes,
		Tag:        maxTagBytes,
		Depth:      maxDepth,
		Attributes: maxAttributes,
		Bindings:   maxBindings,
	},
	Charset: charset,
	Window:  windowBytes,
}

// multistatus reads an answer of that name (RFC 4918 13) while it arrives, entry by entry. It holds one of them at a
// time.
type multistatus struct {
	scanner *xmlscan.Scanner
	open    bool // <multistatus> has begun
	entries int
	at      draft
}

// draft is what has been read of the response at hand. Its memory is used again for the next one.
type draft struct {
	content    []byte // the texts
	spans      []span // of the hrefs, in the content
	hrefs      []string
	status     int // of the response itself
	withheld   int // the first status of properties that it doesn't have
	found      bool
	properties properties
	group      group
}

// span is a part of the content.
type span struct{ start, end int }

// group is a propstat: properties with one status (RFC 4918 14.22).
type group struct {
	any    bool // it has properties, be they none of those that we know
	status int
	values
}

// response is what the answer says of one entry (RFC 4918 14.24), or of many of which it says the same. It holds until
// the next one is read, but for the texts.
type response struct {
	hrefs  []string
	values *properties // nil when there are none
	status int         // 200, or why there are no values; 0 = the host doesn't say
}

func newMultistatus(source io.Reader) *multistatus {
	return &multistatus{scanner: xmlscan.New(source, scanning)}
}

// next returns the next entry, and io.EOF only after the end of the whole answer.
func (m *multistatus) next() (response, error) {
	m.scanner.NewPart()
	for {
		kind, err := m.scanner.Next()
		switch {
		case err != nil:
			return response{}, unread(err)
		case kind != xmlscan.Start: // white space, or the end of <multistatus>
		case !m.open && m.scanner.Name() != multistatusElement:
			return response{}, fmt.Errorf("the answer is a %s, not a multistatus", m.scanner.Local())
		case !m.open:
			m.open = true
		case m.scanner.Name() == responseElement:
			if err := m.response(); err != nil {
				return response{}, unread(err)
			}
			return m.whole()
		default:
			if err := m.scanner.Skip(); err != nil {
				return response{}, unread(err)
			}
		}
	}
}

// unread is the error for an answer that could not be read on.
func unread(err error) error {
	var limit *xmlscan.LimitError
	if errors.As(err, &limit) && limit.Limit == xmlscan.DocumentBytes {
		return fmt.Errorf("%w: %w", errAnswerTooLarge, err)
	}
	return err
}

// response reads one to its end.
func (m *multistatus) response() error {
	at := &m.at
	at.content, at.spans, at.hrefs = at.content[:0], at.spans[:0], at.hrefs[:0]
	at.status, at.withheld, at.found, at.properties.told = 0, 0, false, 0
	for {
		kind, err := m.scanner.Next()
		switch {
		case err != nil || kind == xmlscan.End:
			return err
		case kind == xmlscan.Text:
			continue
		}
		switch m.scanner.Name() {
		case hrefElement:
			var href value
			href, err = m.value()
			at.spans = append(at.spans, span{href.start, href.end})
		case statusElement:
			at.status, err = m.status()
		case propstatElement:
			err = m.propstat()
		default:
			err = m.scanner.Skip()
		}
		if err != nil {
			return err
		}
	}
}

// propstat reads one to its end, and keeps what the entry has of it. What is said later counts.
func (m *multistatus) propstat() error {
	at := &m.at
	at.group.any, at.group.status, at.group.told = false, 0, 0
	start := len(at.content)
	for {
		kind, err := m.scanner.Next()
		switch {
		case err != nil:
			return err
		case kind == xmlscan.End:
			at.keep(start)
			return nil
		case kind == xmlscan.Text:
			continue
		}
		switch m.scanner.Name() {
		case statusElement:
			at.group.status, err = m.status()
		case propElement:
			err = m.prop()
		default:
			err = m.scanner.Skip()
		}
		if err != nil {
			return err
		}
	}
}

// keep takes over the properties of a group that the entry has, and forgets those that it doesn't have, whose texts
// begin at start.
func (d *draft) keep(start int) {
	if d.group.status/100 != 2 {
		d.content = d.content[:start]
		if d.withheld == 0 {
			d.withheld = d.group.status
		}
		return
	}
	d.found = d.found || d.group.any
	for name := range propertyCount {
		if d.group.has(name) {
			d.properties.set(name, d.group.each[name])
		}
	}
}

// prop reads one (RFC 4918 14.18) to its end.
func (m *multistatus) prop() error {
	for {
		kind, err := m.scanner.Next()
		switch {
		case err != nil || kind == xmlscan.End:
			return err
		case kind == xmlscan.Text:
			continue
		}
		if err := m.property(); err != nil {
			return err
		}
	}
}

// property reads one to its end, and keeps it for its group if it is one of those that we know.
func (m *multistatus) property() error {
	m.at.group.any = true
	name := m.scanner.Name()
	if name < 0 || name >= int(propertyCount) {
		return m.scanner.Skip()
	}
	value, err := m.value()
	m.at.group.set(property(name), value)
	return err
}

// value reads an element to its end, and adds the text in it to the content, without that of the elements in it.
func (m *multistatus) value() (value, error) {
	v := value{start: len(m.at.content)}
	if text, all := m.scanner.Content(); all {
		m.at.content = append(m.at.content, text...)
		v.end = len(m.at.content)
		return v, nil
	}
	for {
		kind, err := m.scanner.Next()
		switch {
		case err != nil:
			return value{}, err
		case kind == xmlscan.Text:
			m.at.content = append(m.at.content, m.scanner.Text()...)
		case kind == xmlscan.End:
			v.end = len(m.at.content)
			return v, nil
		default:
			v.elements = true
			v.collection = v.collection || m.scanner.Name() == collectionElement
			if err := m.scanner.Skip(); err != nil {
				return value{}, err
			}
		}
	}
}

// status reads a status element to its end.
func (m *multistatus) status() (int, error) {
	line, err := m.value()
	if err != nil {
		return 0, err
	}
	code := statusOf(m.at.content[line.start:line.end])
	m.at.content = m.at.content[:line.start]
	return code, nil
}

// whole returns the response that has been read.
func (m *multistatus) whole() (response, error) {
	at := &m.at
	if len(at.spans) == 0 {
		return response{}, errors.New("an entry of the answer has no href")
	}
	if m.entries += len(at.spans); m.entries > maxEntries {
		return response{}, errAnswerTooLarge
	}
	content := string(at.content) // once, for all texts of the entry
	for _, href := range at.spans {
		at.hrefs = append(at.hrefs, content[href.start:href.end])
	}
	switch {
	case at.found:
		at.properties.content = content
		return response{at.hrefs, &at.properties, http.StatusOK}, nil
	case at.status != 0:
		return response{at.hrefs, nil, at.status}, nil
	default:
		return response{at.hrefs, nil, at.withheld}, nil
	}
}

// statusOf reads the code of a status line (RFC 9112 4); 0 = there is none.
func statusOf(line []byte) int {
	version := true
	for field := range bytes.FieldsSeq(line) {
		if version {
			version = false
			continue
		}
		code, err := strconv.Atoi(string(field))
		if err != nil {
			return 0
		}
		return code
	}
	return 0
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
