package mattermost

import (
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// CommandLine is what clients offer while the slash command is typed.
type CommandLine struct {
	Trigger, Description, Hint string
	Subcommands                []SubcommandLine
	// Complete is the route that completes paths, below the plugin's own.
	Complete string
}

// SubcommandLine is one of its lines.
type SubcommandLine struct {
	Name, Arguments, Help string
	Completed             bool // by the route, else what is typed is left alone
}

// RegisterCommand makes the slash command known to the server.
func RegisterCommand(api plugin.API, line CommandLine) error {
	data := model.NewAutocompleteData(line.Trigger, line.Hint, line.Description)
	for _, sub := range line.Subcommands {
		offered := model.NewAutocompleteData(sub.Name, sub.Arguments, sub.Help)
		switch {
		case sub.Completed:
			offered.AddDynamicListArgument(sub.Help, line.Complete, false)
		case sub.Arguments != "":
			offered.AddTextArgument(sub.Help, sub.Arguments, "")
		}
		data.AddCommand(offered)
	}
	return errors.Wrap(api.RegisterCommand(&model.Command{
		Trigger: line.Trigger, AutoComplete: true, AutoCompleteDesc: line.Description, AutoCompleteHint: line.Hint, AutocompleteData: data,
	}), "register the slash command")
}

// NewCommand is what a user has typed.
func NewCommand(args *model.CommandArgs) filehost.Command {
	return filehost.Command{Place: filehost.Place{UserID: args.UserId, ChannelID: args.ChannelId, RootID: args.RootId}, Text: args.Command, TriggerID: args.TriggerId}
}
