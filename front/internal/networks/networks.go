// Package networks finds out whether an address is in one of many networks.
package networks

import (
	"net/netip"
	"slices"
)

// A Set is a set of networks, sorted by address, none within another. Goroutines may
// share it. A lookup takes time in proportion to the logarithm of the number of networks.
type Set []netip.Prefix

// New returns the set of the given networks. Each is masked, and IPv4 networks are
// not in IPv6 form.
func New(prefixes []netip.Prefix) Set {
	sorted := slices.SortedFunc(slices.Values(prefixes), func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits() // the larger network first
	})
	var set Set
	for _, p := range sorted {
		if n := len(set); n == 0 || !set[n-1].Contains(p.Addr()) {
			set = append(set, p)
		}
	}
	return set
}

// Contains reports whether a network of the set contains the address. addr has no zone and
// is not an IPv4 address in IPv6 form.
func (n Set) Contains(addr netip.Addr) bool {
	i, found := slices.BinarySearchFunc(n, addr, func(p netip.Prefix, a netip.Addr) int { return p.Addr().Compare(a) })
	return found || i > 0 && n[i-1].Contains(addr)
}
