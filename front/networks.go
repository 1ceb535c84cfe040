package front

import (
	"net/netip"
	"slices"
)

// networks is a set of networks, sorted by address, none within another. Goroutines may
// share it. A lookup takes time in proportion to the logarithm of the number of networks.
type networks []netip.Prefix

// newNetworks returns the set of the given networks. Each is masked, and IPv4 networks are
// not in IPv6 form.
func newNetworks(prefixes []netip.Prefix) networks {
	sorted := slices.SortedFunc(slices.Values(prefixes), func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits() // the larger network first
	})
	var set networks
	for _, p := range sorted {
		if n := len(set); n == 0 || !set[n-1].Contains(p.Addr()) {
			set = append(set, p)
		}
	}
	return set
}

// contain reports whether a network of the set contains the address. addr has no zone and
// is not an IPv4 address in IPv6 form.
func (n networks) contain(addr netip.Addr) bool {
	i, found := slices.BinarySearchFunc(n, addr, func(p netip.Prefix, a netip.Addr) int { return p.Addr().Compare(a) })
	return found || i > 0 && n[i-1].Contains(addr)
}
