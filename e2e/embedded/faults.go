package embedded

import "github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"

// The types of package hosts, for those who use only this host.
type (
	// User is an account of the host.
	User = hosts.User
	// Config says where the host serves from and which OAuth client may use it.
	Config = hosts.Config
	// Fault is something that goes wrong with the requests for one path.
	Fault = hosts.Fault
	// Counts is what the host has seen since it started.
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
