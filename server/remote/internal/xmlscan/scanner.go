// Package xmlscan reads an XML document (XML 1.0, Namespaces in XML 1.0) as a stream, in memory that does not grow with it.
//
// It is made for long documents of a peer that is not trusted: it allocates nothing per token, has a limit for all that
// a document can have much of, checks every character, and takes no document type declaration, so that there are no
// entities but the five of XML. What is not well-formed is an error, as is a document that breaks off.
package xmlscan

import (
	"errors"
	"io"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind int

// The kinds of token. A tag of an empty element is a Start and an End.
const (
	None  Kind = iota
	Start      // of an element
	End        // of an element
	Text       // a piece of one, see Scanner.Text
)

// Config makes a Scanner.
type Config struct {
	Vocabulary *Vocabulary // the names that Scanner.Name tells apart
	Limits     Limits
	// Charset translates a document that declares another encoding than UTF-8 (XML 1.0, 4.3.3) into that. It fails for an
	// encoding that it doesn't know. nil = it knows none.
	Charset func(label string, source io.Reader) (io.Reader, error)
	Window  int // bytes that are read at once, up to the limit of a tag; it grows to that for one
}

// Scanner reads the tokens of a document. It is not safe for concurrent use.
type Scanner struct {
	config Config
	window
	scope
	err error // ends the document; io.EOF = it was whole

	begun   bool // what may stand in front of everything has been read
	rooted  bool // the root element has begun
	cdata   bool // in a CDATA section
	newline bool // a carriage return was the last character: a line feed behind it is part of that line end
	closing bool // the last tag was that of an empty element, whose end is due

	text      []byte
	character [utf8.UTFMax]byte // what text is of, when it isn't of the window
	tags      [tagsSeen]seenTag
	tagged    []attribute // those of the tag at hand
	uri       []byte      // the namespace name at hand
}

// New returns a Scanner of source.
func New(source io.Reader, config Config) *Scanner {
	s := &Scanner{config: config, window: newWindow(source, config), scope: newScope(config.Vocabulary)}
	s.part = config.Limits.Part
	return s
}

// Next reads a token. It returns io.EOF after the end of a whole document: a root element, and nothing behind it but
// comments and the like. A document that breaks off gives io.ErrUnexpectedEOF, one that is not well-formed a
// *SyntaxError, one that goes beyond a limit a *LimitError; an error of the source is returned as it is. Once there
// was an error it is returned again.
func (s *Scanner) Next() (Kind, error) {
	if s.err != nil {
		return None, s.err
	}
	kind, err := s.next()
	if err != nil {
		s.err = err
		return None, err
	}
	return kind, nil
}

// Text is the piece of text that Next read last, until it is called again. One text may come in many pieces: around a
// comment, at a reference, wherever the window ends. Line ends are line feeds (XML 1.0, 2.11).
func (s *Scanner) Text() []byte { return s.text }

// NewPart begins another part of the document, for Limits.Part.
func (s *Scanner) NewPart() { s.part = s.offset() + s.config.Limits.Part }

// Content reads the element whose Start was the last token to its end, and returns the text in it. It reports false, and
// reads nothing, unless all of that is in the window in one piece, as short texts mostly are: then Next reads it.
func (s *Scanner) Content() ([]byte, bool) {
	if s.closing {
		s.closing = false
		s.close()
		return nil, true
	}
	rest, name := s.buffer[s.pos:s.end], s.innermost()
	length := plain(rest, inText)
	last := length + len("</") + len(name)
	if last >= len(rest) || rest[length] != '<' || rest[length+1] != '/' || rest[last] != '>' || string(rest[length+2:last]) != string(name) {
		return nil, false
	}
	s.pos += last + 1
	s.close()
	return rest[:length], true
}

// Skip reads on to the end of the element whose Start was the last token.
func (s *Scanner) Skip() error {
	if _, all := s.Content(); all {
		return nil
	}
	for outside := s.Depth() - 1; ; {
		kind, err := s.Next()
		if err != nil || kind == End && s.Depth() == outside {
			return err
		}
	}
}

func (s *Scanner) next() (Kind, error) {
	if s.closing {
		s.closing = false
		return s.close(), nil
	}
	if !s.begun {
		s.begun = true
		if err := s.declaration(); err != nil {
			return None, err
		}
	}
	for {
		if s.pos == s.end {
			if err := s.more(); err != nil {
				return None, s.ended(err)
			}
		}
		if s.offset() > s.part {
			return None, &LimitError{Limit: PartBytes, Most: s.config.Limits.Part}
		}
		kind, err := s.token()
		if kind != None || err != nil {
			return kind, err
		}
	}
}

// token reads what stands at the current position. None is what nobody needs to see.
func (s *Scanner) token() (Kind, error) {
	switch {
	case s.cdata:
		return s.cdataPiece()
	case s.buffer[s.pos] == '<':
		return s.markup()
	case s.Depth() == 0:
		return None, s.blank()
	default:
		return s.textPiece()
	}
}

func (s *Scanner) ended(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) && s.atEOF() && s.rooted && s.Depth() == 0 {
		return io.EOF
	}
	return err
}

