package embedded

import "github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"

// The names of package hosts, for those who use only this host.
type (
	User   = hosts.User
	Config = hosts.Config
	Fault  = hosts.Fault
	Counts = hosts.Counts
)

// The ends of a fault, see package hosts.
const (
	Finish  = hosts.Finish
	Short   = hosts.Short
	Cut     = hosts.Cut
	Reset   = hosts.Reset
	Stall   = hosts.Stall
	Trickle = hosts.Trickle
)
