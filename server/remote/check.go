package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// errState is the cause of the error for a host that is there, but not in the state to be used.
var errState = errors.New("the host told its state")

// Check implements filehost.Remote.
func (c *Client) Check(ctx context.Context) error {
	check := c.checkDAV
	if c.profile.statusPath != "" {
		check = c.checkStatus
	}
	err := check(filehost.AsProbe(ctx))
	if err == nil || errors.Is(err, errState) {
		return err
	}
	kind := filehost.KindOf(err)
	switch kind {
	case filehost.Maintenance, filehost.RateLimited, filehost.Timeout:
	default:
		kind = filehost.HostUnavailable
	}
	return filehost.E(kind, c.remedy(err), err)
}

// checkStatus asks for the state that Nextcloud and its relatives tell everybody.
func (c *Client) checkStatus(ctx context.Context) error {
	var state struct {
		Installed   *bool  `json:"installed"`
		Maintenance bool   `json:"maintenance"`
		Product     string `json:"productname"`
	}
	address := c.host.Origin() + c.base.Escaped() + c.profile.statusPath
	if err := c.getJSON(ctx, call{url: address}, &state); err != nil {
		return err
	}
	name := c.host.Name
	switch {
	case state.Installed == nil:
		return c.nonsense(errors.New("the answer holds no state"))
	case !*state.Installed:
		return filehost.E(filehost.HostUnavailable, name+" is not installed yet: finish its installation.", errState)
	case state.Maintenance:
		return filehost.E(filehost.Maintenance, inMaintenance(name), errState)
	case slices.Contains(c.profile.otherProducts, state.Product):
		return filehost.E(filehost.NotConfigured,
			fmt.Sprintf("%s says that it is %s: choose that kind of host in the settings.", name, state.Product), errState)
	}
	return nil
}

func inMaintenance(name string) string {
	return name + " is in maintenance: wait, or end its maintenance mode."
}

// checkDAV asks for the top folder without signing in. To be sent away with 401 is all that is wanted.
func (c *Client) checkDAV(ctx context.Context) error {
	top := tree{origin: c.host.Origin(), top: c.base}
	err := c.propfind(ctx, propfind{tree: top, depth: "0"}, func(found) error { return nil })
	if kind := filehost.KindOf(err); err != nil && kind != filehost.CredentialRejected && kind != filehost.Forbidden {
		return err
	}
	return nil
}

// remedy says what an administrator can do about a failed check.
func (c *Client) remedy(err error) string {
	name := c.host.Name
	var unreachable interface {
		Remedy(name, setting string) string
	}
	if errors.As(err, &unreachable) {
		if remedy := unreachable.Remedy(name, "base URL"); remedy != "" {
			return remedy
		}
	}
	switch kind := filehost.KindOf(err); {
	case kind == filehost.Timeout:
		return name + " does not answer in time: check that it runs and that no firewall is in between."
	case answeredWith(err)/100 == 3:
		return name + " redirects to another address: set the base URL to that one."
	case kind == filehost.Maintenance:
		return inMaintenance(name)
	case kind == filehost.RateLimited:
		return name + " asks for fewer requests: let it accept this server's address without a limit."
	default:
		return name + " does not answer as a host of its kind should: check the base URL and the kind of host, and the log of the host."
	}
}
