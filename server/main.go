// Command plugin is the server part of filehost-attach: the wiring of its packages and the hooks that Mattermost calls.
package main

import "github.com/mattermost/mattermost/server/public/plugin"

// What the manifest says of the plugin.
const (
	pluginID   = "filehost-attach"
	pluginName = "File Host Attach"
)

// version is the manifest's, set by the build.
var version = "development"

func main() {
	plugin.ClientMain(&Plugin{})
}
