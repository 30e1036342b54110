package api

import (
	"net/http"
	"regexp"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The connections on a page of GET /admin/connections.
const (
	defaultKept = 50
	maxKept     = 200
)

// keptPosition is the grammar of the cursors of GET /admin/connections.
var keptPosition = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

type keptPageBody struct {
	Connections []keptBody      `json:"connections"`
	NextCursor  string          `json:"next_cursor,omitempty"`
	Counts      *keptCountsBody `json:"counts,omitempty"`
}

type keptBody struct {
	UserID   string                   `json:"user_id"`
	Username string                   `json:"username,omitempty"`
	State    filehost.ConnectionState `json:"state"`
	Grant    string                   `json:"grant,omitempty"`
	Account  string                   `json:"account,omitempty"`
	Since    *time.Time               `json:"since,omitempty"`
	LastUsed *time.Time               `json:"last_used,omitempty"`
	Refused  *refusedBody             `json:"refused,omitempty"`
}

type keptCountsBody struct {
	Total   int                              `json:"total"`
	ByState map[filehost.ConnectionState]int `json:"by_state"`
	ByGrant map[string]int                   `json:"by_grant"`
}

// keptConnections serves GET /admin/connections.
func (h *Handler) keptConnections(r *request) (response, error) {
	q := newQuery(r, "host", "state", "grant", "limit", "cursor")
	query := filehost.KeptQuery{
		State: filehost.ConnectionState(q.optional("state", string(filehost.Connected), string(filehost.Reconnect), string(filehost.Disconnected))),
		Grant: q.optional("grant", filehost.Grants()...),
		Limit: q.number("limit", defaultKept, 1, maxKept),
		After: q.one("cursor", ""),
	}
	host := q.one("host", "")
	if query.After != "" && !keptPosition.MatchString(query.After) {
		q.fail("cursor", "cursor must be the next_cursor of a page.")
	}
	if q.err != nil {
		return response{}, q.err
	}
	service, err := r.serviceFor(host)
	if err != nil {
		return response{}, err
	}
	page, err := service.KeptConnections(r.ctx, r.userID, query)
	return response{status: http.StatusOK, body: newKeptPage(page)}, err
}

func newKeptPage(page filehost.KeptPage) keptPageBody {
	body := keptPageBody{Connections: []keptBody{}, NextCursor: page.Next}
	for _, kept := range page.Connections {
		one := keptBody{UserID: kept.UserID, Username: kept.Username, State: kept.State, Grant: kept.Grant, Account: kept.Account,
			Since: moment(kept.Since), LastUsed: moment(kept.LastUsed)}
		if refused := kept.Refused; refused != nil {
			one.Refused = &refusedBody{refused.Method, refused.Reason}
		}
		body.Connections = append(body.Connections, one)
	}
	if counts := page.Counts; counts != nil {
		body.Counts = &keptCountsBody{counts.Total, counts.ByState, counts.ByGrant}
	}
	return body
}

// revokeConnection serves DELETE /admin/connections/{user_id}.
func (h *Handler) revokeConnection(r *request) (response, error) {
	service, err := serviceOfQuery(r)
	if err != nil {
		return response{}, err
	}
	whose := r.variable("user_id")
	if !userID.MatchString(whose) {
		return response{}, filehost.Invalid("user_id", "user_id must be the id of a Mattermost user.")
	}
	return response{status: http.StatusNoContent}, service.RevokeConnection(r.ctx, r.userID, whose)
}
