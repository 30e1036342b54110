package tokens

import (
	"context"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// BeginLoginFlow implements filehost.Connections.
func (s *Store) BeginLoginFlow(context.Context, string) (filehost.Begun, error) {
	return filehost.Begun{}, filehost.E(filehost.Unsupported, s.config.Host.Name+" knows no login flow.", nil)
}

// Accept implements filehost.Connections.
func (s *Store) Accept(context.Context, string, bool) error {
	return filehost.E(filehost.NotFound, "No account waits to be connected.", nil)
}
