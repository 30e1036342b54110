package remote

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// OpenFrom implements filehost.Remote.
func (c *Client) OpenFrom(context.Context, filehost.Credential, filehost.Entry, int64) (filehost.Content, error) {
	return filehost.Content{}, c.unable()
}
