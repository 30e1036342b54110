package xmlscan

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// byteOrderMark is the one of UTF-8.
const byteOrderMark = "\uFEFF"

// The limits of what is no token.
const (
	maxDeclarationBytes = 256 // the XML declaration
	maxTargetBytes      = 256 // of a processing instruction
)

// xmlDeclaration is that of XML 1.0, 2.8. Its groups are the encoding, in either quotes.
var xmlDeclaration = regexp.MustCompile(`^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.0"|'1\.0')` +
	`(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([A-Za-z][A-Za-z0-9._-]*)"|'([A-Za-z][A-Za-z0-9._-]*)'))?` +
	`(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>$`)

// declaration reads the byte order mark and the XML declaration, either of which may be there, and turns to the
// encoding that it names.
func (s *Scanner) declaration() error {
	if _, err := s.skips(byteOrderMark); err != nil {
		return err
	}
	if there, err := s.starts("<?xml"); !there {
		return err
	}
	const head = len("<?xml")
	if err := s.need(head + 1); err != nil {
		return err
	}
	if !isSpace(s.buffer[s.pos+head]) {
		return nil // the instruction of another target, or none at all: that is seen there
	}
	length := head
	for !bytes.HasSuffix(s.buffer[s.pos:s.pos+length], []byte("?>")) {
		if length++; length > maxDeclarationBytes {
			return s.malformed("an XML declaration without end")
		}
		if err := s.need(length); err != nil {
			return err
		}
	}
	parts := xmlDeclaration.FindSubmatch(s.buffer[s.pos : s.pos+length])
	if parts == nil {
		return s.malformed("an XML declaration that is none of XML 1.0")
	}
	encoding := string(parts[1]) + string(parts[2])
	s.pos += length
	if encoding == "" || strings.EqualFold(encoding, "UTF-8") {
		return nil
	}
	return s.translate(encoding)
}

// translate has the rest of the document read in another encoding.
func (s *Scanner) translate(encoding string) error {
	if s.config.Charset == nil {
		return s.malformed("an encoding other than UTF-8")
	}
	source, err := s.config.Charset(encoding, io.MultiReader(bytes.NewReader(bytes.Clone(s.buffer[s.pos:s.end])), s.tail()))
	if err != nil {
		return err
	}
	s.before += int64(s.pos)
	s.source, s.broken, s.pos, s.end = source, nil, 0, 0
	return nil
}

// tail is what the source still has, be it only its error.
func (w *window) tail() io.Reader {
	if w.broken != nil {
		return failed{w.broken}
	}
	return w.source
}

// failed is a source that has nothing more.
type failed struct{ err error }

// Read implements io.Reader.
func (f failed) Read([]byte) (int, error) { return 0, f.err }

// target reads that of a processing instruction.
func (s *Scanner) target() error {
	if err := s.need(1); err != nil {
		return err
	}
	length, colon := qualifiedName(s.buffer[s.pos:s.end])
	for length <= maxTargetBytes && !utf8.FullRune(s.buffer[s.pos+length:s.end]) {
		if err := s.more(); err != nil {
			return err
		}
		length, colon = qualifiedName(s.buffer[s.pos:s.end])
	}
	switch {
	case length > maxTargetBytes:
		return s.malformed("a processing instruction with an endless target")
	case length == 0 || colon >= 0:
		return s.malformed("a processing instruction without a target")
	case strings.EqualFold(string(s.buffer[s.pos:s.pos+length]), "xml"):
		return s.malformed("an XML declaration that is not at the beginning")
	}
	s.pos += length
	if err := s.need(2); err != nil {
		return err
	}
	if !isSpace(s.buffer[s.pos]) && !s.at("?>") {
		return s.malformed("a processing instruction whose target does not end")
	}
	return nil
}
