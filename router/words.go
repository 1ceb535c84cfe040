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
