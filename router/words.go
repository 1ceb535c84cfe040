package router

import (
	"encoding/binary"
	"math/bits"
)

// Segments are checked eight bytes at a time, as words. The result for a byte is a
// mark: the top bit of the byte in a word.
//
// Marks are computed by additions without a carry between bytes, as long as all bytes
// are ASCII. Other bytes can make the other marks wrong, so a check of all eight bytes
// has to reject them too (&^ word). The tests have the plain version, byte by byte.

const (
	lowBits  = 0x0101010101010101
	allMarks = 0x80 * lowBits
)

// word returns the eight bytes of s from i on, which must exist, the first one in the
// lowest bits. It compiles to one load without a copy.
func word(s string, i int) uint64 { return binary.LittleEndian.Uint64([]byte(s[i : i+8])) }

// load is word for any i below the length of s. Bytes after the end are zero. Only
// strings shorter than a word need a branch.
func load(s string, i int) uint64 {
	if len(s) < 8 {
		return shortWord(s[i:])
	}
	at := min(i, len(s)-8)
	return word(s, at) >> (uint(i-at) * 8 & 63)
}

// shortWord is load at 0 for a string of fewer than eight bytes.
func shortWord(s string) uint64 {
	var w uint64
	for i := len(s) - 1; i >= 0; i-- {
		w = w<<8 | uint64(s[i])
	}
	return w
}

// segmentEnd returns the offset of the first slash of s from at on, or the length of s.
func segmentEnd(s string, at int) int {
	for ; at+8 <= len(s); at += 8 {
		if found := slashes(word(s, at)); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	if at < len(s) {
		if found := slashes(load(s, at)); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	return len(s)
}

// slashes returns a word whose lowest set bit is the top bit of the first slash in w
// (Mycroft's test for a zero byte); 0 if there is none.
func slashes(w uint64) uint64 {
	w ^= '/' * lowBits
	return (w - lowBits) &^ w & allMarks
}

// fourBytes returns the first four bytes of s.
func fourBytes(s string) uint64 {
	_ = s[3]
	return uint64(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

// fewBytes returns the one to seven bytes of s, followed by the digit 0.
func fewBytes(s string) uint64 {
	n := len(s)
	var x uint64
	if n >= 4 { // two overlapping loads
		x = fourBytes(s) | fourBytes(s[n-4:])<<(8*(n-4)&63)
	} else { // the first, middle and last byte, which may be the same
		x = uint64(s[0]) | uint64(s[n/2])<<(8*(n/2)&63) | uint64(s[n-1])<<(8*(n-1)&63)
	}
	return x | '0'*lowBits<<(8*n&63)
}

// between marks the bytes from low to high.
func between(x uint64, low, high byte) uint64 {
	return (x + uint64(0x80-low)*lowBits) &^ (x + uint64(0x7f-high)*lowBits)
}

// equal marks the bytes that are c.
func equal(x uint64, c byte) uint64 { return between(x, c, c) }

func isASCII(s string) bool {
	n := len(s)
	switch {
	case n >= 8:
		found := word(s, n-8)
		for len(s) > 8 {
			found |= word(s, 0)
			s = s[8:]
		}
		return found&allMarks == 0
	case n > 0:
		return fewBytes(s)&allMarks == 0
	}
	return true
}

// bitsOf returns one bit for each mark, the lowest for the first byte: the factor moves
// the mark of byte k to bit 56+k, and nothing else above bit 55.
func bitsOf(marks uint64) uint64 { return marks >> 7 * 0x0102040810204080 >> 56 }

// A class is a set of ASCII characters: the digits, a range of letters and two others.
// It is stored as hasAll needs it, so one loop is as fast for each class as a specific
// one.
type class struct {
	fold           uint64 // 0x20 in each byte to ignore the case of letters
	low, high      uint64 // the range of letters, as in between
	other, another uint64
}

func newClass(fold, low, high, other, another byte) class {
	each := func(b byte) uint64 { return uint64(b) * lowBits }
	return class{each(fold), each(0x80 - low), each(0x7f - high), each(other), each(another)}
}

// marks marks the bytes of the class.
func (c *class) marks(x uint64) uint64 {
	y := x | c.fold
	return (between(x, '0', '9') |
		(y+c.low)&^(y+c.high) |
		^((x ^ c.other) + 0x7f*lowBits) | // no carry: the byte is zero
		^((x ^ c.another) + 0x7f*lowBits)) &^ x & allMarks
}

// hasAll reports whether s is not empty and all its bytes are in the class. It may
// check some bytes twice to avoid short loads.
func (c *class) hasAll(s string) bool {
	n := len(s)
	switch {
	case n >= 8:
		last := word(s, n-8)
		for len(s) > 8 {
			if c.marks(word(s, 0)) != allMarks {
				return false
			}
			s = s[8:]
		}
		return c.marks(last) == allMarks
	case n >= 4:
		return c.marks(fourBytes(s)|fourBytes(s[n-4:])<<32) == allMarks
	case n > 0:
		// The first, middle and last byte are all there are. The other bytes are the
		// digit 0, which is in every class.
		three := uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16
		return c.marks(three|'0'*lowBits&^0xffffff) == allMarks
	}
	return false
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHexDigit(c byte) bool { return isDigit(c) || c|0x20-'a' <= 'f'-'a' }
