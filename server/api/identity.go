package api

import (
	"context"
	"net/http"
	"regexp"

	"github.com/gorilla/mux"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The headers by which Mattermost says who calls; it removes them from what comes from outside.
const (
	headerUser   = "Mattermost-User-Id"
	headerPlugin = "Mattermost-Plugin-ID"
)

// userID is the grammar of Mattermost's ids.
var userID = regexp.MustCompile(`^[a-z0-9]{26}$`)

type requestIDKey struct{}

// WithRequestID remembers Mattermost's id of a request for its log lines and errors.
func WithRequestID(r *http.Request, id string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
}

// request is a call of a route: who, what, and for how long.
type request struct {
	*http.Request
	ctx     context.Context //nolint:containedctx // the route's own; the http.Request's never ends
	id      string
	userID  string // "" on a public route without a session
	runtime Runtime
}

func (h *Handler) newRequest(ctx context.Context, r *http.Request) *request {
	id, _ := r.Context().Value(requestIDKey{}).(string)
	return &request{Request: r, ctx: ctx, id: id}
}

// identify takes the caller from Mattermost's headers, and from nowhere else. Another plugin can forge the user, so what
// comes from one is refused.
func (r *request) identify(public bool) error {
	if r.Header.Get(headerPlugin) != "" {
		return filehost.E(filehost.Forbidden, "Other plugins may not call this plugin.", nil)
	}
	caller := r.Header.Get(headerUser)
	switch {
	case userID.MatchString(caller):
		r.userID = caller
		return nil
	case public && caller == "":
		return nil
	default:
		return filehost.E(filehost.NotAuthenticated, "Log in to Mattermost first, or send a valid token; a browser also needs its X-CSRF-Token.", nil)
	}
}

// service returns the use cases, or the error of a plugin that is not configured.
func (r *request) service() (*filehost.Service, error) {
	if r.runtime.Service == nil {
		return nil, filehost.E(filehost.NotConfigured, "The file host is not configured yet; a system admin can see what is missing on the plugin's health page.", nil)
	}
	return r.runtime.Service, nil
}

// serviceFor is service for the host that a query or a body names; "" is the default host.
func (r *request) serviceFor(host string) (*filehost.Service, error) {
	service, err := r.service()
	if err == nil && host != "" && host != service.Host.ID {
		return nil, filehost.Invalid("host", "host must be the id of a configured file host, or absent.")
	}
	return service, err
}

// variable is a part of the route's path.
func (r *request) variable(name string) string { return mux.Vars(r.Request)[name] }
