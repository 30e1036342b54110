package remote

import (
	"strconv"
	"strings"
	"unicode"
)

// maxCited is how much of an error's text is kept, in characters.
const maxCited = 200

// cited is an error whose text may hold words of the host's: names, addresses, headers. It gives them to the log in
// small doses, and nothing that turns a log's lines or colours.
type cited struct{ error }

func cite(err error) error {
	if err == nil {
		return nil
	}
	return cited{err}
}

// Error implements error.
func (c cited) Error() string {
	var text strings.Builder
	length := 0
	for _, r := range c.error.Error() {
		if length++; length > maxCited {
			return text.String() + "…"
		}
		if unicode.IsGraphic(r) {
			text.WriteRune(r)
			continue
		}
		text.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return text.String()
}

// Unwrap gives the error itself to errors.Is and errors.As.
func (c cited) Unwrap() error { return c.error }