// blank passes over the white space outside of the root element.
func (s *Scanner) blank() error {
	for ; s.pos < s.end; s.pos++ {
		switch c := s.buffer[s.pos]; {
		case c == '<':
			return nil
		case !isSpace(c):
			return s.malformed("text outside of the root element")
		}
	}
	return nil
}

func (s *Scanner) markup() (Kind, error) {
	s.newline = false
	if err := s.need(2); err != nil {
		return None, err
	}
	switch s.buffer[s.pos+1] {
	case '/':
		return s.endTag()
	case '?':
		return None, s.instruction()
	case '!':
		return None, s.declared()
	default:
		return s.startTag()
	}
}

// declared reads what begins with <!: a comment, or the head of a CDATA section.
func (s *Scanner) declared() error {
	comment, err := s.skips("<!--")
	if err != nil {
		return err
	}
	if comment {
		return s.comment()
	}
	switch section, err := s.skips("<![CDATA["); {
	case err != nil:
		return err
	case !section:
		return s.malformed("a document type declaration, or another one that is not taken")
	case s.Depth() == 0:
		return s.malformed("a CDATA section outside of the root element")
	}
	s.cdata = true
	return nil
}

// comment passes over the rest of a comment (XML 1.0, 2.5).
func (s *Scanner) comment() error {
	for {
		if err := s.pass(inComment); err != nil {
			return err
		}
		if err := s.need(3); err != nil {
			return err
		}
		switch {
		case s.buffer[s.pos+1] != '-':
			s.pos++
		case s.buffer[s.pos+2] != '>':
			return s.malformed("-- in a comment")
		default:
			s.pos += len("-->")
			return nil
		}
	}
}

// instruction passes over a processing instruction (XML 1.0, 2.6).
func (s *Scanner) instruction() error {
	s.pos += len("<?")
	if err := s.target(); err != nil {
		return err
	}
	for {
		if err := s.pass(inInstruction); err != nil {
			return err
		}
		if err := s.need(2); err != nil {
			return err
		}
		if s.buffer[s.pos+1] == '>' {
			s.pos += len("?>")
			return nil
		}
		s.pos++
	}
}

// pass moves on to a character that may end what is in there.
func (s *Scanner) pass(stop class) error {
	for {
		s.pos += plain(s.buffer[s.pos:s.end], stop)
		if s.pos < s.end && classes[s.buffer[s.pos]]&illegal == 0 {
			return nil
		}
		if err := s.unclear(); err != nil {
			return err
		}
	}
}

// unclear reads on where the window ends, be it within a character, and fails for what is none (XML 1.0, 2.2).
func (s *Scanner) unclear() error {
	rest := s.buffer[s.pos:s.end]
	if !utf8.FullRune(rest) {
		return s.more()
	}
	if r, size := utf8.DecodeRune(rest); r == utf8.RuneError && size == 1 {
		return s.malformed("a byte that is not UTF-8")
	}
	return s.malformed("a character that XML does not have")
}

func (s *Scanner) textPiece() (Kind, error) {
	rest := s.buffer[s.pos:s.end]
	if n := plain(rest, inText); n > 0 {
		return s.piece(n), nil
	}
	switch rest[0] {
	case '&':
		return s.reference()
	case '\r':
		return s.lineEnd(), nil
	case ']':
		if err := s.need(3); err != nil {
			return None, err
		}
		if s.at("]]>") {
			return None, s.malformed("]]> in a text")
		}
		return s.piece(1), nil
	default:
		return None, s.unclear()
	}
}

func (s *Scanner) cdataPiece() (Kind, error) {
	rest := s.buffer[s.pos:s.end]
	if n := plain(rest, inCDATA); n > 0 {
		return s.piece(n), nil
	}
	switch rest[0] {
	case '\r':
		return s.lineEnd(), nil
	case ']':
		if err := s.need(3); err != nil {
			return None, err
		}
		if s.at("]]>") {
			s.pos += len("]]>")
			s.cdata, s.newline = false, false
			return None, nil
		}
		return s.piece(1), nil
	default:
		return None, s.unclear()
	}
}

// piece gives out the next n bytes as text, but for the second half of a line end (XML 1.0, 2.11).
func (s *Scanner) piece(n int) Kind {
	s.text = s.buffer[s.pos : s.pos+n]
	s.pos += n
	if s.newline {
		s.newline = false
		if s.text[0] == '\n' {
			s.text = s.text[1:]
		}
	}
	if len(s.text) == 0 {
		return None
	}
	return Text
}

func (s *Scanner) lineEnd() Kind {
	s.pos++
	s.newline = true
	s.text = append(s.character[:0], '\n')
	return Text
}

// reference reads one to a character or to an entity of XML's own (XML 1.0, 4.1 and 4.6).
func (s *Scanner) reference() (Kind, error) {
	for length := 1; length < maxReferenceBytes; length++ {
		if err := s.need(length + 1); err != nil {
			return None, err
		}
		if s.buffer[s.pos+length] != ';' {
			continue
		}
		r, ok := referred(s.buffer[s.pos+1 : s.pos+length])
		if !ok {
			break
		}
		s.pos += length + 1
		s.newline = false
		s.text = utf8.AppendRune(s.character[:0], r)
		return Text, nil
	}
	return None, s.malformed("a reference to what is neither a character nor an entity of XML")
}
