package main

import (
	"context"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// forgetTimeout bounds what is done about a post that was deleted.
const forgetTimeout = time.Minute

// postDeleted forgets what is known of a post, in the background. What can't be forgotten expires by itself.
func (p *Plugin) postDeleted(post filehost.SeenPost) {
	if p.server.Load() == nil {
		return // the plugin has not been activated yet
	}
	p.inBackground(func() {
		ctx, cancel := context.WithTimeout(p.lifetime, forgetTimeout)
		defer cancel()
		service := p.current.Load().Service
		if service == nil {
			return
		}
		if err := service.PostDeleted(ctx, post); err != nil {
			p.log.Warn("What is known of a deleted post could not be forgotten; it expires by itself.", "post_id", post.ID, "error", err.Error())
		}
	})
}
