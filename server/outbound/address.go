package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// metadata are the addresses under which clouds tell their machines who they are, secrets included. Some lie in networks
// that an admin allows for other reasons, so that only the address itself, as a /32 or /128, lets one of them through.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), // AWS, Azure, Google and others
	netip.MustParseAddr("fd00:ec2::254"),   // AWS
	netip.MustParseAddr("fd20:ce::254"),    // Google
	netip.MustParseAddr("169.254.170.2"),   // AWS, containers
	netip.MustParseAddr("169.254.170.23"),  // AWS, pods
	netip.MustParseAddr("fd00:ec2::23"),    // AWS, pods
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("168.63.129.16"),   // Azure
	netip.MustParseAddr("192.0.0.192"),     // Oracle
}

// localNAT64 is for translators of one's own (RFC 8215).
var localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")

var errMetadata = errors.New("cloud metadata is reached only when exactly its address is allowed")

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
type addressFilter struct {
	guardian *ssrf.Guardian
	exact    []netip.Prefix // of one address each
}

func newAddressFilter(allowed []netip.Prefix) *addressFilter {
	var v4, v6, exact []netip.Prefix
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
		if prefix.IsSingleIP() {
			exact = append(exact, prefix)
		}
	}
	return &addressFilter{
		guardian: ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...)),
		exact:    exact,
	}
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
	if f.named(addr) {
		return nil
	}
	if err := f.guardian.SafeAddr(addr); err != nil {
		return err
	}
	inner, others := translated(addr)
	for _, target := range append(others, addr, inner) {
		if slices.Contains(metadata, target) && !f.named(target) {
			return errMetadata
		}
	}
	if inner.IsValid() {
		// Allowing the translator's network allows no address behind it that would be blocked by itself.
		return f.guardian.SafeAddr(inner)
	}
	return nil
}

// named tells whether the admin has allowed this very address, not just a network with it.
func (f *addressFilter) named(addr netip.Addr) bool {
	return slices.ContainsFunc(f.exact, func(one netip.Prefix) bool { return one.Addr() == addr })
}

// translated returns the IPv4 address that a NAT64 address leads to (RFC 6052 2.2), if it is one. In the prefix for local
// use, a translator may also have a shorter prefix of its own: others are the addresses that it would then lead to.
func translated(addr netip.Addr) (inner netip.Addr, others []netip.Addr) {
	local := localNAT64.Contains(addr)
	if !local && !ssrf.IPv6NAT64Prefix.Contains(addr) {
		return netip.Addr{}, nil
	}
	b := addr.As16()
	last := [4]byte(b[12:])
	if local {
		others = []netip.Addr{
			netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]}),  // of a /48
			netip.AddrFrom4([4]byte{b[7], b[9], b[10], b[11]}), // of a /56
			netip.AddrFrom4([4]byte(b[9:13])),                  // of a /64
		}
		if last == [4]byte{} { // the empty suffix of a shorter prefix
			return netip.Addr{}, others
		}
	}
	return netip.AddrFrom4(last), others
}
