// Package httpsyntax contains the parts of HTTP's grammar that the parsers of
// requests and of responses share, so that both apply the same rules. They return
// names and values as views of the bytes that they have read.
package httpsyntax

import "unsafe"

// View returns b as a string without copying it. The string changes with b, and must not be used after the
// owner of b reuses it.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// EqualFold compares two names case-insensitively, for ASCII letters only.
// Unicode case folding would match more letters than HTTP parsers do.
func EqualFold[A, B ~string | ~[]byte](a A, b B) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if a[i] != b[i] && Lower(a[i]) != Lower(b[i]) {
			return false
		}
	}
	return true
}

// Lower returns the lower case of an ASCII letter, and any other byte
// unchanged.
func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// HasUpper reports whether s has an ASCII letter in upper case.
func HasUpper(s string) bool {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return true
		}
	}
	return false
}

// TrimSpace removes optional whitespace around a value, RFC 9110 section 5.6.3.
// bytes.Trim takes several times as long.
func TrimSpace[S ~string | ~[]byte](b S) S {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// tokenByte contains the bytes of a token, RFC 9110 section 5.6.2.
var tokenByte = func() (t [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		t[c] = true
	}
	return t
}()

// TokenPattern is a regular expression for texts of which IsToken is true.
const TokenPattern = "[-!#$%&'*+.^_`|~0-9A-Za-z]+"

// IsToken reports whether s is a valid field name or method.
func IsToken[S ~string | ~[]byte](s S) bool {
	for i := 0; i < len(s); i++ {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return len(s) > 0
}

// TokenLen returns the length of the token at the beginning of b.
func TokenLen(b []byte) int {
	for i, c := range b {
		if !tokenByte[c] {
			return i
		}
	}
	return len(b)
}

// Hex returns the value of a hexadecimal digit of either case.
func Hex(c byte) (value byte, ok bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
