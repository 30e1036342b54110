package filehost

import (
	"net/url"
	"strings"
)

// defaultPorts are those that a URL need not name (RFC 9110 4.2).
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// OriginOf is the scheme, name and port of a URL as RFC 6454 6.2 writes them: in lower case, without the scheme's default
// port. Origins are the same when these texts are.
func OriginOf(address *url.URL) string {
	scheme, host, port := strings.ToLower(address.Scheme), strings.ToLower(address.Hostname()), address.Port()
	if strings.Contains(host, ":") { // IPv6
		host = "[" + host + "]"
	}
	if port != "" && port != defaultPorts[scheme] {
		host += ":" + port
	}
	return scheme + "://" + host
}

// Origin is the origin of the host. Credentials are bound to it.
func (h Host) Origin() string { return OriginOf(h.BaseURL) }
