package proxy

import (
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// FindCookie reports whether a request has a cookie that accept returns true for. A request
// over HTTP/2 may have several Cookie fields, and cookies of different paths may have the same
// name.
func FindCookie(header []Field, accept func(name, value string) bool) bool {
	for i := range header {
		f := &header[i]
		if len(f.Name) != len("Cookie") || !httpsyntax.EqualFold(f.Name, "Cookie") {
			continue
		}
		for rest := f.Value; rest != ""; {
			var pair string
			pair, rest, _ = strings.Cut(rest, ";")
			name, value, ok := strings.Cut(strings.Trim(pair, " \t"), "=")
			if ok && accept(strings.TrimRight(name, " \t"), value) {
				return true
			}
		}
	}
	return false
}
