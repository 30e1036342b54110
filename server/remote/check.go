package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// errState is the cause of the error for a host that is there, but not in the state to be used.
var errState = errors.New("the host told its state")

// errTraffic is the cause of the warning about what users' requests have met.
var errTraffic = errors.New("requests of users were refused, stalled, or not sent")

// lastAnswer is what a check keeps of the host's last answer.
type lastAnswer struct {
	status int // 0 = there was none
	header http.Header
	asked  *url.URL
	at     time.Time
}

// Check implements filehost.Remote. It warns of a clock that is off, and of what the requests of users have met lately.
func (c *Client) Check(ctx context.Context) error {
	var last lastAnswer
	probe := &Client{
		host: c.host, profile: c.profile, base: c.base, http: c.http, stallAfter: c.stallAfter, clock: c.clock,
		traffic: newTraffic(c.clock, nil), // its own requests are not users'
		witness: func(response *http.Response) {
			last = lastAnswer{response.StatusCode, response.Header, response.Request.URL, c.clock.Now()}
		},
	}
	check := probe.checkDAV
	if c.profile.statusPath != "" {
		check = probe.checkStatus
	}
	err := check(filehost.AsProbe(ctx))
	switch {
	case err == nil:
		return c.reservations(last)
	case errors.Is(err, errState):
		return err
	}
	kind := filehost.KindOf(err)
	switch kind {
	case filehost.Maintenance, filehost.RateLimited, filehost.Timeout:
	default:
		kind = filehost.HostUnavailable
	}
	return filehost.E(kind, c.remedy(err, last), err)
}

// reservations warns of what is wrong with a host that works.
func (c *Client) reservations(last lastAnswer) error {
	skewed := filehost.CheckClock(c.addressed(), last.header, last.at)
	remedy := c.traffic.remedy(c.addressed())
	if remedy == "" {
		return skewed
	}
	var clock *filehost.Degraded
	if errors.As(skewed, &clock) {
		return &filehost.Degraded{Remedy: clock.Remedy + " " + remedy, Err: errors.Join(skewed, errTraffic)}
	}
	return &filehost.Degraded{Remedy: remedy, Err: errTraffic}
}

// addressed is the host's name with its address, for an admin.
func (c *Client) addressed() string { return c.host.Name + " (" + c.host.BaseURL.String() + ")" }

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
	name := c.addressed()
	switch {
	case state.Installed == nil:
		return c.nonsense(errors.New("the answer holds no state"))
	case !*state.Installed:
		return filehost.E(filehost.HostUnavailable, name+" is not installed yet: open that address in a browser and finish its installation.", errState)
	case state.Maintenance:
		return filehost.E(filehost.Maintenance, inMaintenance(name), errState)
	case slices.Contains(c.profile.otherProducts, state.Product):
		return filehost.E(filehost.NotConfigured,
			fmt.Sprintf("%s says that it is %s: choose what it is as “%s” in the plugin's settings, or correct “%s”.", name, state.Product, filehost.LabelHostKind, filehost.LabelHostURL), errState)
	}
	return nil
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
