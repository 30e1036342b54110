package remote

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// correctAddress ends a remedy for what may be a wrong address.
const correctAddress = "correct “" + filehost.LabelHostURL + "” in the plugin's settings"

// remedy says what is wrong and what an administrator can do about it, after a check has failed with err.
func (c *Client) remedy(err error, last lastAnswer) string {
	name := c.addressed()
	if remedy := filehost.WayRemedy(err, name, filehost.LabelHostURL); remedy != "" {
		return remedy
	}
	switch kind := filehost.KindOf(err); {
	case kind == filehost.Maintenance:
		return inMaintenance(name)
	case kind == filehost.Timeout:
		return filehost.SilentRemedy(name)
	case last.status == 0:
		return name + " gives no answer that can be read: look into its log, and at the proxy in between."
	case last.status == http.StatusOK || last.status == http.StatusMultiStatus:
		return c.contentRemedy(name, last)
	}
	return c.statusRemedy(name, last)
}

// statusRemedy is for an answer whose status says no.
func (c *Client) statusRemedy(name string, last lastAnswer) string {
	status, path := last.status, last.asked.Path
	switch {
	case status/100 == 3:
		return c.redirectRemedy(name, last)
	case status == http.StatusBadRequest && last.asked.Scheme == "http":
		return fmt.Sprintf("%s takes no plain HTTP (%d), probably because it wants TLS: let “%s” in the plugin's settings begin with https://.", name, status, filehost.LabelHostURL)
	case status == http.StatusProxyAuthRequired:
		return filehost.ProxyRemedy(name, "host", status)
	case status == http.StatusTooManyRequests:
		return fmt.Sprintf("%s refuses requests as too many (%d): let it "+filehost.AcceptAddress, name, status)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Sprintf("%s refuses to show %s (%d), which it should show everybody: look for an access rule, or a proxy that signs people in, and let the Mattermost server's requests through.", name, path, status)
	case status == http.StatusServiceUnavailable:
		return fmt.Sprintf("%s is out of service at the moment (%d), and does not say that it is in maintenance: look at the host, and at the proxy before it.", name, status)
	case status/100 == 5:
		return filehost.BrokenRemedy(name, status)
	case c.profile.statusPath != "":
		return fmt.Sprintf("%s has no %s (%d), which a host of its kind has: %s to what opens the host in a browser, with its subpath but nothing after it, or choose another “%s”.",
			name, path, status, correctAddress, filehost.LabelHostKind)
	}
	return fmt.Sprintf("There is no WebDAV at %s (%d): %s to that of the WebDAV folder itself, or choose another “%s”.", name, status, correctAddress, filehost.LabelHostKind)
}

// redirectRemedy says where the host sends us. Only the address is shown: a query could hold anything.
func (c *Client) redirectRemedy(name string, last lastAnswer) string {
	target, err := url.Parse(last.header.Get("Location"))
	if err != nil || last.header.Get("Location") == "" {
		return fmt.Sprintf("%s redirects (%d), but does not say where to: %s.", name, last.status, correctAddress)
	}
	target = last.asked.ResolveReference(target)
	shown := (&url.URL{Scheme: target.Scheme, Host: target.Host, Path: strings.TrimSuffix(target.Path, c.profile.statusPath)}).String()
	if runes := []rune(shown); len(runes) > maxCited {
		shown = string(runes[:maxCited]) + "…"
	}
	return fmt.Sprintf("%s redirects to %s, and redirects are not followed: if that is the file host, enter it as “%s” in the plugin's settings; if it is a page to sign in at, let the Mattermost server's requests through without it.",
		name, shown, filehost.LabelHostURL)
}

// contentRemedy is for an answer of the right status whose content is not that of a file host.
func (c *Client) contentRemedy(name string, last lastAnswer) string {
	if kind, _, err := mime.ParseMediaType(last.header.Get("Content-Type")); err == nil && kind == "text/html" {
		return fmt.Sprintf("%s answers with a web page where a file host of this kind has none, so something else is there, such as another site or a page to sign in at: %s, or let the Mattermost server's requests through without it.",
			name, correctAddress)
	}
	return fmt.Sprintf("%s answers, but not as a file host of this kind does: %s, or choose another “%s”.", name, correctAddress, filehost.LabelHostKind)
}

func inMaintenance(name string) string {
	return name + " is in maintenance: wait until it ends, or end it there (Nextcloud: `occ maintenance:mode --off`)."
}
