package router

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
)

// Cleaning a path removes //, . and .. as http.ServeMux does; a slash at the end stays.
// An escaped dot (%2e) is a dot, as in RFC 3986, because a later server may unescape it
// and then walk up. An escaped slash does not separate segments, so "..%2f" is an
// ordinary segment.
//
// Nearly all paths are clean. maybeUnclean detects them by looking, eight bytes at a
// time, for a slash followed by a slash or a dot.

// isClean reports whether an unescaped path is clean.
func isClean(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	return !maybeUnclean(path) || cleanSegments(path, dots)
}

// cleanPath returns an escaped path cleaned. It allocates only if the path changes.
func cleanPath(escaped string) string {
	if escaped != "" && escaped[0] == '/' && cleanSegments(escaped, escapedDots) {
		return escaped
	}
	out := make([]byte, 0, len(escaped)+1)
	for left, more := escaped, true; more; {
		var segment string
		segment, left, more = strings.Cut(left, "/")
		switch n := escapedDots(segment); {
		case n == 2:
			out = out[:max(0, bytes.LastIndexByte(out, '/'))]
		case n == 0 && segment != "":
			out = append(out, '/')
			out = append(out, segment...)
		}
	}
	if len(out) == 0 || escaped[len(escaped)-1] == '/' {
		out = append(out, '/')
	}
	return string(out)
}

// escapedPath is like u.EscapedPath, except if the client sent characters unescaped
// that need escapes: it escapes only these. url.URL would escape u.Path instead, in
// which an escaped slash has become a separator.
func escapedPath(u *url.URL) string {
	if u.RawPath == "" || !unescapesTo(u.RawPath, u.Path) {
		return u.EscapedPath()
	}
	if strings.IndexFunc(u.RawPath, notInPath) < 0 {
		return u.RawPath
	}
	var b strings.Builder
	for i := range len(u.RawPath) {
		if c := u.RawPath[i]; notInPath(rune(c)) {
			b.WriteString(url.PathEscape(u.RawPath[i : i+1]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// notInPath reports whether a character, or a byte of one, is invalid in an escaped
// path.
func notInPath(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"<>\\^`{|}?#", c)
}

// unescapesTo reports whether an escaped path unescapes to path.
func unescapesTo(escaped, path string) bool {
	n := 0
	for i := 0; i < len(escaped); i++ {
		c := escaped[i]
		if c == '%' {
			var ok bool
			if c, ok = escapedByte(escaped, i); !ok {
				return false
			}
			i += 2
		}
		if n == len(path) || path[n] != c {
			return false
		}
		n++
	}
	return n == len(path)
}

// cleanSegments reports whether a path that begins with a slash has no segment of one
// or two dots, and no empty segment except the last.
func cleanSegments(path string, dots func(string) int) bool {
	for left := path[1:]; ; {
		segment, next, more := strings.Cut(left, "/")
		if segment == "" && more || dots(segment) > 0 {
			return false
		}
		if !more {
			return true
		}
		left = next
	}
}

// dots returns 1 for ".", 2 for ".." and 0 for every other segment.
func dots(segment string) int {
	if segment == "." || segment == ".." {
		return len(segment)
	}
	return 0
}

// escapedDots is dots for an escaped segment.
func escapedDots(segment string) int {
	n := 0
	for ; segment != ""; n++ {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && segment[0] == '%' && segment[1] == '2' && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return 0
		}
		if n == 2 {
			return 0
		}
	}
	return n
}

// maybeUnclean reports whether the path has a slash followed by a slash or a dot. Such
// a path is usually unclean, but "/.well-known" is clean.
func maybeUnclean(path string) bool {
	if len(path) < 8 {
		for i := 1; i < len(path); i++ {
			if path[i-1] == '/' && path[i]|1 == '/' {
				return true
			}
		}
		return false
	}
	for i := 0; i+8 < len(path); i += 7 { // each word begins with the last byte of the previous one
		if hasPair(word(path, i)) {
			return true
		}
	}
	return hasPair(word(path, len(path)-8))
}

// hasPair reports whether eight bytes contain a slash followed by a slash or a dot. It
// may return true wrongly if there is a slash.
func hasPair(word uint64) bool {
	return slashes(word)<<8&slashes(word|lowBits) != 0 // '.' and '/' differ in their lowest bit
}

// A target is the path that a request is routed by, in the fields of url.URL.
type target struct {
	path    string // unescaped; used if rawPath is ""
	rawPath string // escaped; "" if path suffices
	moved   bool   // it differs from the path that the client sent
}

// targetOf returns the cleaned path of a request. The path of CONNECT is not cleaned.
func targetOf(req *http.Request) target {
	u := req.URL
	if u.RawPath == "" && isClean(u.Path) {
		return target{path: u.Path}
	}
	escaped := escapedPath(u)
	if req.Method == http.MethodConnect {
		if escaped == "" { // authority form
			escaped = "/"
		}
		return target{rawPath: escaped}
	}
	clean := cleanPath(escaped)
	return target{rawPath: clean, moved: clean != escaped}
}

// escaped returns the escaped path.
func (t target) escaped() string {
	if t.rawPath != "" {
		return t.rawPath
	}
	return (&url.URL{Path: t.path}).EscapedPath()
}
