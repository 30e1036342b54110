package xmlscan

import "fmt"

// Limits are how much of each a document may have. None of them is optional.
type Limits struct {
	Document   int64 // bytes, of it in UTF-8
	Part       int64 // bytes since Scanner.NewPart, to within a token
	Tag        int   // bytes of one, with its attributes, and the most that the window grows to: 512 at least, so that references fit
	Depth      int   // elements within each other
	Attributes int   // of one tag
	Bindings   int   // namespace declarations that hold at one place
}

// Limit is the name of a limit.
type Limit string

// The names of the limits.
const (
	DocumentBytes Limit = "bytes in the document"
	PartBytes     Limit = "bytes in one part of the document"
	TagBytes      Limit = "bytes in a tag"
	Depth         Limit = "elements within each other"
	Attributes    Limit = "attributes in a tag"
	Bindings      Limit = "namespace declarations at one place"
)

// maxReferenceBytes is the longest reference that is looked at: one to a character may have any number of zeros.
const maxReferenceBytes = 32

// LimitError is the error for a document that goes beyond a limit.
type LimitError struct {
	Limit Limit
	Most  int64
}

// Error implements error.
func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s", e.Most, e.Limit) }

// SyntaxError is the error for a document that is not well-formed, or not in its namespaces.
type SyntaxError struct {
	Offset  int64 // bytes in front of it, of the document in UTF-8
	Problem string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not well-formed XML at byte %d: %s", e.Offset, e.Problem)
}
