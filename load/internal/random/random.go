// Package random generates repeatable random numbers and UUIDs.
package random

import (
	"encoding/binary"
	"math/bits"
)

// A Source generates random numbers: SplitMix64 by Steele, Lea and Flood (OOPSLA 2014).
// Its state has 8 bytes, so that each request can have its own.
type Source uint64

// New returns the source of the request number seq. It depends only on its arguments.
func New(seed, seq uint64) Source { return Source(Mix(Mix(seed) + seq)) }

// Next returns the next number.
func (s *Source) Next() uint64 {
	*s += 0x9e3779b97f4a7c15
	return Mix(uint64(*s))
}

// Mix is the output function of SplitMix64. It maps similar numbers to dissimilar ones.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below maps a random number to one below span. A span of 0 means 2^64. The
// result is the high half of their product (Lemire, "Fast Random Integer
// Generation in an Interval", 2019). Its rejection step is left out: the
// probabilities differ by span/2^64 at most.
func Below(n, span uint64) uint64 {
	if span == 0 {
		return n
	}
	high, _ := bits.Mul64(n, span)
	return high
}

// AppendUUID appends 16 random bytes as a UUID of version 4 (RFC 9562 section 5.4).
func AppendUUID(b []byte, high, low uint64) []byte {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], high&^0xf000|0x4000)
	binary.BigEndian.PutUint64(id[8:], low&^(0xc0<<56)|0x80<<56)
	text := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	for i, at := range [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34} {
		text[at], text[at+1] = lowerHex[id[i]>>4], lowerHex[id[i]&15]
	}
	return append(b, text[:]...)
}

const lowerHex = "0123456789abcdef"
