package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
)

// UnreachableError is the failure of a call that got no answer.
type UnreachableError struct{ Err error }

// Error implements error.
func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Timeout tells whether time had run out, as net.Error does.
func (e *UnreachableError) Timeout() bool {
	var failure net.Error
	return errors.As(e.Err, &failure) && failure.Timeout()
}

// Remedy says what an admin can do about an address, a name, a certificate or a refused connection, in one sentence: name
// is the server's, setting is that of its address. "" = it is none of these. A package that must not know this one finds
// the error by this method.
func (e *UnreachableError) Remedy(name, setting string) string {
	var (
		blocked   *BlockedAddressError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   *tls.CertificateVerificationError
		lookup    *net.DNSError
		dial      *net.OpError
	)
	switch {
	case errors.As(e.Err, &blocked):
		return "The address of " + name + ", " + blocked.Address.String() + ", is blocked: add it to the allowed private addresses, if it is right."
	case errors.As(e.Err, &authority):
		return "The certificate of " + name + " comes from an authority that is not trusted: add it to the CA certificates."
	case errors.As(e.Err, &hostname):
		return "The certificate of " + name + " is for another name: correct the " + setting + " or the certificate."
	case errors.As(e.Err, &invalid):
		return "The certificate of " + name + " is not valid: renew it, and compare the clocks of both servers."
	case errors.As(e.Err, &lookup):
		return "The name of " + name + " can't be looked up: check the " + setting + " and this server's DNS."
	case errors.As(e.Err, &dial) && dial.Op == "dial" && !dial.Timeout():
		return "No connection to " + name + " can be made: check the " + setting + ", that it runs, and that no firewall is in between."
	}
	return ""
}
