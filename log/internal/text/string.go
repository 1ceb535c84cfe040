// Package text appends values in the notations of the event format: JSON
// strings, numbers and instants. Whatever writes events goes through it, so
// that there is one place that decides what a line may hold.
package text

import (
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
	if !copyAll(room[1:], s, jsonQuotes) {
		return append(AppendContent(append(dst, '"'), s), '"')
	}
	room[0], room[len(room)-1] = '"', '"'
	return dst[:n+len(room)]
}

// PutString appends what [AppendString] appends, to a buffer in place.
func PutString(b *[]byte, s string) {
	n, size := len(*b), len(s)+2
	reserve(b, size)
	room := (*b)[n : n+size]
	if !copyAll(room[1:], s, jsonQuotes) {
		*b = AppendString(*b, s)
		return
	}
	room[0], room[size-1] = '"', '"'
	*b = (*b)[:n+size]
}

// AppendContent appends s as it stands in a JSON string, without the quotes.
func AppendContent(dst []byte, s string) []byte { return appendAny(dst, s, &jsonNotation) }

// AppendLTSV appends s as a value of LTSV.
func AppendLTSV(dst []byte, s string) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(s))
	if copyAll(dst[n:n+len(s)], s, noQuotes) {
		return dst[:n+len(s)]
	}
	return appendAny(dst, s, &ltsvNotation)
}

// A notation says how what is special is written.
type notation struct {
	quotes  eightQuotes
	short   [utf8.RuneSelf]byte // the letter behind the backslash of an escape of two characters
	invalid string              // for a byte of invalid UTF-8
}

var (
	jsonNotation = notation{
		quotes:  jsonQuotes,
		short:   [...]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', 0x7F: 0},
		invalid: `\ufffd`,
	}
	ltsvNotation = notation{
		quotes:  noQuotes,
		short:   [...]byte{'\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', 0x7F: 0},
		invalid: "\uFFFD",
	}
)

// appendAny appends s, whatever it holds.
func appendAny(dst []byte, s string, as *notation) []byte {
	for {
		n := len(dst)
		dst = slices.Grow(dst, len(s)+longestEscape)
		plain := copyPlain(dst[n:n+len(s)], s, as.quotes)
		if plain == len(s) {
			return dst[:n+plain]
		}
		dst, s = appendSpecial(dst[:n+plain], s[plain:], as)
	}
}

const longestEscape = len(`\u0000`)

// appendSpecial appends the characters at the start of s that are no plain
// ASCII, escaped where they must be, and returns the rest of s.
func appendSpecial(dst []byte, s string, as *notation) ([]byte, string) {
	for s != "" {
		size := 1
		switch c := s[0]; {
		case c >= utf8.RuneSelf:
			if size = foreignLen(s); size > 0 {
				dst = append(dst, s[:size]...)
			} else {
				dst, size = appendRune(dst, s, as.invalid)
			}
		case !isSpecial(c, as.quotes):
			return dst, s
		case as.short[c] != 0:
			dst = append(dst, '\\', as.short[c])
		default:
			dst = appendEscapedRune(dst, rune(c))
		}
		s = s[size:]
	}
	return dst, s
}

// foreignLen returns how many bytes at the start of s, which is no ASCII, are
// whole characters of two or three bytes that can be copied as they are. What
// it does not know is for [appendRune] to judge.
func foreignLen(s string) int {
	n := 0
	for n+2 < len(s) {
		size := int(foreignSizes[s[n]])
		if size == 0 || !continues(s[n+1]) || size == 3 && !continues(s[n+2]) ||
			s[n] == 0xE2 && s[n+1] <= 0x81 && mayDisturb(s[n+2]) {
			return n
		}
		n += size
	}
	return n
}

// foreignSizes has the length of the characters that begin with a byte, for
// those bytes after which any that continue make a character to copy.
var foreignSizes = [256]uint8{
	0xC3: 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	0xD0: 2, 2, 2, 2, 2, 2, 2, 2, 0, 2, 2, 2, 2, 2, 2, 2, // U+061C is among those of 0xD8
	0xE1: 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
}

// mayDisturb reports whether a character from U+2000 to U+207F may be one that
// disturbsTerminal names, by its last byte: not those from U+2010 to U+201F and
// the like, dashes and quotation marks.
func mayDisturb(last byte) bool { return last&0x30 != 0x10 }

// continues reports whether b is one of the bytes of a character after its
// first.
func continues(b byte) bool { return b&0xC0 == 0x80 }

// appendRune appends the first character of s, which is not ASCII, and returns
// how many bytes of s it took.
func appendRune(dst []byte, s, invalid string) ([]byte, int) {
	c, size := utf8.DecodeRuneInString(s)
	switch {
	case c == utf8.RuneError && size == 1:
		return append(dst, invalid...), 1
	case disturbsTerminal(c):
		return appendEscapedRune(dst, c), size
	}
	return append(dst, s[:size]...), size
}

// appendEscapedRune appends c, which is below 0x10000, as \uxxxx.
func appendEscapedRune(dst []byte, c rune) []byte {
	return append(dst, '\\', 'u', lowerHex[c>>12&0xF], lowerHex[c>>8&0xF], lowerHex[c>>4&0xF], lowerHex[c&0xF])
}

// disturbsTerminal reports whether c, which is not ASCII, is a control of the
// C1 set, a line separator or a control of the text's direction.
func disturbsTerminal(c rune) bool {
	switch {
	case c <= 0x9F, c == 0x061C:
		return true
	case c < 0x200E || c > 0x2069:
		return false
	}
	return c <= 0x200F || 0x2028 <= c && c <= 0x202E || c >= 0x2066
}

// Harden escapes in place what encoding/json leaves raw: it knows nothing of
// terminals, and a json.RawMessage is passed on by it whatever it holds. buf is
// JSON without white space, where such bytes stand in strings alone.
func Harden(buf []byte) []byte {
	i := 0
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
			buf, rest = appendEscapedRune(buf, 0x7F), rest[1:]
		default:
			var size int
			buf, size = appendRune(buf, rest, jsonNotation.invalid)
			rest = rest[size:]
		}
	}
	return buf
}
