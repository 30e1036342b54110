// Command mattermost is a real Mattermost server built from its Go module.
package main

import (
	"os"

	_ "github.com/mattermost/mattermost/server/v8/channels/app/slashcommands"
	"github.com/mattermost/mattermost/server/v8/cmd/mattermost/commands"
)

func main() {
	if err := commands.Run(os.Args[1:]); err != nil {
		os.Exit(1)
	}
}
