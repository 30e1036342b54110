package command

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// connect begins a sign-in, unless there is nothing to be done.
func (h *Handler) connect(ctx context.Context, c *call, _ string) (filehost.Message, error) {
	connection, err := c.service.Connection(ctx, c.UserID)
	if err != nil {
		return filehost.Message{}, err
	}
	if connection.State == filehost.Connected && connection.Pending == nil {
		return filehost.Message{Text: connectedAs(c.service.Host.Name, connection)}, nil
	}
	text, err := c.service.Resume(ctx, c.UserID, c.triggerID)
	if err != nil {
		return filehost.Message{}, err
	}
	if text == "" {
		text = seeTheDialog
	}
	return filehost.Message{Text: text, Buttons: c.connectButtons()}, nil
}

func (h *Handler) disconnect(ctx context.Context, c *call, _ string) (filehost.Message, error) {
	if err := c.service.Disconnect(ctx, c.UserID); err != nil {
		return filehost.Message{}, err
	}
	return filehost.Message{Text: disconnected(c.service.Host.Name)}, nil
}

func (h *Handler) status(ctx context.Context, c *call, _ string) (filehost.Message, error) {
	connection, err := c.service.Connection(ctx, c.UserID)
	switch {
	case err != nil:
		return filehost.Message{}, err
	case connection.State == filehost.Connected:
		return filehost.Message{Text: connectedAs(c.service.Host.Name, connection)}, nil
	}
	return filehost.Message{Text: notConnected(c.service.Host.Name, connection), Buttons: c.connectButtons()}, nil
}

func (h *Handler) help(_ context.Context, c *call, _ string) (filehost.Message, error) {
	return filehost.Message{Text: helpText(c.service.Host.Name)}, nil
}
