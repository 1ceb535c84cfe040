// Package text appends values in the notations of the event format: JSON
// strings, numbers and times. All code that writes events uses it, so that
// there is one place for the rules of escaping.
package text

import (
	"slices"
	"unicode/utf8"
)

const lowerHex = "0123456789abcdef"

// AppendString appends s as a JSON string with quotes. Only AppendString and
// [AppendMember] write a user's text into a line of JSON, as key or as value.
//
// It escapes the same characters as encoding/json with SetEscapeHTML(false). It
// also escapes DEL, the C1 controls and the bidirectional controls, because
// logs are read in terminals. The text is the same after parsing.
func AppendString(dst []byte, s string) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(s)+2)
	quoted := dst[n : n+len(s)+2]
	if !copyAll(quoted[1:], s, jsonQuotes) {
		return append(AppendContent(append(dst, '"'), s), '"')
	}
	quoted[0], quoted[len(quoted)-1] = '"', '"'
	return dst[:n+len(quoted)]
}

// PutString appends to *b as [AppendString] does, but faster.
func PutString(b *[]byte, s string) {
	n, size := len(*b), len(s)+2
	reserve(b, size)
	quoted := (*b)[n : n+size]
	if !copyAll(quoted[1:], s, jsonQuotes) {
		*b = AppendString(*b, s)
		return
	}
	quoted[0], quoted[size-1] = '"', '"'
	*b = (*b)[:n+size]
}

// AppendContent appends s as in a JSON string, without the quotes.
func AppendContent(dst []byte, s string) []byte { return appendAny(dst, s, &jsonNotation) }

// AppendLTSV appends s as a value of LTSV.
func AppendLTSV(dst []byte, s string) []byte {
	PutLTSV(&dst, s)
	return dst
}

// PutLTSV is [AppendLTSV] in place.
func PutLTSV(b *[]byte, s string) {
	if unalignedWords {
		to := grow(b, len(s)+1) // so that the pointer to an empty value is inside the buffer
		if copyWords(to, s, noQuotes) {
			*b = (*b)[:len(*b)+len(s)]
			return
		}
	}
	*b = appendAny(*b, s, &ltsvNotation)
}

// A notation has the escapes of special characters.
type notation struct {
	quotes  eightQuotes
	short   [utf8.RuneSelf]byte // the letter after the backslash in an escape of two characters
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

// appendAny appends any s, escaped where necessary.
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

// appendSpecial appends the leading characters of s that are not plain ASCII,
// escaped where necessary, and returns the remaining text.
func appendSpecial(dst []byte, s string, as *notation) ([]byte, string) {
	for s != "" {
		size := 1
		switch c := s[0]; {
		case c >= utf8.RuneSelf:
			if size = multiByteLen(s); size > 0 {
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

// multiByteLen returns the number of leading bytes of s that are complete
// characters of two or three bytes and need no escapes. s begins with a byte
// beyond ASCII. All other cases are left to [appendRune].
func multiByteLen(s string) int {
	n := 0
	for n+2 < len(s) {
		size := int(multiByteSizes[s[n]])
		if size == 0 || !continues(s[n+1]) || size == 3 && !continues(s[n+2]) ||
			s[n] == 0xE2 && s[n+1] <= 0x81 && mayDisturb(s[n+2]) {
			return n
		}
		n += size
	}
	return n
}

// multiByteSizes has, for each first byte, the length of its characters if all
// of them need no escapes, or 0. multiByteLen checks those of 0xE2.
var multiByteSizes = [256]uint8{
	0xC3: 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	0xD0: 2, 2, 2, 2, 2, 2, 2, 2, 0, 2, 2, 2, 2, 2, 2, 2, // U+061C begins with 0xD8
	0xE1: 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
}

// mayDisturb reports whether the character from U+2000 to U+207F with this last
// byte may be one of disturbsTerminal. U+2010 to U+201F and the corresponding
// ranges, with dashes and quotation marks, are not.
func mayDisturb(last byte) bool { return last&0x30 != 0x10 }

// continues reports whether b is a continuation byte of UTF-8.
func continues(b byte) bool { return b&0xC0 == 0x80 }

// appendRune appends the first character of s, which must not be ASCII, and
// returns its length in s.
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

// appendEscapedRune appends c, which must be below 0x10000, as \uxxxx.
func appendEscapedRune(dst []byte, c rune) []byte {
	return append(dst, '\\', 'u', lowerHex[c>>12&0xF], lowerHex[c>>8&0xF], lowerHex[c>>4&0xF], lowerHex[c&0xF])
}

// disturbsTerminal reports whether c, which must not be ASCII, is a C1 control,
// a line separator or a control of the text's direction.
func disturbsTerminal(c rune) bool {
	switch {
	case c <= 0x9F, c == 0x061C:
		return true
	case c < 0x200E || c > 0x2069:
		return false
	}
	return c <= 0x200F || 0x2028 <= c && c <= 0x202E || c >= 0x2066
}

// EscapeControls escapes in place the characters that AppendString escapes and
// encoding/json does not. encoding/json also copies a json.RawMessage
// unchanged. buf is JSON without white space, so these bytes are only in
// strings.
func EscapeControls(buf []byte) []byte {
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
