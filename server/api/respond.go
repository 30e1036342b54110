package api

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The media types of answers.
const (
	typeJSON   = "application/json; charset=utf-8"
	typeHealth = "application/health+json; charset=utf-8" // draft-inadarei-api-health-check-06
	typeHTML   = "text/html; charset=utf-8"
	typeYAML   = "application/yaml; charset=utf-8"
)

// response is a whole answer. It is written in one piece: each write to the server is two round trips.
type response struct {
	status      int
	contentType string // "" = typeJSON, with body marshalled
	header      http.Header
	body        any // []byte is sent as it is; nil sends none
}

// statuses of the kinds of error: the one table.
var statuses = map[filehost.Kind]int{
	filehost.Internal:           http.StatusInternalServerError,
	filehost.InvalidRequest:     http.StatusBadRequest,
	filehost.NotAuthenticated:   http.StatusUnauthorized,
	filehost.Forbidden:          http.StatusForbidden,
	filehost.NotFound:           http.StatusNotFound,
	filehost.MethodNotAllowed:   http.StatusMethodNotAllowed,
	filehost.Conflict:           http.StatusConflict,
	filehost.Changed:            http.StatusPreconditionFailed,
	filehost.TooLarge:           http.StatusRequestEntityTooLarge,
	filehost.Unsupported:        http.StatusUnprocessableEntity,
	filehost.KeyReused:          http.StatusUnprocessableEntity,
	filehost.NotConnected:       http.StatusFailedDependency,
	filehost.CredentialRejected: http.StatusFailedDependency,
	filehost.RateLimited:        http.StatusTooManyRequests,
	filehost.HostUnavailable:    http.StatusBadGateway,
	filehost.NotConfigured:      http.StatusServiceUnavailable,
	filehost.Maintenance:        http.StatusServiceUnavailable,
	filehost.Timeout:            http.StatusGatewayTimeout,
}

// maintenanceRetry is what a caller is told to wait when the host did not say how long, in a kind that must name a time.
const maintenanceRetry = time.Minute

// errorBody is the one shape of errors, readable by Mattermost's own clients.
type errorBody struct {
	ID         string        `json:"id"`
	Code       string        `json:"code"`
	Message    string        `json:"message"`
	StatusCode int           `json:"status_code"`
	RequestID  string        `json:"request_id"`
	Details    *errorDetails `json:"details,omitempty"`
}

type errorDetails struct {
	Field      string              `json:"field,omitempty"`
	Limit      int64               `json:"limit,omitempty"`
	LimitOwner filehost.LimitOwner `json:"limit_owner,omitempty"`
	Actual     int64               `json:"actual,omitempty"`
	RetryAfter int64               `json:"retry_after_s,omitempty"`
	ConnectURL string              `json:"connect_url,omitempty"`
}

// answer writes the response, or the error. Errors are logged here and nowhere else.
func (h *Handler) answer(w http.ResponseWriter, r *request, answer response, err error) {
	if err != nil {
		body := h.describe(r, err)
		h.log(r, body, err)
		answer = response{status: body.StatusCode, body: body}
		if body.Details != nil && body.Details.RetryAfter > 0 {
			answer.header = http.Header{"Retry-After": {strconv.FormatInt(body.Details.RetryAfter, 10)}}
		}
	}
	encoded, contentType, err := answer.encode()
	if err != nil {
		h.Log.Error("An answer could not be encoded.", "error", err, "request_id", r.id)
		http.Error(w, "{}", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Request-Id", r.id)
	for name, values := range answer.header {
		header[name] = values
	}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	if answer.status != http.StatusNoContent && answer.status != http.StatusNotModified { // which have no content to measure (RFC 9110 8.6)
		header.Set("Content-Length", strconv.Itoa(len(encoded)))
	}
	written := r.Method != http.MethodHead && len(encoded) > 0
	if !written || answer.status != http.StatusOK {
		w.WriteHeader(answer.status) // which a body implies when it is 200: two round trips that most answers need not make
	}
	if written {
		_, _ = w.Write(encoded) //nolint:gosec // JSON that is not sniffed, or an escaped template; an error means that the caller is gone
	}
}

func (a response) encode() (body []byte, contentType string, err error) {
	switch body := a.body.(type) {
	case nil:
		return nil, "", nil
	case []byte:
		return body, a.contentType, nil
	}
	contentType = a.contentType
	if contentType == "" {
		contentType = typeJSON
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(a.body)
	return buffer.Bytes(), contentType, err
}

// describe words an error for the caller. What is not one of the domain's says nothing of its cause.
func (h *Handler) describe(r *request, err error) errorBody {
	known := &filehost.Error{Kind: filehost.Internal, Message: "Something went wrong in the plugin; the server's log has the details under this request id."}
	if !errors.As(err, &known) && errors.Is(err, context.DeadlineExceeded) {
		known = filehost.E(filehost.Timeout, "The request did not end within its time.", nil)
	}
	code, status := known.Kind.Code(), statuses[known.Kind]
	details := errorDetails{Field: known.Field, Limit: known.Limit, LimitOwner: known.LimitOwner, Actual: known.Actual,
		RetryAfter: int64(math.Ceil(known.RetryAfter.Seconds()))}
	switch known.Kind {
	case filehost.NotConnected, filehost.CredentialRejected:
		details.ConnectURL = h.SiteURL() + Base + "/connection"
	case filehost.Maintenance, filehost.RateLimited:
		if details.RetryAfter == 0 {
			details.RetryAfter = int64(maintenanceRetry.Seconds())
		}
	default:
	}
	body := errorBody{ID: "filehost." + code, Code: code, Message: known.Message, StatusCode: status, RequestID: r.id}
	if details != (errorDetails{}) {
		body.Details = &details
	}
	return body
}

func (h *Handler) log(r *request, body errorBody, err error) {
	level := slog.LevelDebug
	switch {
	case body.StatusCode == http.StatusInternalServerError:
		level = slog.LevelError
	case body.StatusCode > http.StatusInternalServerError && filehost.KindOf(err) != filehost.NotConfigured: // which has been logged, once
		level = slog.LevelWarn
	}
	h.Log.Log(r.ctx, level, "A request failed.", "method", r.Method, "path", r.URL.Path, "code", body.Code, "request_id", r.id, "user_id", r.userID, "error", err)
}
