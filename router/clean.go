package router

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
)

// Cleaning a path takes //, . and .. out of it, as http.ServeMux does: the
// slash at the end stays. An escaped dot (%2e) is a dot, as RFC 3986 has it:
// whatever serves the path later may unescape it first and then walk up. An
// escaped slash separates nothing, so "..%2f" is the name of something.
//
// Nearly all paths are clean. To see that, eight bytes at a time are looked
// through for a slash with a slash or a dot behind it.

// isClean reports whether a path, which is not escaped, is clean.
func isClean(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	return !maybeUnclean(path) || cleanSegments(path, dots)
}

// cleanPath returns an escaped path cleaned. It allocates only if that is
// another one.
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

// escapedPath is u.EscapedPath, which it differs from when the client sent
// characters unescaped that ought to be escaped: they are escaped then, and
// nothing else changes. url.URL makes a new path of the unescaped one, in
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

// notInPath reports whether a character, or a byte of one, cannot stand in an
// escaped path.
func notInPath(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"<>\\^`{|}?#", c)
}

// meansPath reports whether an escaped path is the path when it is unescaped.
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

// cleanSegments reports whether a path that begins with a slash has no empty
// segment before its last and none that is one or two dots.
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

// escapedDots is dots for a segment that is escaped.
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

// maybeUnclean reports whether the path has a slash or a dot right behind a
// slash. Most often it is unclean then, but "/.well-known" is not.
func maybeUnclean(path string) bool {
	if len(path) < 8 {
		for i := 1; i < len(path); i++ {
			if path[i-1] == '/' && path[i]|1 == '/' {
				return true
			}
		}
		return false
	}
	for i := 0; i+8 < len(path); i += 7 { // each word begins with the last byte of the one before
		if hasPair(word(path, i)) {
			return true
		}
	}
	return hasPair(word(path, len(path)-8))
}

// hasPair reports whether eight bytes have a slash with a slash or a dot
// behind it. It may do so when they have not, if there is a slash.
func hasPair(word uint64) bool {
	return slashes(word)<<8&slashes(word|lowBits) != 0 // '.' and '/' differ in their lowest bit
}

// A target is the path that a request is routed by, as url.URL has it.
type target struct {
	path    string // if rawPath is "": unescaped
	rawPath string // escaped; "" when path needs none
	moved   bool   // it is not the one the client sent
}

// targetOf returns the cleaned path of a request. CONNECT's is as it was sent.
func targetOf(req *http.Request) target {
	u := req.URL
	if u.RawPath == "" && isClean(u.Path) {
		return target{path: u.Path}
	}
	escaped := escapedPath(u)
	if req.Method == http.MethodConnect {
		if escaped == "" { // the authority form has none
			escaped = "/"
		}
		return target{rawPath: escaped}
	}
	clean := cleanPath(escaped)
	return target{rawPath: clean, moved: clean != escaped}
}

// escaped returns the path escaped.
func (t target) escaped() string {
	if t.rawPath != "" {
		return t.rawPath
	}
	return (&url.URL{Path: t.path}).EscapedPath()
}
