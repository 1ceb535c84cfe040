package limit

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"net/netip"
)

// A Key identifies the owner of a bucket, such as a client. Keys can be compared. The zero Key
// is the key of the empty string.
//
// A Rate distinguishes keys by a hash of 64 bits, with a seed of this process. A client cannot
// choose two names with the same hash, and among a million names two share one with a
// probability of 3 in 100 million. If replicas share the Rate, the hash is [Key.Sum64].
type Key struct {
	name      string
	network   [16]byte // instead of name, of an address
	isNetwork bool
}

// KeyOf returns the key of a client's address. An IPv6 address counts as its /64, which
// is the network of one customer with any address in it. An IPv4 address counts by
// itself, also if it is written as IPv6 (::ffff:192.0.2.1). An invalid address has the
// key of the unspecified one.
func KeyOf(a netip.Addr) Key {
	k := Key{network: a.As16(), isNetwork: true}
	if !a.Is4() && !a.Is4In6() {
		clear(k.network[8:])
	}
	return k
}

// KeyOfString returns the key of another name, such as a route or the value of a header.
func KeyOfString(name string) Key { return Key{name: name} }

var networkSeed, nameSeed = maphash.MakeSeed(), maphash.MakeSeed()

// hash returns the hash of the key in this process. It is never 0, which marks an empty slot.
func (k *Key) hash() uint64 {
	if k.isNetwork {
		return max(maphash.Bytes(networkSeed, k.network[:]), 1)
	}
	return max(maphash.String(nameSeed, k.name), 1)
}

// Sum64 returns a hash of the key that is the same in all processes: 64 bits of a SHA-256. The
// key cannot be found from its hash unless it can be guessed.
func (k Key) Sum64() uint64 {
	if k.isNetwork {
		return sum64(k.network[:])
	}
	var block [sha256.Size + 96]byte // the hash of the blocks before, and the next part of the name
	for rest := k.name; ; {
		n := copy(block[sha256.Size:], rest)
		rest = rest[n:]
		if rest == "" {
			return sum64(block[:sha256.Size+n])
		}
		sum := sha256.Sum256(block[:])
		copy(block[:], sum[:])
	}
}

func sum64(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}
