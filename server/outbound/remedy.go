package outbound

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// inSettings ends what an admin is told to change.
const inSettings = " in the plugin's settings"

// Remedy says what is wrong with the way to a server and what an admin can do about it, in one or two sentences: name is
// the server's with its address, setting the label of the setting that holds the address. "" = the way is not to blame. A
// package that must not know this one asks filehost.WayRemedy.
func (e *UnreachableError) Remedy(name, setting string) string {
	setting = filehost.Quote(setting)
	return cmp.Or(e.proxyRemedy(name), e.addressRemedy(name, setting), e.nameRemedy(setting), e.certificateRemedy(name, setting),
		e.tlsRemedy(name, setting), e.connectionRemedy(name, setting))
}

func (e *UnreachableError) proxyRemedy(name string) string {
	var refusal *ProxyError
	var connecting *net.OpError
	proxy := "The proxy (" + filehost.Quote(filehost.LabelProxyURL) + inSettings + ")"
	switch {
	case errors.As(e.Err, &refusal) && refusal.Status == http.StatusProxyAuthRequired:
		return proxy + " wants a sign-in (407): enter a user and password in " + filehost.Quote(filehost.LabelProxyCredentials) + ", or let the Mattermost server use it without."
	case errors.As(e.Err, &refusal):
		return proxy + " does not connect to " + name + " (" + strconv.Itoa(refusal.Status) + "): allow it there, or list the server in " +
			filehost.Quote(filehost.LabelProxyExcept) + " if it is to be reached without the proxy."
	case errors.As(e.Err, &connecting) && connecting.Op == "proxyconnect":
		return proxy + " can't be reached: check that it runs, its address and its port."
	}
	return ""
}

func (e *UnreachableError) addressRemedy(name, setting string) string {
	var blocked *BlockedAddressError
	switch {
	case !errors.As(e.Err, &blocked):
		return ""
	case errors.Is(blocked.Err, errNumeric):
		return name + " has a name that ends in a number, which some programs take for an address: correct " + setting + inSettings + "."
	}
	address := blocked.Address.String()
	if errors.Is(blocked.Err, errMetadata) || slices.Contains(metadata, blocked.Address) {
		return name + " has the address " + address + ", where clouds give their machines secrets; the plugin does not call it. Correct " +
			setting + inSettings + ", or the DNS entry."
	}
	return name + " has the address " + address + ", which is not public, and such addresses are called only where an admin lists them: add " +
		address + " to " + filehost.Quote(filehost.LabelAllowedAddresses) + inSettings + ", or, if that is not the right server, correct " + setting + "."
}

func (e *UnreachableError) nameRemedy(setting string) string {
	var lookup *net.DNSError
	switch {
	case !errors.As(e.Err, &lookup):
		return ""
	case lookup.IsNotFound:
		return "DNS knows no " + clean(lookup.Name) + ": correct " + setting + inSettings +
			", or add the name to the DNS that the Mattermost server's machine uses."
	}
	return "The name " + clean(lookup.Name) + " can't be looked up, because the DNS server of the Mattermost server's machine does not answer: check that machine's name servers."
}

