package api

import (
	"context"
	"net/http"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// healthBody follows draft-inadarei-api-health-check-06, 3.
type healthBody struct {
	Status     filehost.Status        `json:"status"`
	Version    string                 `json:"version,omitempty"`
	Mattermost string                 `json:"mattermost_version,omitempty"`
	Connection *connectionBody        `json:"connection,omitempty"`
	Checks     map[string][]checkBody `json:"checks,omitempty"`
}

type checkBody struct {
	Status filehost.Status `json:"status"`
	Value  float64         `json:"observedValue"` // the latency
	Unit   string          `json:"observedUnit"`
	Time   time.Time       `json:"time"`
	Output string          `json:"output,omitempty"` // the remedy
}

// health serves GET /health: everybody sees the status, a user his connection too, a system admin all checks. It calls
// nobody: the checks have run in the background.
func (h *Handler) health(r *request) (response, error) {
	status, checks := r.runtime.Monitor.Report()
	body := healthBody{Status: status}
	if r.userID != "" {
		h.describeTo(r, &body, checks)
	}
	code := http.StatusOK
	if status == filehost.Fail {
		code = http.StatusServiceUnavailable
	}
	return response{status: code, contentType: typeHealth, body: body}, nil
}

// lookUpLimit bounds each look-up for the health page. A database that hangs is what the page is there to tell, and
// Mattermost's own calls heed no context.
const lookUpLimit = 2 * time.Second

// lookUp calls ask and waits for it no longer than a health page may take.
func lookUp[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		found T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpLimit)
	defer cancel()
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		o.err = filehost.Recovered(func() (err error) {
			o.found, err = ask(ctx)
			return err
		})
		ended <- o
	}()
	select {
	case o := <-ended:
		return o.found, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// describeTo adds what the caller may see. What a database that fails or hangs can't tell is left out.
func (h *Handler) describeTo(r *request, body *healthBody, checks []filehost.Check) {
	if service := r.runtime.Service; service != nil {
		connection, err := lookUp(r.ctx, func(ctx context.Context) (filehost.Connection, error) { return service.Connection(ctx, r.userID) })
		if err == nil {
			described := newConnection(service, connection)
			body.Connection = &described
		}
	}
	user, err := lookUp(r.ctx, func(ctx context.Context) (filehost.User, error) { return h.User(ctx, r.userID) })
	if err != nil {
		h.Log.Warn("The caller of the health page could not be looked up.", "error", err, "request_id", r.id)
	}
	if err != nil || !user.Admin {
		return
	}
	body.Version, body.Mattermost, body.Checks = h.Version, h.ServerVersion, map[string][]checkBody{}
	for _, check := range checks {
		body.Checks[check.Name] = []checkBody{{Status: check.Status, Value: float64(check.Latency.Microseconds()) / 1000, Unit: "ms",
			Time: check.Time, Output: check.Remedy}}
	}
}

// openAPI serves GET /openapi.yaml.
func (h *Handler) openAPI(*request) (response, error) {
	return response{status: http.StatusOK, contentType: typeYAML, body: h.OpenAPI, header: http.Header{"Cache-Control": {"public, max-age=300"}}}, nil
}
