package proxying

import (
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A Field is one header field. Names are case-insensitive.
type Field struct {
	Name, Value string
}

// Elements calls f with each element of a comma-separated list, without
// surrounding blanks, until f returns false.
func Elements(list string, f func(string) bool) {
	for list != "" {
		e, after, _ := strings.Cut(list, ",")
		list = after
		if e = strings.Trim(e, " \t"); e != "" && !f(e) {
			return
		}
	}
}

// maxOptions limits the number of names in Connection. Each field is compared
// with each of these names, so the cost grows with the square of the head's
// length.
const maxOptions = 64

// countElements counts the elements of a list, including empty ones.
func countElements(list string) int { return 1 + strings.Count(list, ",") }

// lists reports whether a comma-separated list contains the token.
func lists(list, token string) bool {
	found := false
	Elements(list, func(e string) bool {
		found = httpsyntax.EqualFold(e, token)
		return !found
	})
	return found
}

// HopByHop reports whether a field is only for the next hop, RFC 9110 section
// 7.6.1. This includes Te and Trailer, which the proxy writes itself where they
// apply.
func HopByHop(name string) bool {
	switch len(name) {
	case 2:
		return httpsyntax.EqualFold(name, "Te")
	case 7:
		return httpsyntax.EqualFold(name, "Upgrade") || httpsyntax.EqualFold(name, "Trailer")
	case 10:
		return httpsyntax.EqualFold(name, "Connection") || httpsyntax.EqualFold(name, "Keep-Alive")
	case 16:
		return httpsyntax.EqualFold(name, "Proxy-Connection")
	case 17:
		return httpsyntax.EqualFold(name, "Transfer-Encoding")
	case 18:
		return httpsyntax.EqualFold(name, "Proxy-Authenticate")
	case 19:
		return httpsyntax.EqualFold(name, "Proxy-Authorization")
	}
	return false
}

func has(fields []Field, name string) bool {
	for i := range fields {
		if httpsyntax.EqualFold(fields[i].Name, name) {
			return true
		}
	}
	return false
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if httpsyntax.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// bufferCeiling is the capacity above which a buffer is not kept for the next
// exchange.
const bufferCeiling = 64 << 10

// keep empties a list of fields for reuse.
func keep(fields []Field) []Field {
	if cap(fields) > 256 {
		return nil
	}
	clear(fields[:cap(fields)])
	return fields[:0]
}

func keepBytes(b []byte) []byte {
	if cap(b) > bufferCeiling {
		return nil
	}
	return b[:0]
}
