package lease

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
)

// KeyOf returns the key of a client's address for [Rate.Allow]. An IPv6 address counts as its
// /64, as in limit.KeyOf.
func KeyOf(a netip.Addr) uint64 {
	b := a.As16()
	if !a.Is4() && !a.Is4In6() {
		clear(b[8:])
	}
	return hash(b[:])
}

// KeyOfString returns the key of another name, such as the value of a header. All processes have
// the same key for a name. The name cannot be found from its key in the store unless it can be
// guessed.
func KeyOfString(s string) uint64 {
	var block [sha256.Size + 96]byte // the hash of the blocks before, and the next part of s
	for {
		n := copy(block[sha256.Size:], s)
		s = s[n:]
		if s == "" {
			return hash(block[:sha256.Size+n])
		}
		sum := sha256.Sum256(block[:])
		copy(block[:], sum[:])
	}
}

func hash(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}
