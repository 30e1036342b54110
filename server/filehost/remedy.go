package filehost

import (
	"errors"
	"fmt"
)

// What an admin is told of a server that fails in a way that every server may, the file host's and the sign-in server's
// alike. name is the server's, with its address.

// AcceptAddress is what a server that refuses requests as too many should do.
const AcceptAddress = "accept the Mattermost server's address without a limit (Nextcloud: the app “Brute-force settings”)."

// WayRemedy is the remedy of an error that blames the way to a server, such as DNS or a certificate; "" = err blames
// something else. setting is the label of the setting that holds the address.
func WayRemedy(err error, name, setting string) string {
	var unreachable interface {
		Remedy(name, setting string) string
	}
	if errors.As(err, &unreachable) {
		return unreachable.Remedy(name, setting)
	}
	return ""
}

// SilentRemedy is for a server that doesn't answer in time.
func SilentRemedy(name string) string {
	return name + " does not answer in time: check that it is switched on and not overloaded, and that no firewall or proxy holds the connection back."
}

// BrokenRemedy is for a server that answers with one of the statuses of its own faults (RFC 9110 15.6).
func BrokenRemedy(name string, status int) string {
	return fmt.Sprintf("%s answers with an error of its own (%d): look into its log, and that of the proxy before it.", name, status)
}

// ProxyRemedy is for a proxy in between that wants a sign-in (RFC 9110 15.5.8). what the server is, in a word.
func ProxyRemedy(name, what string, status int) string {
	return fmt.Sprintf("A proxy between Mattermost and %s wants a sign-in (%d): let the Mattermost server's machine reach the %s without it, or enter %s and %s in the plugin's settings.", name, status, what, Quote(LabelProxyURL), Quote(LabelProxyCredentials))
}
