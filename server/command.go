package main

import (
	"context"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/command"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/mattermost"
)

// registerCommand offers the slash command. Without it the plugin works all the same.
func (p *Plugin) registerCommand() {
	line := mattermost.CommandLine{Trigger: command.Trigger, Description: command.Description, Hint: command.Hint, Complete: api.CompletePath}
	for _, sub := range command.Lines() {
		line.Subcommands = append(line.Subcommands, mattermost.SubcommandLine(sub))
	}
	if err := mattermost.RegisterCommand(p.API, line); err != nil {
		p.log.Error("The slash command is not offered.", "error", err)
	}
}

// runCommand carries out a slash command, as whom Mattermost says, in the time of a copy.
func (p *Plugin) runCommand(c *plugin.Context, args *model.CommandArgs) {
	service := p.current.Load().Service
	ctx, cancel := context.WithTimeout(p.lifetime, api.TransferLimit(service))
	defer cancel()
	ctx = filehost.WithRequest(ctx, filehost.Request{ID: c.RequestId, SessionID: c.SessionId, IPAddress: c.IPAddress})
	p.commands.Run(ctx, service, mattermost.NewCommand(args))
}