func (e *UnreachableError) certificateRemedy(name, setting string) string {
	var (
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		other     *tls.CertificateVerificationError
	)
	ca := filehost.Quote(filehost.LabelHostCA) + inSettings
	switch {
	case errors.As(e.Err, &authority) && authority.Cert != nil && string(authority.Cert.RawIssuer) == string(authority.Cert.RawSubject):
		return "The certificate of " + name + " is signed by no authority but itself (" + nameOf(authority.Cert.Issuer.String()) + "): paste it into " + ca +
			", or have one issued by an authority that is trusted."
	case errors.As(e.Err, &authority) && authority.Cert != nil:
		return "The certificate of " + name + " was issued by " + nameOf(authority.Cert.Issuer.String()) + ", which is not trusted here: paste that authority's certificate into " +
			ca + ", or, if the authority is a public one, let the server send its intermediate certificates too."
	case errors.As(e.Err, &authority):
		return "The certificate of " + name + " comes from an authority that is not trusted here: paste that authority's certificate into " + ca + "."
	case errors.As(e.Err, &hostname):
		return "The certificate of " + name + " is for " + namesOf(hostname.Certificate) + ", not for " + clean(hostname.Host) + ": correct " + setting + inSettings +
			", or give the server a certificate for " + clean(hostname.Host) + "."
	case errors.As(e.Err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return "The certificate of " + name + " is valid only from " + invalid.Cert.NotBefore.UTC().Format(time.DateOnly) + " to " + invalid.Cert.NotAfter.UTC().Format(time.DateOnly) +
			": renew it there. If today lies in between, the clock of the Mattermost server's machine is wrong."
	case errors.As(e.Err, &invalid), errors.As(e.Err, &other):
		return "The certificate of " + name + " can't be used (" + clean(e.Err.Error()) + "): give the server another one."
	}
	return ""
}

func (e *UnreachableError) tlsRemedy(name, setting string) string {
	var record tls.RecordHeaderError
	var refusal *net.OpError
	switch {
	case errors.As(e.Err, &record), errors.Is(e.Err, http.ErrSchemeMismatch):
		return name + " answers without TLS: " + setting + inSettings + " has the wrong port, or must begin with http:// (and needs " +
			filehost.Quote(filehost.LabelAllowHTTP) + ")."
	case errors.As(e.Err, &refusal) && refusal.Op == "remote error": // as crypto/tls calls an alert
		return name + " refuses the TLS connection (" + clean(refusal.Err.Error()) + "): it must offer TLS 1.2 or newer for this name and ask for no client certificate."
	case errors.Is(e.Err, errTLSAlert):
		return httpsWanted(name, setting)
	case errors.Is(e.Err, errNotHTTP), strings.Contains(e.Err.Error(), "readLoopPeekFail"): // it spoke first
		return "What answers as " + name + " does not speak HTTP: correct the port of " + setting + inSettings + "."
	}
	return ""
}

func httpsWanted(name, setting string) string {
	return name + " wants TLS: let " + setting + inSettings + " begin with https://."
}

func (e *UnreachableError) connectionRemedy(name, setting string) string {
	var dial *net.OpError
	dialled := errors.As(e.Err, &dial) && dial.Op == "dial"
	at := ""
	if dialled && dial.Addr != nil {
		at = " at " + dial.Addr.String()
	}
	switch {
	case dialled && errors.Is(dial.Err, syscall.ECONNREFUSED):
		return name + " refuses the connection" + at + ": check that it runs, and that " + setting + inSettings + " has the right name and port."
	case dialled && dial.Timeout():
		return name + " does not answer" + at + ": check that it is switched on, and that no firewall keeps the Mattermost server from it."
	case dialled:
		return "No connection to " + name + at + " can be made: check the network of the Mattermost server's machine, and " + setting + inSettings + "."
	case errors.Is(e.Err, io.EOF), errors.Is(e.Err, io.ErrUnexpectedEOF), errors.Is(e.Err, syscall.ECONNRESET),
		strings.Contains(e.Err.Error(), "server closed idle connection"): // net/http, of one that was not idle for long
		return name + " ends the connection without an answer: look into its log, and at the firewall or proxy in between."
	}
	return ""
}

// maxClean is how much is kept of a text that a server chose, in characters.
const maxClean = 100

// clean makes a text that a server chose fit for a line of ours.
func clean(text string) string {
	var kept strings.Builder
	length := 0
	for _, r := range text {
		if length++; length > maxClean {
			return kept.String() + "…"
		}
		if !unicode.IsGraphic(r) {
			r = ' '
		}
		kept.WriteRune(r)
	}
	return kept.String()
}

// nameOf quotes the name of an issuer or subject.
func nameOf(distinguished string) string {
	if distinguished == "" {
		return "an authority without a name"
	}
	return filehost.Quote(clean(distinguished))
}

// namesOf lists the first names that a certificate is for.
func namesOf(certificate *x509.Certificate) string {
	const most = 3
	if certificate == nil {
		return "another name"
	}
	names := slices.Clone(certificate.DNSNames)
	for _, address := range certificate.IPAddresses {
		names = append(names, address.String())
	}
	switch {
	case len(names) == 0:
		return "no name that could be compared"
	case len(names) > most:
		names = append(names[:most], "others")
	}
	for i, name := range names {
		names[i] = clean(name)
	}
	return strings.Join(names, ", ")
}
