package remote

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Write implements filehost.Writes.
func (c *Client) Write(context.Context, filehost.Credential, filehost.NewFile) (filehost.Entry, error) {
	return filehost.Entry{}, c.unable()
}

// MakeFolder implements filehost.Writes.
func (c *Client) MakeFolder(context.Context, filehost.Credential, filehost.Path) (filehost.Entry, error) {
	return filehost.Entry{}, c.unable()
}
