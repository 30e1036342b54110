package filehost

import (
	"crypto/subtle"
	"encoding/json"
	"log/slog"
	"time"
)

const redacted = "[redacted]"

// Secret is a password or a token. It never prints: only Reveal gives its value. The value lies behind a pointer because
// fmt, which can't call the methods of an unexported field, would print it from there. Compare with Equal.
type Secret struct{ value *string }

// NewSecret wraps a value that must not reach a log.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the value itself. Call it only where the value goes on the wire or into the cipher.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsEmpty tells whether there is no value.
func (s Secret) IsEmpty() bool { return s.Reveal() == "" }

// Equal tells whether two secrets have the same value, in constant time.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String implements fmt.Stringer without the value.
func (s Secret) String() string { return redacted }

// GoString implements fmt.GoStringer without the value.
func (s Secret) GoString() string { return redacted }

// LogValue implements slog.LogValuer without the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements json.Marshaler without the value.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// UnmarshalJSON takes a plain JSON string.
func (s *Secret) UnmarshalJSON(raw []byte) error {
	var value string
	err := json.Unmarshal(raw, &value)
	*s = NewSecret(value)
	return err
}

// Scheme is how a credential goes on the wire.
type Scheme string

// The schemes.
const (
	Bearer Scheme = "Bearer" // RFC 6750 2.1
	Basic  Scheme = "Basic"  // RFC 7617
)

// AppToken is a password that a host has made for one user, for a while.
type AppToken struct {
	Username string // goes with it (RFC 7617)
	Secret   Secret
	Expires  time.Time
}

// Credential gives one user access to the file host.
type Credential struct {
	Scheme     Scheme
	Username   string // Basic: the login name
	Secret     Secret // access token or app password
	Account    string // the user's id at the host, as its paths use it; "" where the host has no such thing
	Connection string // changes with every connect, not with a refresh; what is bound to a connection is bound to this
	Generation string // changes with every connect and every refresh; tells one credential from its successor
	UserID     string // the Mattermost user who calls with it; "" = not said. Their failures are told apart by it
	Grant      string // how it was come by, as Connection.Grant
	ReadOnly   bool   // it may change nothing at the host, whatever the host would let it
}
