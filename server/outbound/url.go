package outbound

import "fmt"

// BlockedURLError is the refusal of a URL that Config doesn't allow.
type BlockedURLError struct {
	Origin string // without user, path and query, which may be secret
	Reason string // completes "refused, because"
}

// Error implements error.
func (e *BlockedURLError) Error() string {
	return fmt.Sprintf("call to %s refused, because %s", e.Origin, e.Reason)
}
