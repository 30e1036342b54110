package remote

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// source is the content of a file on its way to the host. It ends after the announced size and keeps its own error, which
// the HTTP client would lose.
type source struct {
	reader io.Reader
	mu     sync.Mutex
	left   int64 // bytes
	err    error
}

// Read implements io.Reader. A goroutine of net/http calls it, where a panic would end the plugin.
func (s *source) Read(p []byte) (n int, err error) {
	err = filehost.Recovered(func() (err error) {
		n, err = s.readSized(p)
		return err
	})
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
	return n, err
}

func (s *source) readSized(p []byte) (int, error) {
	left := s.rest()
	if left == 0 {
		return 0, io.EOF
	}
	n, err := s.reader.Read(p[:min(int64(len(p)), left)])
	s.mu.Lock()
	s.left -= int64(n)
	left = s.left
	s.mu.Unlock()
	if errors.Is(err, io.EOF) && left > 0 {
		err = filehost.E(filehost.Internal, "The file ended before its announced size; try again.", io.ErrUnexpectedEOF)
	}
	return n, err
}

// rest is how much of the content has not been read, in bytes.
func (s *source) rest() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// failure is the content's own error; nil = it has met none.
func (s *source) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// part is the content of one request: the next so many bytes of a source. A wait for the source is not the host's.
type part struct {
	source *source
	size   int64 // bytes

	mu       sync.Mutex
	read     int64
	guard    *stallGuard // nil before the exchange, and after the host's answer
	patience time.Duration
}

// send makes the part the body of a request. A request of which nothing was read can be sent again, as net/http does when
// the host has just closed the connection that it was to use.
func (p *part) send(request *http.Request) {
	if p == nil {
		return
	}
	request.Body, request.ContentLength = http.NoBody, p.size
	if p.size == 0 {
		return
	}
	request.Body = io.NopCloser(p)
	request.GetBody = func() (io.ReadCloser, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.read > 0 {
			return nil, errors.New("a part of the file has been sent")
		}
		return io.NopCloser(p), nil
	}
}

// under has a guard watch how the host takes the part, which has patience with its answer.
func (p *part) under(guard *stallGuard, patience time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.guard, p.patience = guard, patience
}

// answered ends that: net/http may still read.
func (p *part) answered() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.guard = nil
}

// unread is how much of the part the host has left, in bytes.
func (p *part) unread() int64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size - p.read
}

// Read implements io.Reader.
func (p *part) Read(buffer []byte) (int, error) {
	left := p.beginRead()
	if left == 0 {
		return 0, io.EOF
	}
	n, err := p.source.Read(buffer[:min(int64(len(buffer)), left)])
	p.endRead(n)
	return n, err
}

func (p *part) beginRead() (left int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.guard != nil && p.read < p.size {
		p.guard.stop()
	}
	return p.size - p.read
}

func (p *part) endRead(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read += int64(n)
	switch {
	case p.guard == nil:
	case p.read < p.size:
		p.guard.start()
	default:
		p.guard.startFor(p.patience)
	}
}
