package outbound

import (
	"errors"
	"net"
)

// UnreachableError is the failure of a call that got no answer.
type UnreachableError struct{ Err error }

// Error implements error.
func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Timeout tells whether time had run out, as net.Error does.
func (e *UnreachableError) Timeout() bool {
	var failure net.Error
	return errors.As(e.Err, &failure) && failure.Timeout()
}
