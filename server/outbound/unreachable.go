package outbound

import (
	"errors"
	"net"
	"net/textproto"
	"slices"
	"strings"
)

// UnreachableError is the failure of a call that got no answer.
type UnreachableError struct{ Err error }

var (
	// errTLSAlert stands for an answer in plain that is an alert of TLS (RFC 8446 6).
	errTLSAlert = errors.New("the answer to plain HTTP is one of TLS")
	// errNotHTTP stands for any other answer that net/http can't read.
	errNotHTTP = errors.New("the answer is not one of HTTP")
)

// quoting are words of net/http before what it quotes of an answer.
var quoting = []string{"malformed HTTP", "Content-Length", "transfer encoding", "railer key"}

// unreachable makes the error of a failed call. net/http quotes an answer that it can't read, and that may repeat what was
// sent, credentials included: its words are left out.
func unreachable(err error) *UnreachableError {
	var line textproto.ProtocolError
	text := err.Error()
	switch {
	case strings.Contains(text, `malformed HTTP response "\x15\x03`): // the bytes of an alert (RFC 8446 5.1)
		return &UnreachableError{errTLSAlert}
	case errors.As(err, &line), slices.ContainsFunc(quoting, func(words string) bool { return strings.Contains(text, words) }):
		return &UnreachableError{errNotHTTP}
	}
	return &UnreachableError{err}
}

// Error implements error.
func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Timeout tells whether time had run out, as net.Error does.
func (e *UnreachableError) Timeout() bool {
	var failure net.Error
	return errors.As(e.Err, &failure) && failure.Timeout()
}
