package router

import (
	"encoding/binary"
	"math/bits"
)

// word returns the eight bytes of s from i on, which are there, the first one
// in the lowest bits. The compiler makes one load of it, and no copy.
func word(s string, i int) uint64 { return binary.LittleEndian.Uint64([]byte(s[i : i+8])) }

// load is word for any i below the length of s: zeros stand for the bytes
// behind its end. Only strings shorter than a word need a branch.
func load(s string, i int) uint64 {
	if len(s) < 8 {
		return shortWord(s[i:])
	}
	at := min(i, len(s)-8)
	return word(s, at) >> (uint(i-at) * 8 & 63)
}

// shortWord is load for the start of a string of fewer than eight bytes.
func shortWord(s string) uint64 {
	var w uint64
	for i := len(s) - 1; i >= 0; i-- {
		w = w<<8 | uint64(s[i])
	}
	return w
}

// segmentEnd returns the offset of the first slash of s from at on, or its
// length.
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

// slashes returns a word whose lowest bit that is set is the top bit of the
// first slash in w (Mycroft's test for a byte of zeros); 0 if there is none.
func slashes(w uint64) uint64 {
	w ^= '/' * lowBits
	return (w - lowBits) &^ w & allMarks
}

// Segments are looked at eight bytes at a time, as word returns them. What is
// found out about a byte is a mark: the top bit of its place in a word.
//
// Marks are made by additions that carry nothing from one byte to the next as
// long as all bytes are ASCII. A byte that is not may spoil the marks of the
// others, so that whoever asks for all eight has to refuse it, too (&^ word).
// The plain way, byte by byte, is in the tests.

const (
	lowBits  = 0x0101010101010101
	allMarks = 0x80 * lowBits
)

// fourBytes returns the first four bytes of s.
func fourBytes(s string) uint64 {
	_ = s[3]
	return uint64(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24)
}

// fewBytes returns the one to seven bytes of s and behind them the digit 0.
func fewBytes(s string) uint64 {
	n := len(s)
	var x uint64
	if n >= 4 { // two loads that overlap
		x = fourBytes(s) | fourBytes(s[n-4:])<<(8*(n-4)&63)
	} else { // the first byte, the middle one and the last, which may be the same
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

// bitsOf returns one bit for each mark, the lowest for the first byte: the
// factor moves the mark of byte k to bit 56+k and nothing else above 55.
func bitsOf(marks uint64) uint64 { return marks >> 7 * 0x0102040810204080 >> 56 }

// A class is a set of ASCII characters: the digits, a range of letters and
// two others. It is kept in the form that has needs, so that one loop serves
// every class as fast as one written for it.
type class struct {
	fold           uint64 // 0x20 in each byte when the case of letters does not count
	low, high      uint64 // the range of letters, as between adds them
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

// hasAll reports whether s is not empty and all its bytes are of the class.
// It may look at some bytes twice, so that a load is never cut short.
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
		// The first byte, the middle one and the last are all there are; the
		// others are the digit 0, which every class has.
		three := uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16
		return c.marks(three|'0'*lowBits&^0xffffff) == allMarks
	}
	return false
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHexDigit(c byte) bool { return isDigit(c) || c|0x20-'a' <= 'f'-'a' }
