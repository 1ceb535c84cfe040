package http1

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// findControl returns the index of the first control byte other than a tab in b[from:],
// or len(b). It reads eight bytes at a time; findControlPlain in the tests is the plain
// equivalent.
func findControl(b []byte, from int) int {
	i := from
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		for m := candidates(w, ' '); m != 0; m &= m - 1 {
			if at := i + bits.TrailingZeros64(m)/8; isControl(b[at]) {
				return at
			}
		}
	}
	for ; i < len(b); i++ {
		if isControl(b[i]) {
			return i
		}
	}
	return i
}

// findInvisible returns the index of the first space, tab or other control byte in b, or
// len(b). It is the word-wise version of a loop over isInvisible.
func findInvisible(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		for m := candidates(w, '!'); m != 0; m &= m - 1 {
			if at := i + bits.TrailingZeros64(m)/8; isInvisible(b[at]) {
				return at
			}
		}
	}
	for ; i < len(b); i++ {
		if isInvisible(b[i]) {
			return i
		}
	}
	return i
}

// candidates marks the high bit of each byte of w that is less than n, which is at most
// 127, or equal to 0x7f. A byte after a marked one, or after 0xff, may be marked as well,
// because of a borrow or a carry.
func candidates(w uint64, n uint64) uint64 { return ((w - n*ones) | (w + ones)) &^ w & highs }

func isControl(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

func isInvisible(c byte) bool { return c <= ' ' || c == 0x7f }
