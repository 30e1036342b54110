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

// Origin is what Mattermost says of a request beside its headers.
type Origin struct {
	RequestID string // for log lines and errors
	SessionID string // "" without a session, and for what another plugin sends
	IPAddress string // of the client, as Mattermost sees it
}

type originKey struct{}

// WithOrigin remembers where a request comes from.
func WithOrigin(r *http.Request, origin Origin) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), originKey{}, origin))
}

// request is a call of a route: who, what, and for how long.
type request struct {
	*http.Request
	ctx     context.Context //nolint:containedctx // the route's own; the http.Request's never ends
	id      string
	session string
	userID  string // "" on a public route without a session
	runtime Runtime
}

func (h *Handler) newRequest(ctx context.Context, r *http.Request) *request {
	origin, _ := r.Context().Value(originKey{}).(Origin)
	ctx = filehost.WithRequest(ctx, filehost.Request{ID: origin.RequestID, SessionID: origin.SessionID, IPAddress: origin.IPAddress})
	return &request{Request: r, ctx: ctx, id: origin.RequestID, session: origin.SessionID}
}

// identify takes the caller from Mattermost's headers, and from nowhere else. Another plugin can forge the user, so what
// comes from one is refused. On a public route, who may not act as the user is nobody.
func (h *Handler) identify(r *request, public bool) error {
	if r.Header.Get(headerPlugin) != "" {
		return filehost.E(filehost.Forbidden, "Other plugins may not call this plugin.", nil)
	}
	caller := r.Header.Get(headerUser)
	switch {
	case public && caller == "":
		return nil
	case !userID.MatchString(caller):
		return filehost.E(filehost.NotAuthenticated, "Log in to Mattermost first, or send a valid token; a browser also needs its X-CSRF-Token.", nil)
	}
	switch err := h.Admit(r.ctx, caller, r.session); {
	case err == nil:
		r.userID = caller
		return nil
	case public:
		h.Log.Debug("The caller of a public route is taken for nobody.", "error", err, "request_id", r.id, "user_id", caller)
		return nil
	default:
		return err
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
