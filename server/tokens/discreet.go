package tokens

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// discreet makes the calls of the host keep the credentials that they are made with out of their errors.
func (c *Config) discreet() {
	c.Account, c.HostUser = discreetly(c.Account), discreetly(c.HostUser)
	c.Revoke, c.Probe = discreetlyDone(c.Revoke), discreetlyDone(c.Probe)
}

func discreetly[T any](call func(context.Context, filehost.Credential) (T, error)) func(context.Context, filehost.Credential) (T, error) {
	if call == nil {
		return nil
	}
	return func(ctx context.Context, credential filehost.Credential) (T, error) {
		answer, err := call(ctx, credential)
		return answer, filehost.WithoutCredential(err, credential)
	}
}

func discreetlyDone(call func(context.Context, filehost.Credential) error) func(context.Context, filehost.Credential) error {
	if call == nil {
		return nil
	}
	return func(ctx context.Context, credential filehost.Credential) error {
		return filehost.WithoutCredential(call(ctx, credential), credential)
	}
}
