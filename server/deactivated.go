package main

import (
	"context"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The end of a deactivated user's access.
const (
	disconnectTimeout = 2 * time.Minute // of one attempt: the host and its sign-in server may be slow
	disconnectFirst   = time.Second     // before the second attempt; twice as long before each further one
	disconnectTries   = 8               // some two minutes in all
)

// disconnect ends the access of a deactivated user, in the background. Whoever is deactivated while the plugin doesn't run,
// or can't do so in time, is refused at each request, and an admin can end what is kept of his access.
func (p *Plugin) disconnect(userID string) {
	if p.server.Load() == nil {
		return // the plugin has not been activated yet
	}
	p.inBackground(func() {
		wait := disconnectFirst
		for range disconnectTries {
			err := p.tryDisconnect(userID)
			if err == nil {
				return
			}
			p.log.Warn("The access of a deactivated user could not be ended yet.", "user_id", userID, "error", err.Error())
			select {
			case <-p.lifetime.Done():
				return
			case <-p.clock.After(wait):
			}
			wait *= 2
		}
		p.log.Error("The access of a deactivated user was not ended; he is refused, and an admin can end it by DELETE /admin/connections/{user_id}.", "user_id", userID)
	})
}

// tryDisconnect ends the access of a user who is still deactivated.
func (p *Plugin) tryDisconnect(userID string) error {
	ctx, cancel := context.WithTimeout(p.lifetime, disconnectTimeout)
	defer cancel()
	service := p.current.Load().Service
	if service == nil {
		return filehost.E(filehost.NotConfigured, "The plugin is not configured.", nil)
	}
	user, err := service.Mattermost.User(ctx, userID)
	if err != nil && filehost.KindOf(err) != filehost.NotFound || user.Active {
		return err
	}
	return service.UserDeactivated(ctx, userID)
}
