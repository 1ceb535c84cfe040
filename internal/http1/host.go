package http1

import (
	"bytes"
	"net/netip"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// validHost reports whether b consists of the bytes of a host: letters, digits, "-", "_"
// and ".", or an IPv6 address in brackets, and an optional port of digits. It allocates
// for an IPv6 address.
func validHost(b []byte) bool {
	end := 0
	if len(b) > 0 && b[0] == '[' {
		if end = bytes.IndexByte(b, ']') + 1; end == 0 {
			return false
		}
		addr, err := netip.ParseAddr(string(b[1 : end-1]))
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return false
		}
	} else {
		for end < len(b) && hostByte[b[end]] {
			end++
		}
	}
	return end > 0 && (end == len(b) || validPort(b[end:]))
}

// validPort reports whether b is a colon and one to five digits.
func validPort(b []byte) bool {
	_, ok := decimal(b[1:])
	return b[0] == ':' && ok && len(b) <= len(":65535")
}

var hostByte = func() (t [256]bool) {
	for c := range t {
		t[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
	}
	return t
}()

// sameAuthority compares two valid authorities. port is the default port of the scheme
// with its colon; it may be missing in either.
func sameAuthority(a, b []byte, port string) bool {
	if httpsyntax.EqualFold(a, b) {
		return true
	}
	return port != "" && httpsyntax.EqualFold(bytes.TrimSuffix(a, []byte(port)), bytes.TrimSuffix(b, []byte(port)))
}
