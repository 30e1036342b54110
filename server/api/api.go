// Package api is the HTTP contract: routes, identity, decoding and responding. What a route does is a use case of the
// filehost package; what it promises is in assets/openapi.yaml.
package api

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Runtime is what the routes work with. It is swapped whole when the configuration changes.
type Runtime struct {
	Service *filehost.Service // nil: the configuration is not valid
	Monitor *filehost.Monitor
}

// Config is what a Handler works with. All of it is required.
type Config struct {
	Lifetime      context.Context //nolint:containedctx // the plugin's own: a request's context never ends
	Runtime       func() Runtime
	User          func(ctx context.Context, userID string) (filehost.User, error)
	Admit         func(ctx context.Context, userID, sessionID string) error // fails with Forbidden for who may not act as the user
	Commands      Commands
	SiteURL       func() string // without a trailing slash; "" when unset
	Version       string        // of the plugin
	ServerVersion string        // of Mattermost
	OpenAPI       []byte        // assets/openapi.yaml
	Log           *slog.Logger
}

// Commands is the slash command, whose buttons and completion come by routes.
type Commands interface {
	// Press carries out a button of an answer to a command, and shows the outcome in its place.
	Press(ctx context.Context, service *filehost.Service, press filehost.Press)
	// Complete offers what the typed input, the command's name included, may become.
	Complete(ctx context.Context, service *filehost.Service, userID, input string) ([]filehost.Suggestion, error)
}

// Base is the path of the API below the site's address.
const Base = "/plugins/filehost-attach/api"

// CallbackURL is the redirect URI (RFC 6749 3.1.2) of a host's sign-in. siteURL has no trailing slash.
func CallbackURL(siteURL, hostID string) string {
	return siteURL + Base + "/connection/callback/" + url.PathEscape(hostID)
}

// Handler serves the routes under /plugins/filehost-attach.
type Handler struct {
	Config
	router *mux.Router
}

// The time that routes get. A copy gets what Mattermost gives a request.
const (
	quick   = 30 * time.Second
	signIn  = 90 * time.Second // the sign-in server, and then the host, may be slow on purpose
	listing = 2 * time.Minute
	typing  = 4 * time.Second // after which nobody waits for a suggestion any more
)

// margin is what is left of a request's time to answer in.
const margin = 10 * time.Second

// A use answers a request. Its error is classified, logged and worded by the handler.
type use func(h *Handler, r *request) (response, error)

// route is one line of the table.
type route struct {
	method string
	path   string
	public bool // answers without a Mattermost session
	spends bool // a GET that can't be repeated: HEAD must not run it
	limit  func(*filehost.Service) time.Duration
	use    use
}

func within(limit time.Duration) func(*filehost.Service) time.Duration {
	return func(*filehost.Service) time.Duration { return limit }
}

