package limit

import (
	"hash/maphash"
	"net/netip"
)

// A Key names whoever a rate is kept for. It is a hash of 64 bits with a seed
// of this process: nobody outside can choose two names with the same key, and
// among a million names two share one with a probability of 3 in 100 million.
// Keys mean nothing to another process.
type Key struct{ hash uint64 }

var addressSeed, stringSeed = maphash.MakeSeed(), maphash.MakeSeed()

// KeyOf returns the key of a client's address. An IPv6 address counts with its
// whole /64, which is what one customer gets and may change within at will; an
// IPv4 address counts alone, be it written as IPv6 (::ffff:192.0.2.1) or not.
// An invalid address has the key of the unspecified one.
func KeyOf(a netip.Addr) Key {
	b := a.As16()
	if a.Is4() || a.Is4In6() {
		return keyOf(maphash.Bytes(addressSeed, b[:]))
	}
	return keyOf(maphash.Bytes(addressSeed, b[:8]))
}

// KeyOfString returns the key of any other name: a route, the value of a header.
func KeyOfString(s string) Key { return keyOf(maphash.String(stringSeed, s)) }

// keyOf keeps the hash 0 free, which marks an empty slot.
func keyOf(hash uint64) Key { return Key{max(hash, 1)} }
