package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// IsPlain reports whether a quoted string is ASCII without escapes, so that the
// text between the quotes is its value.
func IsPlain[T Text](quoted T) bool {
	if len(quoted) < 2 {
		return false
	}
	for i := range len(quoted) {
		if quoted[i] == '\\' || quoted[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// AppendUnquoted appends the value of a quoted string as UTF-8. Like
// encoding/json, it replaces invalid UTF-8 and invalid escapes by U+FFFD.
func AppendUnquoted[T Text](dst []byte, quoted T) []byte {
	if len(quoted) < 2 {
		return dst
	}
	for s := quoted[1 : len(quoted)-1]; len(s) > 0; {
		var c rune
		size := 1
		switch {
		case s[0] == '\\':
			c, size = unescape(s)
		case s[0] < utf8.RuneSelf:
			c = rune(s[0])
		default:
			c, size = utf8.DecodeRuneInString(string(s[:min(len(s), utf8.UTFMax)]))
		}
		dst = utf8.AppendRune(dst, c)
		s = s[size:]
	}
	return dst
}

// unescape returns the character of the escape at the start of s, and the
// length of the escape.
func unescape[T Text](s T) (c rune, size int) {
	if len(s) < 2 {
		return utf8.RuneError, len(s)
	}
	switch s[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		return unescapeUnicode(s)
	}
	return rune(s[1]), 2
}

const escapeLen = len(`\u0000`)

// unescapeUnicode is unescape for \u and four digits, or for a surrogate pair
// of these.
func unescapeUnicode[T Text](s T) (c rune, size int) {
	if c = hexRune(s); !utf16.IsSurrogate(c) {
		return c, min(escapeLen, len(s))
	}
	if second := s[min(escapeLen, len(s)):]; len(second) >= escapeLen && second[0] == '\\' && second[1] == 'u' {
		if pair := utf16.DecodeRune(c, hexRune(second)); pair != utf8.RuneError {
			return pair, 2 * escapeLen
		}
	}
	return utf8.RuneError, min(escapeLen, len(s))
}

// hexRune returns the value of the four digits of an escape.
func hexRune[T Text](s T) (c rune) {
	if len(s) < escapeLen {
		return utf8.RuneError
	}
	for i := 2; i < escapeLen; i++ {
		digit := s[i] | 0x20
		if digit >= 'a' {
			digit -= 'a' - 10 - '0'
		}
		c = c<<4 | rune(digit-'0')&0xF
	}
	return c
}
