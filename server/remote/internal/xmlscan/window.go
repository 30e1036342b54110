package xmlscan

import (
	"errors"
	"io"
)

// maxEmptyReads is how often a source may give nothing before it counts as broken, as bufio has it.
const maxEmptyReads = 100

// minWindow are the bytes of the least window.
const minWindow = 16

// window is the part of a document that is held.
type window struct {
	source io.Reader
	buffer []byte // of it, up to end is filled, and up to pos read
	pos    int
	end    int
	before int64 // bytes of the document in front of the buffer
	part   int64 // the offset that the part at hand may not go beyond
	limits Limits
	broken error // of the source
}

func newWindow(source io.Reader, config Config) window {
	size := max(minWindow, min(config.Window, config.Limits.Tag))
	return window{source: source, buffer: make([]byte, size), limits: config.Limits}
}

// offset is the number of bytes that have been read of the document.
func (w *window) offset() int64 { return w.before + int64(w.pos) }

func (w *window) malformed(problem string) error {
	return &SyntaxError{Offset: w.offset(), Problem: problem}
}

// atEOF tells whether the source is at its end, not broken.
func (w *window) atEOF() bool { return errors.Is(w.broken, io.EOF) }

// need reads on until there are n bytes that are not read yet.
func (w *window) need(n int) error {
	for w.end-w.pos < n {
		if err := w.more(); err != nil {
			return err
		}
	}
	return nil
}

// more reads at least one byte. The end of the source is io.ErrUnexpectedEOF. What is not read yet moves to the front of
// the buffer, so that positions in it hold no longer.
func (w *window) more() error {
	if w.offset() > w.part {
		return &LimitError{Limit: PartBytes, Most: w.limits.Part}
	}
	if err := w.room(); err != nil {
		return err
	}
	for range maxEmptyReads {
		if w.broken != nil {
			break
		}
		var n int
		n, w.broken = w.source.Read(w.buffer[w.end:])
		if n == 0 {
			continue
		}
		w.end += n
		if w.before+int64(w.end) > w.limits.Document {
			return &LimitError{Limit: DocumentBytes, Most: w.limits.Document}
		}
		return nil
	}
	switch {
	case w.broken == nil:
		w.broken = io.ErrNoProgress
	case w.atEOF():
		return io.ErrUnexpectedEOF
	}
	return w.broken
}

// room makes some behind what is not read yet. A tag is the longest thing that has to be there as a whole, so that the
// buffer is as long as one may be.
func (w *window) room() error {
	if w.pos > 0 {
		w.end = copy(w.buffer, w.buffer[w.pos:w.end])
		w.before += int64(w.pos)
		w.pos = 0
	}
	if w.end < len(w.buffer) {
		return nil
	}
	if len(w.buffer) >= w.limits.Tag {
		return &LimitError{Limit: TagBytes, Most: int64(w.limits.Tag)}
	}
	grown := make([]byte, min(2*len(w.buffer), w.limits.Tag))
	copy(grown, w.buffer)
	w.buffer = grown
	return nil
}

// at tells whether text is next, of what has been read of the source.
func (w *window) at(text string) bool {
	return w.end-w.pos >= len(text) && string(w.buffer[w.pos:w.pos+len(text)]) == text
}

// starts tells whether text is next, and reads no more of the source than that takes.
func (w *window) starts(text string) (bool, error) {
	for n := range len(text) {
		if err := w.need(n + 1); err != nil {
			return false, err
		}
		if w.buffer[w.pos+n] != text[n] {
			return false, nil
		}
	}
	return true, nil
}

// skips passes over text if that is next.
func (w *window) skips(text string) (bool, error) {
	there, err := w.starts(text)
	if there {
		w.pos += len(text)
	}
	return there, err
}
