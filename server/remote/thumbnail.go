package remote

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Thumbnail implements filehost.Thumbnails.
func (c *Client) Thumbnail(context.Context, filehost.Credential, filehost.Ref, int) (filehost.Thumbnail, error) {
	return filehost.Thumbnail{}, c.unable()
}
