package httphead

import (
	"net/netip"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// The reasons why a host is rejected.
const (
	NoHost    = "there is no Host"
	TwoHosts  = "more than one Host"
	BadHost   = "the Host is malformed"
	OtherHost = "the target and the Host differ"
)

// ValidHost reports whether b consists of the bytes of a host: letters, digits, "-", "_" and ".", or an IPv6 address in
// brackets, and an optional port of digits. It allocates for an IPv6 address.
func ValidHost[S ~string | ~[]byte](b S) bool {
	end := 0
	if len(b) > 0 && b[0] == '[' {
		for end < len(b) && b[end] != ']' {
			end++
		}
		if end == len(b) {
			return false
		}
		addr, err := netip.ParseAddr(string(b[1:end]))
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return false
		}
		end++
	} else {
		for end < len(b) && hostByte[b[end]] {
			end++
		}
	}
	return end > 0 && (end == len(b) || validPort(b[end:]))
}

// validPort reports whether b is a colon and one to five digits.
func validPort[S ~string | ~[]byte](b S) bool {
	_, ok := Decimal(b[1:])
	return b[0] == ':' && ok && len(b) <= len(":65535")
}

var hostByte = func() (t [256]bool) {
	for c := range t {
		t[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
	}
	return t
}()

// SameHost compares two valid hosts. Either may have the default port of the scheme, "http", "https", or "" for none.
func SameHost[A, B, S ~string | ~[]byte](a A, b B, scheme S) bool {
	if httpsyntax.EqualFold(a, b) {
		return true
	}
	port := ""
	switch len(scheme) {
	case len("http"):
		port = ":80"
	case len("https"):
		port = ":443"
	}
	return port != "" && httpsyntax.EqualFold(trimSuffix(a, port), trimSuffix(b, port))
}

func trimSuffix[S ~string | ~[]byte](s S, suffix string) S {
	if n := len(s) - len(suffix); n >= 0 && string(s[n:]) == suffix {
		return s[:n]
	}
	return s
}
