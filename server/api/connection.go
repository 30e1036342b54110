package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

type connectionBody struct {
	State     filehost.ConnectionState `json:"state"`
	Host      hostBody                 `json:"host"`
	Method    filehost.Method          `json:"method"`
	Methods   []filehost.Method        `json:"methods"`
	Automatic bool                     `json:"automatic"`
	Account   string                   `json:"account,omitempty"`
	Grant     string                   `json:"grant,omitempty"`
	Since     *time.Time               `json:"since,omitempty"`
	LastUsed  *time.Time               `json:"last_used,omitempty"`
	Refused   *refusedBody             `json:"refused,omitempty"`
	Pending   *pendingBody             `json:"pending,omitempty"`
	Limits    *limitsBody              `json:"limits,omitempty"`
}

type limitsBody struct {
	Files     int   `json:"files"`
	FileSize  int64 `json:"file_size"`
	TotalSize int64 `json:"total_size"`
}

type refusedBody struct {
	Method filehost.Method `json:"method"`
	Reason string          `json:"reason"`
}

type pendingBody struct {
	Account     string     `json:"account"`
	DisplayName string     `json:"display_name,omitempty"`
	Email       string     `json:"email,omitempty"`
	ExpiresAt   *time.Time `json:"expires_at"`
}

type begunBody struct {
	AuthorizeURL string     `json:"authorize_url,omitempty"`
	LoginURL     string     `json:"login_url,omitempty"`
	ExpiresAt    *time.Time `json:"expires_at,omitempty"`
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
	Method   *filehost.Method `json:"method"`
	Accept   *bool            `json:"accept"`
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
	if err != nil {
		return response{}, err
	}
	limits, err := service.AttachLimits(r.ctx)
	body := newConnection(service, connection)
	body.Limits = &limitsBody{limits.Files, limits.FileBytes, limits.TotalBytes}
	return response{status: http.StatusOK, body: body}, err
}

func newConnection(service *filehost.Service, connection filehost.Connection) connectionBody {
	body := connectionBody{
		State: connection.State, Host: hostBody{service.Host.ID, service.Host.Name, service.Host.Kind},
		Method: connection.Methods[0], Methods: connection.Methods, Automatic: connection.Automatic(),
		Account: connection.Account, Grant: connection.Grant, Since: moment(connection.Since), LastUsed: moment(connection.LastUsed),
	}
	if refused := connection.Refused; refused != nil {
		body.Refused = &refusedBody{refused.Method, refused.Reason}
	}
	if pending := connection.Pending; pending != nil {
		body.Pending = &pendingBody{pending.Account, pending.DisplayName, pending.Email, moment(pending.ExpiresAt)}
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
	if err == nil {
		err = body.check()
	}
	if err != nil {
		return response{}, err
	}
	switch {
	case body.Username != nil:
		err = service.ConnectWithPassword(r.ctx, r.userID, *body.Username, *body.Password)
	case body.Confirm != nil:
		err = service.Confirm(r.ctx, r.userID, *body.Confirm)
	case body.Accept != nil:
		err = service.Accept(r.ctx, r.userID, *body.Accept)
	default:
		return begin(r, service, body.Method)
	}
	if err != nil {
		return response{}, err
	}
	return connectionOf(r, service)
}

// check refuses a body that asks for several things at once, or for a half of one.
func (b connectBody) check() error {
	byPassword := b.Username != nil || b.Password != nil
	asked := ""
	for _, field := range []struct {
		name  string
		there bool
	}{{"password", byPassword}, {"confirm", b.Confirm != nil}, {"accept", b.Accept != nil}, {"method", b.Method != nil}} {
		switch {
		case field.there && asked != "":
			return filehost.Invalid(field.name, "Send either "+asked+" or "+field.name+".")
		case field.there:
			asked = field.name
		}
	}
	switch {
	case byPassword && b.Username == nil:
		return filehost.Invalid("username", "username is missing.")
	case byPassword && b.Password == nil:
		return filehost.Invalid("password", "password is missing.")
	case b.Method != nil && !slices.Contains(filehost.Methods(), *b.Method):
		return filehost.Invalid("method", "method must be one of "+strings.Join(filehost.MethodNames(filehost.Methods()), ", ")+".")
	}
	return nil
}

// begin begins to connect by a method, or by the best one.
func begin(r *request, service *filehost.Service, method *filehost.Method) (response, error) {
	var chosen filehost.Method
	if method != nil {
		chosen = *method
	}
	begun, err := service.Begin(r.ctx, r.userID, chosen)
	if err != nil {
		return response{}, err
	}
	if begun.Connected {
		return connectionOf(r, service)
	}
	return response{status: http.StatusOK, body: begunBody{begun.AuthorizeURL, begun.LoginURL, moment(begun.ExpiresAt)}}, nil
}

// disconnect serves DELETE /connection.
func (h *Handler) disconnect(r *request) (response, error) {
	service, err := serviceOfQuery(r)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, service.Disconnect(r.ctx, r.userID)
}
