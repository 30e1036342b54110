package remote

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// unable is the error of what a kind of host has no way to do.
func (c *Client) unable() error {
	return filehost.E(filehost.Unsupported, c.host.Name+" can't do this.", nil)
}

// CreateLink implements filehost.Shares.
func (c *Client) CreateLink(context.Context, filehost.Credential, filehost.Entry, filehost.LinkWish) (filehost.HostShare, bool, error) {
	return filehost.HostShare{}, false, c.unable()
}

// Access implements filehost.Shares.
func (c *Client) Access(context.Context, filehost.Credential, filehost.Entry) (filehost.Access, error) {
	return filehost.Access{}, c.unable()
}

// Invite implements filehost.Shares.
func (c *Client) Invite(context.Context, filehost.Credential, filehost.Entry, string, filehost.SharePermission) (filehost.HostShare, error) {
	return filehost.HostShare{}, c.unable()
}

// ShareOf implements filehost.Shares.
func (c *Client) ShareOf(context.Context, filehost.Credential, filehost.Entry, string) (filehost.HostShare, error) {
	return filehost.HostShare{}, c.unable()
}

// ChangeShare implements filehost.Shares.
func (c *Client) ChangeShare(context.Context, filehost.Credential, filehost.Entry, string, filehost.ShareChange) (filehost.HostShare, error) {
	return filehost.HostShare{}, c.unable()
}

// RemoveShare implements filehost.Shares.
func (c *Client) RemoveShare(context.Context, filehost.Credential, filehost.Entry, string) error {
	return c.unable()
}

// LinkPolicy implements filehost.Shares.
func (c *Client) LinkPolicy(context.Context, filehost.Credential) (filehost.Policy, error) {
	return filehost.Policy{}, nil
}
