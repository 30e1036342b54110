package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// eventLimit is how long Next and First wait.
const eventLimit = 20 * time.Second

// Events are what a server tells one user's client by WebSocket.
type Events struct{ connection *websocket.Conn }

// Listen connects to a server as the account's client does. The caller closes it.
func (m *Mattermost) Listen(ctx context.Context, account *Account) (*Events, error) {
	address := "ws" + strings.TrimPrefix(m.URL, "http") + "/api/v4/websocket"
	connection, response, err := websocket.DefaultDialer.DialContext(ctx, address, http.Header{"Authorization": {"Bearer " + account.Token}})
	if err != nil {
		return nil, err
	}
	events := &Events{connection}
	if err := response.Body.Close(); err != nil {
		return nil, err
	}
	if err := events.Next("hello", nil); err != nil {
		_ = connection.Close()
		return nil, err
	}
	return events, nil
}

// Next waits for the next event of a name and passes over others; it decodes what the event's data holds.
func (e *Events) Next(name string, data any) error {
	_, found, err := e.first(name)
	if err != nil || data == nil {
		return err
	}
	return json.Unmarshal(found, data)
}

// First waits for the first event of several and tells which it is.
func (e *Events) First(names ...string) (string, error) {
	name, _, err := e.first(names...)
	return name, err
}

func (e *Events) first(names ...string) (name string, data json.RawMessage, err error) {
	if err := e.connection.SetReadDeadline(time.Now().Add(eventLimit)); err != nil {
		return "", nil, err
	}
	for {
		var event struct {
			Event string
			Data  json.RawMessage
		}
		if err := e.connection.ReadJSON(&event); err != nil {
			return "", nil, fmt.Errorf("wait for the events %v: %w", names, err)
		}
		if slices.Contains(names, event.Event) {
			return event.Event, event.Data, nil
		}
	}
}

// Close ends the connection.
func (e *Events) Close() error { return e.connection.Close() }
