package filehost

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// resumeWaits are how long a copy waits before it asks the host for the rest of a file whose stream has broken off, for
// each time that it does.
var resumeWaits = []time.Duration{0, time.Second, 3 * time.Second}

// unbroken is the content of a file that goes on when the host's stream breaks off: from the byte after the last that was
// read, of the same strong ETag, or not at all.
type unbroken struct {
	service *Service
	ctx     context.Context //nolint:containedctx // io.Reader has no other way to be cancelled
	used    Credential
	entry   Entry
	read    int64
	resumed int   // how often
	broken  error // what the last read ended with, after its bytes

	mu      sync.Mutex
	content io.ReadCloser
	closed  chan struct{}
}

// openUnbroken opens a file as Remote.Open does. The credential's user may be asked for a newer one later.
func (s *Service) openUnbroken(ctx context.Context, credential Credential, entry Entry) (io.ReadCloser, error) {
	content, err := s.Remote.Open(ctx, credential, entry)
	if err != nil {
		return nil, err
	}
	if !IsStrongETag(entry.ETag) { // nginx lists none, and Apache one that is weak while the file is fresh
		entry.ETag = content.ETag // if that is no better, no part is asked for
	}
	return &unbroken{service: s, ctx: ctx, used: credential, entry: entry, content: content, closed: make(chan struct{})}, nil
}

// Read implements io.Reader. Its errors are those of the stream that has broken off, unless the file is another one by now.
func (u *unbroken) Read(p []byte) (int, error) {
	for {
		if u.broken != nil {
			if err := u.resume(); err != nil {
				return 0, err
			}
		}
		n, err := u.stream().Read(p)
		u.read += int64(n)
		switch {
		case err == nil || errors.Is(err, io.EOF) || !u.resumable(err):
			return n, err
		case n > 0:
			u.broken = err
			return n, nil
		}
		u.broken = err
	}
}

// Close implements io.Closer. A read may be under way.
func (u *unbroken) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.isClosed() {
		close(u.closed)
	}
	return u.content.Close()
}

func (u *unbroken) isClosed() bool {
	select {
	case <-u.closed:
		return true
	default:
		return false
	}
}

func (u *unbroken) stream() io.Reader {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.content
}

// resumable tells whether more of the file may be had after an error. A host that sends nothing any more is asked once again:
// each time takes as long as it may be silent.
func (u *unbroken) resumable(err error) bool {
	kind, most := KindOf(err), len(resumeWaits)
	if kind == Timeout {
		most = 1
	}
	return (kind == HostUnavailable || kind == Timeout) && u.resumed < most &&
		u.read > 0 && u.read < u.entry.Size && u.ctx.Err() == nil && !u.isClosed()
}

// resume goes on with another stream, or fails.
func (u *unbroken) resume() error {
	for u.resumable(u.broken) {
		wait := resumeWaits[u.resumed]
		u.resumed++
		select {
		case <-u.service.Clock.After(wait):
		case <-u.ctx.Done():
			return u.broken
		case <-u.closed:
			return u.broken
		}
		content, err := u.rest()
		switch KindOf(err) {
		case Unsupported, NotConnected:
			return u.broken
		case Changed, NotFound:
			return E(Changed, "The file changed while it was copied; try again.", err)
		}
		if err == nil {
			return u.replace(content)
		}
		u.broken = err
	}
	return u.broken
}

// rest opens the file at the byte after the last that was read. A copy may take longer than a credential lives; that of
// another connection can be another account's.
func (u *unbroken) rest() (io.ReadCloser, error) {
	credential, err := u.service.Tokens.For(u.ctx, u.used.UserID)
	if err != nil {
		return nil, err
	}
	if credential.Connection != u.used.Connection {
		return nil, E(NotConnected, "You have connected anew while the file was copied; try again.", nil)
	}
	credential.UserID = u.used.UserID
	content, err := u.service.Remote.OpenFrom(u.ctx, credential, u.entry, u.read)
	return content, err
}

// replace puts a stream in the place of the one that has broken off.
func (u *unbroken) replace(content io.ReadCloser) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.isClosed() {
		_ = content.Close()
		return u.broken
	}
	_ = u.content.Close() // it has failed already
	u.content, u.broken = content, nil
	return nil
}
