// Command plugin is the server part of filehost-attach: the wiring of its packages and the hooks that Mattermost calls.
package main

import "github.com/mattermost/mattermost/server/public/plugin"

// version is the manifest's, set by the build.
var version = "development"

func main() {
	plugin.ClientMain(&Plugin{})
}
