package router

import (
	"slices"
	"strings"
)

// decode returns an escaped path with every segment unescaped once. A slash
// that was escaped looks like a separator then, so the offsets of such
// slashes are appended to slashes, in ascending order. A segment with a bad
// escape stays as it is, as in net/http. It allocates only if there is a '%'.
func decode(path string, slashes []int) (string, []int) {
	if strings.IndexByte(path, '%') < 0 {
		return path, slashes
	}
	out := make([]byte, 0, len(path))
	for {
		segment, others, more := strings.Cut(path, "/")
		out, slashes = appendSegment(out, segment, slashes)
		if !more {
			return string(out), slashes
		}
		out = append(out, '/')
		path = others
	}
}

// appendSegment appends one segment, unescaped if its escapes are sound.
func appendSegment(out []byte, segment string, slashes []int) ([]byte, []int) {
	start, known := len(out), len(slashes)
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if c == '%' {
			if i+2 >= len(segment) || !isHexDigit(segment[i+1]) || !isHexDigit(segment[i+2]) {
				return append(out[:start], segment...), slashes[:known]
			}
			c = hexValue(segment[i+1])<<4 | hexValue(segment[i+2])
			i += 2
		}
		if c == '/' {
			slashes = append(slashes, len(out))
		}
		out = append(out, c)
	}
	return out, slashes
}

// hexValue returns the value of a hexadecimal digit.
func hexValue(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// segmentEndPastData is segmentEnd for a path with slashes that are data.
func (s *search) segmentEndPastData(at int) int {
	next, _ := slices.BinarySearch(s.data, at)
	for end := at; end < len(s.path); end++ {
		if s.path[end] != '/' {
			continue
		}
		if next == len(s.data) || s.data[next] != end {
			return end
		}
		next++
	}
	return len(s.path)
}
