// Package traceid selects the id that connects the events of one request: the
// trace-id of a valid traceparent (W3C Trace Context), else a plain
// X-Request-Id, else random letters. The caller reads the headers. See [Of] for
// requests that have both.
package traceid

import (
	"encoding/hex"
	"math/bits"
	"math/rand/v2"
	"strings"
)

// Length is the length of the ids made by AppendNew.
const Length = 16

const (
	letters   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	maxLength = 128
)

// Of returns the id of a request by its traceparent and its X-Request-Id, or "" if neither is valid. The traceparent
// takes precedence, unless its trace-id was made of the X-Request-Id with AppendW3C: a front door has sent both then,
// and logs the X-Request-Id.
func Of(parent, requestID string) string {
	id := OfParent(parent)
	if !Plain(requestID) || id != "" && !isMadeOf(id, requestID) {
		return id
	}
	return requestID
}

func isMadeOf(w3c, id string) bool {
	var scratch [32]byte
	return string(AppendW3C(scratch[:0], id)) == w3c
}

// AppendW3C appends the trace-id for a traceparent, 32 hexadecimal digits: the id itself if it is one, the digits of an
// id of 16 bytes, or a hash of any other id.
func AppendW3C(b []byte, id string) []byte {
	switch {
	case IsW3C(id):
		return append(b, id...)
	case len(id) == Length:
		var scratch [Length]byte
		copy(scratch[:], id)
		return hex.AppendEncode(b, scratch[:])
	}
	hi, lo := hash(id)
	return AppendHex(AppendHex(b, hi), lo)
}

// AppendHex appends n as 16 hexadecimal digits.
func AppendHex(b []byte, n uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[n>>shift&15])
	}
	return b
}

// hash is FNV-1a with 128 bits. hash/fnv would allocate.
func hash(s string) (hi, lo uint64) {
	const low, shift = 0x13b, 24 // the prime is 1<<(64+shift) + low
	hi, lo = 0x6c62272e07bb0142, 0x62b821756295c58d
	for i := 0; i < len(s); i++ {
		lo ^= uint64(s[i])
		carry, product := bits.Mul64(low, lo)
		hi, lo = carry+lo<<shift+low*hi, product
	}
	return hi, lo
}

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

// IsSampled reports whether a traceparent that OfParent accepts has the flag "sampled", the last bit of its flags.
func IsSampled(parent string) bool { return strings.IndexByte("13579bdf", parent[len(parent)-1]) >= 0 }

// Fraction returns a number in [0, 1) by which a share of all ids can be chosen. It is the same for an id and for the
// trace-id that AppendW3C makes of it. It is made of the last 16 digits of that, mixed as by fmix64 of MurmurHash3,
// because the digits of an id that another program has made are not all equally likely.
func Fraction(id string) float64 {
	var scratch [32]byte
	h := uint64(0)
	for _, c := range AppendW3C(scratch[:0], id)[16:] {
		h = h<<4 | uint64(c&15+c>>6*9)
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return float64((h^h>>33)>>11) / (1 << 53)
}

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
