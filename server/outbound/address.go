package outbound

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"

	"code.dny.dev/ssrf"
)

// metadata are public addresses under which a cloud tells its machines their secrets. The private ones are blocked with
// the networks they belong to.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("168.63.129.16/32"), // Azure
}

// BlockedAddressError is the refusal to connect to an address of the wrong kind.
type BlockedAddressError struct {
	Address netip.Addr // what the name stood for at that moment
	Err     error      // the filter's own words
}

// Error implements error.
func (e *BlockedAddressError) Error() string {
	return fmt.Sprintf("connection to %s refused: %v", e.Address, e.Err)
}

// Unwrap gives the filter's own error to errors.Is and errors.As.
func (e *BlockedAddressError) Unwrap() error { return e.Err }

// BlockedAddress returns Address. A package that must not know this one finds the error by this method.
func (e *BlockedAddressError) BlockedAddress() netip.Addr { return e.Address }

// addressFilter decides about each address after DNS, when it is about to be connected to, so that a name that changes
// its mind is of no use.
type addressFilter struct{ guardian *ssrf.Guardian }

func newAddressFilter(allowed []netip.Prefix) *addressFilter {
	var v4, v6 []netip.Prefix
	for _, prefix := range allowed {
		// ::ffff:10.0.0.0/104 is 10.0.0.0/8 in disguise. netip takes neither for the other.
		if prefix.Addr().Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
		}
		if prefix.Addr().Is4() {
			v4 = append(v4, prefix)
		} else {
			v6 = append(v6, prefix)
		}
	}
	return &addressFilter{ssrf.New(
		ssrf.WithAnyPort(),
		ssrf.WithAllowedV4Prefixes(v4...),
		ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(metadata...),
	)}
}

// control implements net.Dialer.ControlContext.
func (f *addressFilter) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &BlockedAddressError{Err: fmt.Errorf("%s %s is no address: %w", network, address, err)}
	}
	addr := target.Addr().Unmap().WithZone("")
	if err := f.check(addr); err != nil {
		return &BlockedAddressError{Address: addr, Err: err}
	}
	return nil
}

// check wants addr without zone and unmapped: ::ffff:127.0.0.1 is 127.0.0.1.
func (f *addressFilter) check(addr netip.Addr) error {
	if err := f.guardian.SafeAddr(addr); err != nil {
		return err
	}
	if inner, ok := translated(addr); ok {
		// Allowing the translator's network allows no address behind it that would be blocked by itself.
		return f.guardian.SafeAddr(inner)
	}
	return nil
}

// translated returns the IPv4 address that a NAT64 address leads to (RFC 6052 2.2).
func translated(addr netip.Addr) (netip.Addr, bool) {
	if !ssrf.IPv6NAT64Prefix.Contains(addr) {
		return netip.Addr{}, false
	}
	bytes := addr.As16()
	return netip.AddrFrom4([4]byte(bytes[12:])), true
}
