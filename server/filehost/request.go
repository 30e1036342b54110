package filehost

import "context"

// Request is what Mattermost says of the request that a call belongs to.
type Request struct {
	ID        string // as log lines and errors name it
	SessionID string // "" without a session
	IPAddress string // of the client, as Mattermost sees it
}

type requestKey struct{}

// WithRequest remembers which request calls belong to.
func WithRequest(ctx context.Context, request Request) context.Context {
	return context.WithValue(ctx, requestKey{}, request)
}

// RequestOf returns the request of WithRequest; the zero value is the plugin's own work.
func RequestOf(ctx context.Context) Request {
	request, _ := ctx.Value(requestKey{}).(Request)
	return request
}
