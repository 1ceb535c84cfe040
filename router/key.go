package router

import (
	"net/url"
	"strings"
)

// A key is the form of a path that programs read. Its segments are unescaped, slashes
// are only separators, and it has no zero byte. An escaped slash is written as two
// bytes, and so are a zero byte and the byte 255, which is the first of the two. Nearly
// every path is its own key.
const keyEscape = 0xff

var (
	toKey   = strings.NewReplacer("\xff", "\xff\x01", "/", "\xff\x02", "\x00", "\xff\x03")
	fromKey = strings.NewReplacer("\xff\x01", "\xff", "\xff\x02", "/", "\xff\x03", "\x00")
)

// keyText returns the key of an unescaped segment.
func keyText(text string) string { return toKey.Replace(text) }

// plainText is the inverse of keyText.
func plainText(key string) string { return fromKey.Replace(key) }

// isKey reports whether an unescaped path, whose slashes are separators, is its own
// key.
func isKey(path string) bool {
	return strings.IndexByte(path, 0) < 0 && strings.IndexByte(path, keyEscape) < 0
}

// pathKey returns the key of such a path.
func pathKey(path string) string {
	segments := strings.Split(path, "/")
	for i := range segments {
		segments[i] = keyText(segments[i])
	}
	return strings.Join(segments, "/")
}

// escapedKey returns the key of an escaped path. A segment with an invalid escape stays
// unchanged, as in net/http. It allocates only if there is a '%'.
func escapedKey(path string) string {
	if strings.IndexByte(path, '%') < 0 && isKey(path) {
		return path
	}
	out := make([]byte, 0, len(path))
	for {
		segment, others, more := strings.Cut(path, "/")
		out = appendSegment(out, segment)
		if !more {
			return string(out)
		}
		out = append(out, '/')
		path = others
	}
}

// appendSegment appends the key of a segment, unescaped if its escapes are valid.
func appendSegment(out []byte, segment string) []byte {
	sound := validEscapes(segment)
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if c == '%' && sound {
			c, _ = escapedByte(segment, i)
			i += 2
		}
		switch c {
		case keyEscape:
			out = append(out, keyEscape, 1)
		case '/':
			out = append(out, keyEscape, 2)
		case 0:
			out = append(out, keyEscape, 3)
		default:
			out = append(out, c)
		}
	}
	return out
}

// validEscapes reports whether two hexadecimal digits follow every '%'.
func validEscapes(segment string) bool {
	for i := range len(segment) {
		if segment[i] == '%' {
			if _, ok := escapedByte(segment, i); !ok {
				return false
			}
		}
	}
	return true
}

// escapedByte returns the byte that the escape at i of s encodes. ok is false unless
// two hexadecimal digits follow the '%'.
func escapedByte(s string, i int) (c byte, ok bool) {
	if i+2 >= len(s) || !isHexDigit(s[i+1]) || !isHexDigit(s[i+2]) {
		return 0, false
	}
	return hexValue(s[i+1])<<4 | hexValue(s[i+2]), true
}

// hexValue returns the value of a hexadecimal digit.
func hexValue(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// unescape unescapes a segment. A segment with an invalid escape stays unchanged, as in
// net/http.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}