// routes is the whole API. Whatever is not public is refused without a session.
var routes = []route{
	{method: http.MethodGet, path: "/api/files", limit: within(listing), use: (*Handler).files},
	{method: http.MethodGet, path: "/api/thumbnail", limit: within(listing), use: (*Handler).thumbnail},
	{method: http.MethodPost, path: "/api/attach", limit: TransferLimit, use: (*Handler).attach},
	{method: http.MethodPost, path: "/api/refresh", limit: TransferLimit, use: (*Handler).refresh},
	{method: http.MethodGet, path: "/api/cards/{post_id}", limit: within(quick), use: (*Handler).card},
	{method: http.MethodGet, path: "/api/links", limit: within(quick), use: (*Handler).links},
	{method: http.MethodPatch, path: "/api/links/{id}", limit: within(signIn), use: (*Handler).changeLink},
	{method: http.MethodDelete, path: "/api/links/{id}", limit: within(signIn), use: (*Handler).revokeLink},
	{method: http.MethodPost, path: "/api/save", limit: TransferLimit, use: (*Handler).save},
	{method: http.MethodPost, path: "/api/folders", limit: within(quick), use: (*Handler).makeFolder},
	{method: http.MethodGet, path: "/api/health", public: true, limit: within(quick), use: (*Handler).health},
	{method: http.MethodGet, path: "/api/openapi.yaml", public: true, limit: within(quick), use: (*Handler).openAPI},
	{method: http.MethodGet, path: "/api/jwks.json", public: true, limit: within(quick), use: (*Handler).jwks},
	{method: http.MethodGet, path: "/api/.well-known/openid-configuration", public: true, limit: within(quick), use: (*Handler).discovery},
	{method: http.MethodGet, path: "/api/connection", limit: within(quick), use: (*Handler).connection},
	{method: http.MethodPost, path: "/api/connection", limit: within(signIn), use: (*Handler).connect},
	{method: http.MethodDelete, path: "/api/connection", limit: within(signIn), use: (*Handler).disconnect},
	{method: http.MethodGet, path: "/api/admin/connections", limit: within(listing), use: (*Handler).keptConnections},
	{method: http.MethodDelete, path: "/api/admin/connections/{user_id}", limit: within(signIn), use: (*Handler).revokeConnection},
	{method: http.MethodDelete, path: "/api/admin/signing-keys", limit: within(quick), use: (*Handler).replaceSigningKeys},
	{method: http.MethodGet, path: "/api/connection/callback/{host}", public: true, spends: true, limit: within(signIn), use: (*Handler).callback},
	{method: http.MethodGet, path: "/api/connection/confirm/{handle}", public: true, limit: within(quick), use: (*Handler).confirmPage},
	{method: http.MethodGet, path: "/api/connection/done", public: true, limit: within(quick), use: (*Handler).donePage},
	{method: http.MethodGet, path: "/api/connection/failed", public: true, limit: within(quick), use: (*Handler).failedPage},
	{method: http.MethodPost, path: "/api/actions/connect", limit: within(signIn), use: (*Handler).actionConnect},
	{method: http.MethodPost, path: "/api/actions/code", limit: within(quick), use: (*Handler).actionCode},
	{method: http.MethodPost, path: "/api/actions/confirm", limit: within(signIn), use: (*Handler).actionConfirm},
	{method: http.MethodPost, path: "/api/actions/account", limit: within(signIn), use: (*Handler).actionAccount},
	{method: http.MethodPost, path: "/api/actions/command", limit: TransferLimit, use: (*Handler).actionCommand},
	{method: http.MethodGet, path: CompletePath, limit: within(typing), use: (*Handler).complete},
}

// TransferLimit is the time of a synchronous copy: it ends before the server gives up on the request.
func TransferLimit(service *filehost.Service) time.Duration {
	limit := 5 * time.Minute
	if service != nil {
		if limits, err := service.Limits(context.Background()); err == nil && limits.RequestTimeout > 0 {
			limit = limits.RequestTimeout
		}
	}
	return limit - min(margin, limit/2)
}

// New returns the handler of all routes.
func New(config Config) *Handler {
	h := &Handler{Config: config, router: mux.NewRouter().SkipClean(true)}
	byPath := map[string]map[string]route{}
	for _, line := range routes {
		if byPath[line.path] == nil {
			byPath[line.path] = map[string]route{}
		}
		byPath[line.path][line.method] = line
	}
	for path, methods := range byPath {
		h.router.Path(path).HandlerFunc(h.dispatch(methods))
	}
	h.router.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.answer(w, h.newRequest(context.Background(), r), response{}, filehost.E(filehost.NotFound, "There is no such route.", nil))
	})
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.router.ServeHTTP(w, r) }

func (h *Handler) dispatch(methods map[string]route) http.HandlerFunc {
	if get, ok := methods[http.MethodGet]; ok && !get.spends {
		methods[http.MethodHead] = get
	}
	allow := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
	return func(w http.ResponseWriter, r *http.Request) {
		route, ok := methods[r.Method]
		if !ok {
			w.Header().Set("Allow", allow)
			h.answer(w, h.newRequest(context.Background(), r), response{}, filehost.E(filehost.MethodNotAllowed, "This route takes "+allow+".", nil))
			return
		}
		h.serve(w, r, route)
	}
}

// serve runs a route within its time, derived from the plugin's lifetime, and answers once.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, route route) {
	runtime := h.Runtime()
	ctx, cancel := context.WithTimeout(h.Lifetime, route.limit(runtime.Service))
	defer cancel()
	request := h.newRequest(ctx, r)
	request.runtime = runtime
	answer, err := h.run(request, route)
	h.answer(w, request, answer, err)
}

func (h *Handler) run(r *request, route route) (answer response, err error) {
	err = filehost.Recovered(func() (err error) {
		if err = h.identify(r, route.public); err == nil {
			answer, err = route.use(h, r)
		}
		return err
	})
	return answer, err
}
