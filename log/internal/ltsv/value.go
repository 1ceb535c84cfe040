package ltsv

import (
	"unicode/utf8"

	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/text"
)

const lowerHex = "0123456789abcdef"

// AppendValue appends s as a value: backslash, tab, LF and CR as two
// characters, what else disturbs a terminal as \uxxxx, and each byte of invalid
// UTF-8 as U+FFFD.
func AppendValue[T jsonscan.Text](dst []byte, s T) []byte {
	for {
		n := plainLen(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return dst
		}
		if s[n] < utf8.RuneSelf {
			dst = appendEscapedASCII(dst, s[n])
			s = s[n+1:]
			continue
		}
		c, size := utf8.DecodeRuneInString(string(s[n:min(n+utf8.UTFMax, len(s))]))
		dst = appendRune(dst, c)
		s = s[n+size:]
	}
}

// plainLen returns how many bytes at the start of s can be copied as they are.
func plainLen[T jsonscan.Text](s T) int {
	i := 0
	for i < len(s) && s[i] >= 0x20 && s[i] < 0x7F && s[i] != '\\' {
		i++
	}
	return i
}

func appendEscapedASCII(dst []byte, c byte) []byte {
	switch c {
	case '\\':
		return append(dst, '\\', '\\')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&0xF])
}

// appendRune appends c, which is not ASCII. Package text decides which
// characters are escaped; the quotes that it sets are taken out again.
func appendRune(dst []byte, c rune) []byte {
	var room [utf8.UTFMax]byte
	mark := len(dst)
	dst = text.AppendString(dst, string(utf8.AppendRune(room[:0], c)))
	n := copy(dst[mark:], dst[mark+1:len(dst)-1])
	return dst[:mark+n]
}
