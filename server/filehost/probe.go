package filehost

import "context"

type probeKey struct{}

// AsProbe marks calls that ask whether a server is there. They are made also while other calls are spared because it did
// not answer lately.
func AsProbe(ctx context.Context) context.Context { return context.WithValue(ctx, probeKey{}, true) }

// IsProbe tells whether AsProbe has marked a call.
func IsProbe(ctx context.Context) bool { return ctx.Value(probeKey{}) != nil }
