package filehost

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// Kind says what went wrong in terms a caller can act on. Each has one code and one HTTP status, in the api package.
type Kind int

// The kinds of error.
const (
	Internal           Kind = iota // a fault of ours, or of Mattermost
	InvalidRequest                 // the request itself is wrong; Field names what
	NotAuthenticated               // no Mattermost session
	Forbidden                      // Mattermost or the host says no
	NotFound                       // no such file, folder, channel, route
	MethodNotAllowed               // the route exists, the method doesn't
	Conflict                       // something else is under way or in the way
	Changed                        // the remote file is no longer the one asked for
	TooLarge                       // above Limit, which LimitOwner sets
	Unsupported                    // this host, or this version, can't
	KeyReused                      // the idempotency key belongs to another request
	NotConnected                   // the user has to connect his account (again)
	CredentialRejected             // the host answered 401 to a credential; use cases turn it into NotConnected
	RateLimited                    // wait RetryAfter
	HostUnavailable                // the host, or the sign-in server, can't be reached or makes no sense
	NotConfigured                  // the admin has to finish the configuration
	Maintenance                    // the host says that it is in maintenance; wait RetryAfter
	Timeout                        // a limit in time was reached
)

// codes are the words of the contract for the kinds. Stored answers hold them, too.
var codes = map[Kind]string{
	Internal:           "internal",
	InvalidRequest:     "invalid_request",
	NotAuthenticated:   "not_authenticated",
	Forbidden:          "forbidden",
	NotFound:           "not_found",
	MethodNotAllowed:   "method_not_allowed",
	Conflict:           "conflict",
	Changed:            "changed",
	TooLarge:           "too_large",
	Unsupported:        "unsupported",
	KeyReused:          "key_reused",
	NotConnected:       "not_connected",
	CredentialRejected: "not_connected",
	RateLimited:        "rate_limited",
	HostUnavailable:    "host_unavailable",
	NotConfigured:      "not_configured",
	Maintenance:        "maintenance",
	Timeout:            "timeout",
}

// Code returns the contract's word for the kind.
func (k Kind) Code() string { return codes[k] }

// kindOfCode is the reverse of Code, or Internal for a word that is none.
func kindOfCode(code string) Kind {
	for kind, word := range codes {
		if word == code && kind != CredentialRejected {
			return kind
		}
	}
	return Internal
}

// LimitOwner says who can raise a limit.
type LimitOwner string

// The owners of limits.
const (
	OwnerPlugin     LimitOwner = "plugin"     // a setting of this plugin
	OwnerMattermost LimitOwner = "mattermost" // a setting of the Mattermost server, or a constant of it
	OwnerHost       LimitOwner = "host"       // the file host, such as the user's quota there
)

// Error is the one error type that crosses package borders on purpose. Everything but Err may be shown to the caller.
type Error struct {
	Kind       Kind
	Message    string        // for a person: one sentence, nothing internal, no secret
	Field      string        // InvalidRequest, Unsupported, KeyReused: the query parameter, header or body field
	Limit      int64         // TooLarge, InvalidRequest, Timeout: the limit, in the unit that Message names
	LimitOwner LimitOwner    // TooLarge, Timeout: who sets Limit
	Actual     int64         // TooLarge: what was asked for, in the same unit; 0 = unknown
	RetryAfter time.Duration // RateLimited, Maintenance, Conflict, HostUnavailable: when to come back; 0 = unknown
	Err        error         // the cause, for the log only
}

// E makes an error of a kind, with a sentence for the caller and the cause for the log (nil when there is none).
func E(kind Kind, message string, cause error) *Error {
	return &Error{Kind: kind, Message: message, Err: cause}
}

// Invalid is the error of a request whose field is wrong.
func Invalid(field, message string) *Error {
	return &Error{Kind: InvalidRequest, Field: field, Message: message}
}

// Error implements error. It is for the log: it includes the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return fmt.Sprintf("%s: %v", e.Message, e.Err)
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of err, or Internal when err is not an *Error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Recovered turns a panic into an error. A goroutine of ours that panicked would end the plugin. The text of the panic is
// kept only if the Go runtime made it: any other could quote a secret.
func Recovered(call func() error) (err error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("panic: %w\n%s", reason, debug.Stack())
		default:
			err = fmt.Errorf("panic of type %T\n%s", reason, debug.Stack())
		}
	}()
	return call()
}
