package api

import (
	"net/http"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

type connectionBody struct {
	State    filehost.ConnectionState `json:"state"`
	Host     hostBody                 `json:"host"`
	Method   string                   `json:"method"`
	Account  string                   `json:"account,omitempty"`
	Grant    string                   `json:"grant,omitempty"`
	Since    *time.Time               `json:"since,omitempty"`
	LastUsed *time.Time               `json:"last_used,omitempty"`
}

type hostBody struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type connectBody struct {
	Username *string          `json:"username"`
	Password *filehost.Secret `json:"password"`
	Confirm  *string          `json:"confirm"`
	Host     string           `json:"host"`
}

// connection serves GET /connection.
func (h *Handler) connection(r *request) (response, error) {
	service, err := serviceOfQuery(r)
	if err != nil {
		return response{}, err
	}
	return connectionOf(r, service)
}

// serviceOfQuery is the service for a query that names a host and nothing else.
func serviceOfQuery(r *request) (*filehost.Service, error) {
	q := newQuery(r, "host")
	host := q.one("host", "")
	if q.err != nil {
		return nil, q.err
	}
	return r.serviceFor(host)
}

func connectionOf(r *request, service *filehost.Service) (response, error) {
	connection, err := service.Connection(r.ctx, r.userID)
	return response{status: http.StatusOK, body: newConnection(service, connection)}, err
}

func newConnection(service *filehost.Service, connection filehost.Connection) connectionBody {
	body := connectionBody{
		State: connection.State, Host: hostBody{service.Host.ID, service.Host.Name, service.Host.Kind}, Method: "oauth",
		Account: connection.Account, Grant: connection.Grant, Since: moment(connection.Since), LastUsed: moment(connection.LastUsed),
	}
	if service.Password {
		body.Method = "password"
	}
	return body
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// connect serves POST /connection: what it does depends on the fields that are there.
func (h *Handler) connect(r *request) (response, error) {
	var body connectBody
	if err := decodeBody(r, &body); err != nil {
		return response{}, err
	}
	service, err := r.serviceFor(body.Host)
	if err != nil {
		return response{}, err
	}
	byPassword := body.Username != nil || body.Password != nil
	switch {
	case byPassword && body.Confirm != nil:
		return response{}, filehost.Invalid("confirm", "Send either a user name and password, or a code to confirm.")
	case byPassword && body.Username == nil:
		return response{}, filehost.Invalid("username", "username is missing.")
	case byPassword && body.Password == nil:
		return response{}, filehost.Invalid("password", "password is missing.")
	case byPassword:
		err = service.ConnectWithPassword(r.ctx, r.userID, *body.Username, *body.Password)
	case body.Confirm != nil:
		err = service.Confirm(r.ctx, r.userID, *body.Confirm)
	default:
		return authorize(r, service)
	}
	if err != nil {
		return response{}, err
	}
	return connectionOf(r, service)
}

func authorize(r *request, service *filehost.Service) (response, error) {
	authorizeURL, err := service.Authorize(r.ctx, r.userID)
	return response{status: http.StatusOK, body: struct {
		AuthorizeURL string `json:"authorize_url"`
	}{authorizeURL}}, err
}

// disconnect serves DELETE /connection.
func (h *Handler) disconnect(r *request) (response, error) {
	service, err := serviceOfQuery(r)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, service.Disconnect(r.ctx, r.userID)
}
