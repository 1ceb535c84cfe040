// Package traceid chooses the id that ties the events of one request together:
// the trace-id of a valid traceparent (W3C Trace Context), else a plain
// X-Request-Id, else random letters. The caller reads the header fields.
package traceid

import (
	"math/rand/v2"
	"strings"
)

// Length is that of an id which AppendNew makes.
const Length = 16

const (
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	maxLength = 128
)

// OfParent returns the trace-id of a traceparent,
// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, and "" for one that
// is invalid. Of a later version than 00, what follows these 55 bytes is not
// known here and makes it invalid.
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

// IsW3C reports whether an id is one that a traceparent may hold: 32
// hexadecimal digits in lower case, not all of them 0.
func IsW3C(id string) bool { return len(id) == 32 && lowerHex(id) && !zeros(id) }

// Plain accepts what can stand in a header, a log and a shell without
// surprises: up to 128 visible characters of ASCII without quotes, commas and
// backslashes.
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

// AppendNew appends Length random letters: 91 bits, which nobody needs to be
// unable to guess.
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
