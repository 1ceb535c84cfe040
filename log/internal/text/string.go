package text

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

const lowerHex = "0123456789abcdef"

// AppendString appends s as a JSON string, quotes included. Together with
// [AppendMember] it is the only way a text from outside gets into a line of
// JSON, be it a key or a value.
//
// It escapes what encoding/json escapes with SetEscapeHTML(false) and, because
// a log is read in terminals, DEL, the C1 controls and the controls that turn
// the direction of text. A parser sees the same value either way.
func AppendString(dst []byte, s string) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(s)+2)
	room := dst[n : n+len(s)+2]
	if copyPlain(room[1:], s) {
		room[0], room[len(room)-1] = '"', '"'
		return dst[:n+len(room)]
	}
	return append(AppendContent(append(dst, '"'), s), '"')
}

// AppendMember appends what a member of an object begins with: the byte that
// separates it from what stands before, its key and a colon.
func AppendMember(dst []byte, separator byte, key string) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(key)+4)
	room := dst[n : n+len(key)+4]
	if copyPlain(room[2:], key) {
		room[0], room[1] = separator, '"'
		room[len(room)-2], room[len(room)-1] = '"', ':'
		return dst[:n+len(room)]
	}
	return append(AppendString(append(dst, separator), key), ':')
}

// AppendContent appends s as it stands in a JSON string, without the quotes.
func AppendContent(dst []byte, s string) []byte {
	for {
		n := plainLen(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return dst
		}
		dst, s = appendSpecial(dst, s[n:])
	}
}

// appendSpecial appends the first character of s, which is no plain ASCII,
// escaped where it must be, with those like it that follow at once. It returns
// the rest of s.
func appendSpecial(dst []byte, s string) ([]byte, string) {
	for s != "" && isSpecial(s[0]) {
		if s[0] < utf8.RuneSelf {
			dst = appendEscapedASCII(dst, s[0])
			s = s[1:]
			continue
		}
		var size int
		dst, size = appendRune(dst, s)
		s = s[size:]
	}
	return dst, s
}

// appendEscapedASCII appends the escape of a quote, a backslash or a control.
func appendEscapedASCII(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return AppendEscapedRune(dst, rune(c))
}

// appendRune appends the first character of s, which is not ASCII, and returns
// how many bytes of s it took.
func appendRune(dst []byte, s string) ([]byte, int) {
	c, size := utf8.DecodeRuneInString(s)
	switch {
	case c == utf8.RuneError && size == 1:
		return append(dst, `\ufffd`...), 1
	case DisturbsTerminal(c):
		return AppendEscapedRune(dst, c), size
	}
	return append(dst, s[:size]...), size
}

// AppendEscapedRune appends c, which is below 0x10000, as \uxxxx.
func AppendEscapedRune(dst []byte, c rune) []byte {
	return append(dst, '\\', 'u', lowerHex[c>>12&0xF], lowerHex[c>>8&0xF], lowerHex[c>>4&0xF], lowerHex[c&0xF])
}

// DisturbsTerminal reports whether c, which is not ASCII, is a control of the
// C1 set, a line separator or a control of the text's direction.
func DisturbsTerminal(c rune) bool {
	switch {
	case c <= 0x9F, c == 0x061C:
		return true
	case c < 0x200E || c > 0x2069:
		return false
	}
	return c <= 0x200F || 0x2028 <= c && c <= 0x202E || c >= 0x2066
}

// isSpecial reports whether a byte of a string cannot be copied as it is:
// controls, quote, backslash, DEL and whatever is not ASCII.
func isSpecial(c byte) bool {
	return c < 0x20 || c >= 0x7F || c == '"' || c == '\\'
}

// plainLen returns how many bytes at the start of s can be copied as they are:
// the index of the first special byte, or len(s).
func plainLen(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if m := specials(word8(s[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(s) && !isSpecial(s[i]); i++ {
	}
	return i
}

// copyPlain copies s to dst, which has room for it, and reports whether that
// was right: plainLen(s) == len(s).
//
// Most keys and values are plain and short, so it spends no branch on where
// the special byte is, nor a loop on the bytes beyond the last whole word:
// words overlap instead.
func copyPlain(dst []byte, s string) bool {
	n := len(s)
	dst = dst[:n]
	switch {
	case n >= 8:
		last := word8(s[n-8:])
		found := specials(last)
		for i := 0; i < n-8; i += 8 {
			w := word8(s[i:])
			binary.LittleEndian.PutUint64(dst[i:], w)
			found |= specials(w)
		}
		binary.LittleEndian.PutUint64(dst[n-8:], last)
		return found == 0
	case n >= 4:
		first, last := word4(s), word4(s[n-4:])
		binary.LittleEndian.PutUint32(dst, first)
		binary.LittleEndian.PutUint32(dst[n-4:], last)
		return specials(uint64(first)|uint64(last)<<32) == 0
	case n == 0:
		return true
	}
	first, middle, last := s[0], s[n>>1], s[n-1]
	dst[0], dst[n>>1], dst[n-1] = first, middle, last
	const fiveSpaces = 0x2020202020 << 24
	return specials(uint64(first)|uint64(middle)<<8|uint64(last)<<16|fiveSpaces) == 0
}

// specials returns a word whose lowest set bit lies in the first special byte
// of w; 0 when there is none. Bits above it mean nothing, since borrows run
// upwards.
func specials(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote := w ^ '"'*ones
	backslash := w ^ '\\'*ones
	below := (w-0x20*ones)&^w | (quote-ones)&^quote | (backslash-ones)&^backslash
	return (below | w | (w + ones)) & tops // w+ones: DEL carries into the top bit
}

// word8 and word4 are single loads: the compiler joins the bytes.
func word8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func word4(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// Harden escapes in place what encoding/json leaves raw: it knows nothing of
// terminals, and a json.RawMessage is passed on by it whatever it holds.
// buf[from:] is JSON without white space, where such bytes stand in strings
// alone.
func Harden(buf []byte, from int) []byte {
	i := from
	for i < len(buf) && buf[i] < 0x7F {
		i++
	}
	if i == len(buf) {
		return buf
	}
	rest := string(buf[i:])
	buf = buf[:i]
	for rest != "" {
		switch c := rest[0]; {
		case c < 0x7F:
			buf, rest = append(buf, c), rest[1:]
		case c == 0x7F:
			buf, rest = AppendEscapedRune(buf, 0x7F), rest[1:]
		default:
			var size int
			buf, size = appendRune(buf, rest)
			rest = rest[size:]
		}
	}
	return buf
}
