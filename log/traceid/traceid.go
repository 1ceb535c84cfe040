// Package traceid selects the id that connects the events of one request: the
// trace-id of a valid traceparent (W3C Trace Context), else a plain
// X-Request-Id, else random letters. The caller reads the headers.
package traceid

import (
	"math/rand/v2"
	"strings"
)

// Length is the length of the ids made by AppendNew.
const Length = 16

const (
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	maxLength = 128
)

// OfParent returns the trace-id of a traceparent such as
// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, or "" if it is
// invalid. Versions after 00 may have more text after these 55 bytes; it is not
// supported, and makes the traceparent invalid.
func OfParent(s string) string {
	if len(s) != 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" {
		return ""
	}
	version, id, parent, flags := s[:2], s[3:35], s[36:52], s[53:]
	if !lowerHex(version) || !IsW3C(id) || !lowerHex(parent) || zeros(parent) || !lowerHex(flags) {
		return ""
	}
	return id
}

// IsW3C reports whether the id is valid in a traceparent: 32 hexadecimal digits
// in lower case, not all of them 0.
func IsW3C(id string) bool { return len(id) == 32 && lowerHex(id) && !zeros(id) }

// Plain reports whether the id is safe in a header, a log and a shell: 1 to 128
// visible ASCII characters without quotes, commas and backslashes.
func Plain(id string) bool {
	if id == "" || len(id) > maxLength {
		return false
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == ',' || c == '\'' {
			return false
		}
	}
	return true
}

func lowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func zeros(s string) bool { return strings.Trim(s, "0") == "" }

// AppendNew appends Length random letters, which are 91 bits. They are not
// secret.
func AppendNew(b []byte) []byte {
	for range Length / 8 {
		r := rand.Uint64()
		for range 8 {
			b = append(b, letters[r%uint64(len(letters))])
			r /= uint64(len(letters))
		}
	}
	return b
}
