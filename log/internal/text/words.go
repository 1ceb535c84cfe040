package text

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"slices"
	"unsafe"
)

// copyAll copies s to dst, which must be long enough, and reports whether all
// of s is plain. If not, the copied bytes are undefined.
func copyAll(dst []byte, s string, quotes eightQuotes) bool {
	if !unalignedWords {
		return copyPlain(dst, s, quotes) == len(s)
	}
	return copyWords(unsafe.Pointer(unsafe.SliceData(dst[:len(s)])), s, quotes)
}

// eightQuotes is a word of eight equal bytes: the printable character, besides
// the backslash, that must be escaped.
type eightQuotes uint64

const (
	eightBytes     = 0x0101010101010101 // eight bytes of value 1
	jsonQuotes     = eightQuotes('"' * eightBytes)
	noQuotes       = eightQuotes('\\' * eightBytes) // only the backslash itself
	eightBackslash = '\\' * eightBytes
)

// unalignedWords is true if the processor supports unaligned access to words.
const unalignedWords = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// View returns the bytes of s as a string, without a copy, for a function that
// does not keep it. It is valid until the bytes change.
func View[T ~string | ~[]byte](s T) string {
	return *(*string)(unsafe.Pointer(&s)) // a slice begins like a string, with address and length
}

// copyWords is copyPlain without the bounds checks for each word, which take a
// third of the time of a short string. It writes len(s) bytes to dst, which
// must have the space. It reports only whether all of them are plain.
//
// Most keys and values are short. The last word overlaps the one before, which
// saves a loop over the bytes after the last whole word.
func copyWords(dst unsafe.Pointer, s string, quotes eightQuotes) bool {
	src, n := unsafe.Pointer(unsafe.StringData(s)), uintptr(len(s))
	switch {
	case n >= 8:
		last := load[uint64](src, n-8)
		found := specials(last, quotes)
		for i := uintptr(0); i < n-8; i += 8 {
			w := load[uint64](src, i)
			store(dst, i, w)
			found |= specials(w, quotes)
		}
		store(dst, n-8, last)
		return found == 0
	case n >= 4:
		first, last := load[uint32](src, 0), load[uint32](src, n-4)
		store(dst, 0, first)
		store(dst, n-4, last)
		return specials(uint64(first)|uint64(last)<<32, quotes) == 0
	case n == 0:
		return true
	}
	first, middle, last := load[byte](src, 0), load[byte](src, n/2), load[byte](src, n-1)
	store(dst, 0, first)
	store(dst, n/2, middle)
	store(dst, n-1, last)
	const fiveSpaces = 0x2020202020 << 24
	return specials(uint64(first)|uint64(middle)<<8|uint64(last)<<16|fiveSpaces, quotes) == 0
}

func load[T byte | uint32 | uint64](p unsafe.Pointer, at uintptr) T {
	return *(*T)(unsafe.Add(p, at))
}

func store[T byte | uint32 | uint64](p unsafe.Pointer, at uintptr, w T) {
	*(*T)(unsafe.Add(p, at)) = w
}

// copyPlain copies the leading plain bytes of s to dst, which must be long
// enough, and returns their number. Later bytes of dst are undefined.
func copyPlain(dst []byte, s string, quotes eightQuotes) int {
	dst = dst[:len(s)]
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := word(s[i:])
		binary.LittleEndian.PutUint64(dst[i:], w)
		if m := specials(w, quotes); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(s) && !isSpecial(s[i], quotes); i++ {
		dst[i] = s[i]
	}
	return i
}

// word is a single load: the compiler joins the bytes.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// isSpecial reports whether a byte of a string must not be copied unchanged:
// controls, quote, backslash, DEL and all bytes beyond ASCII.
func isSpecial(c byte, quotes eightQuotes) bool {
	return c < 0x20 || c >= 0x7F || c == byte(quotes) || c == '\\'
}

// specials returns a word in which the lowest set bit is the top bit of the
// first special byte of w in little-endian order, or 0. Higher bits have no
// meaning, because a special byte borrows from the next one or carries into it.
//
// In plain bytes, which are between space and tilde, none of the five terms has
// its top bit set.
func specials(w uint64, quotes eightQuotes) uint64 {
	const tops = 0x80 * eightBytes
	control := w - ' '*eightBytes
	quote := (w ^ uint64(quotes)) - eightBytes
	backslash := (w ^ eightBackslash) - eightBytes
	del := w + eightBytes
	return (w | control | quote | backslash | del) & tops
}

// grow returns a pointer to the end of b, with space for size more bytes. size
// must be positive, because a pointer has to point into an object.
func grow(b *[]byte, size int) unsafe.Pointer {
	if cap(*b)-len(*b) < size { // a copy of reserve: a call costs 4% of an event with ten fields
		*b = slices.Grow(*b, size)
	}
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(*b)), len(*b))
}

// reserve grows the capacity of b to size more bytes, if necessary.
func reserve(b *[]byte, size int) {
	if cap(*b)-len(*b) < size {
		*b = slices.Grow(*b, size)
	}
}
