package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// startNextcloud starts a Nextcloud beside the stack's own host, for tests of what only Nextcloud has. Its user has the
// name and password of the embedded host's.
func startNextcloud(ctx context.Context, dir string, s *stack.Stack) (*doubles.Nextcloud, error) {
	const user = "alice"
	nextcloud, err := doubles.StartNextcloud(ctx, hosts.Config{
		Root: filepath.Join(dir, "nextcloud"),
		Users: []hosts.User{{
			Name: user, Password: stack.HostPassword(user), DisplayName: "Alice Ämne", Email: "alice@example.com",
		}},
		ClientID: "mattermost", ClientSecret: "unused", RedirectURIs: []string{s.BaseURL() + "/connection/callback/default"},
	})
	if err != nil {
		return nil, err
	}
	return nextcloud, sample.WriteSmall(nextcloud.Dir(user))
}

// unsurprised fails when the plugin has asked Nextcloud for what no client should.
func unsurprised(nextcloud *doubles.Nextcloud) error {
	if surprises := nextcloud.Surprises(); len(surprises) > 0 {
		return fmt.Errorf("surprises at Nextcloud: %q", surprises)
	}
	return nil
}
