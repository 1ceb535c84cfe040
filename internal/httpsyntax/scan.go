package httpsyntax

import "math/bits"

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// FindControl returns the index of the first control byte other than a tab in s[from:], or len(s).
func FindControl(s string, from int) int { return find(s, from, ' ', '\t') }

// FindInvisible returns the index of the first space, tab or other control byte in s, or len(s).
func FindInvisible(s string) int { return find(s, 0, ' '+1, 'a') }

// IsControl reports whether FindControl finds c.
func IsControl(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

// IsPlain reports whether s contains no control bytes other than tabs, and so is a valid field value. Bytes from 0x80
// are allowed, RFC 9110 section 5.5.
func IsPlain(s string) bool { return FindControl(s, 0) == len(s) }

// find returns the index of the first byte of s[from:] that is less than limit or equal to 0x7f, but not equal to
// except, or len(s). It reads 32 bytes at a time, then 8, and looks at each of them only if one is suspect.
func find(s string, from int, limit, except byte) int {
	i, limits := from, uint64(limit)*ones
	for ; i+32 <= len(s); i += 32 {
		b := s[i : i+32]
		if (suspects(word(b), limits)|suspects(word(b[8:]), limits)|
			suspects(word(b[16:]), limits)|suspects(word(b[24:]), limits))&highs != 0 {
			break
		}
	}
	for ; i+8 <= len(s); i += 8 {
		for m := suspects(word(s[i:i+8]), limits) & highs; m != 0; m &= m - 1 {
			at := i + bits.TrailingZeros64(m)/8
			if c := s[at]; (c < limit || c == 0x7f) && c != except {
				return at
			}
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; (c < limit || c == 0x7f) && c != except {
			return i
		}
	}
	return i
}

// word returns the first eight bytes of s.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// suspects sets the high bit of each byte of w that is less than a limit of at most 127, or equal to 0x7f. limits has the
// limit in each byte. A byte after such a one, or after 0xff, may be marked as well, because of a borrow or a carry. The
// other bits have no meaning.
func suspects(w, limits uint64) uint64 { return ((w - limits) | (w + ones)) &^ w }
