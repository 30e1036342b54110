package remote

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
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
	err := check(ctx)
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
	var (
		blocked   interface{ BlockedAddress() netip.Addr }
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
		hostname  x509.HostnameError
		lookup    *net.DNSError
		refused   *net.OpError
	)
	switch kind := filehost.KindOf(err); {
	case errors.As(err, &blocked):
		return fmt.Sprintf("%s is at the blocked address %s: add it to Allowed private addresses, if it is right.",
			name, blocked.BlockedAddress())
	case errors.As(err, &authority):
		return "The certificate of " + name + " comes from an authority that is not trusted: add it to the CA bundle."
	case errors.As(err, &hostname):
		return "The certificate of " + name + " is for another name: correct the base URL or the certificate."
	case errors.As(err, &invalid):
		return "The certificate of " + name + " is not valid: renew it, and compare the clocks of both servers."
	case errors.As(err, &lookup):
		return "The name of " + name + " can't be looked up: check the base URL and this server's DNS."
	case kind == filehost.Timeout:
		return name + " does not answer in time: check that it runs and that no firewall is in between."
	case errors.As(err, &refused):
		return name + " can't be reached: check the base URL, that it runs, and that no firewall is in between."
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
