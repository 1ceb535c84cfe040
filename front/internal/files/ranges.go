package files

import (
	"math"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// maxRanges is the maximum number of ranges that are served. A request for more gets the
// whole file.
const maxRanges = 16

// A span is a range of bytes of a file. It is not empty.
type span struct{ from, length int64 }

// contentRange returns the value of Content-Range.
func (s span) contentRange(size int64) string {
	b := append(make([]byte, 0, 40), "bytes "...)
	b = strconv.AppendInt(b, s.from, 10)
	b = strconv.AppendInt(append(b, '-'), s.from+s.length-1, 10)
	return string(strconv.AppendInt(append(b, '/'), size, 10))
}

// parseRange parses the field Range for a file of a size that is above 0. It returns the
// ranges that the file has. If there are none, ignored reports whether the whole file is
// the response, rather than 416. A field that is malformed, has another unit, or asks for
// too much is ignored, as RFC 9110, section 14.2, allows.
func parseRange(field string, size int64) (spans []span, ignored bool) {
	unit, list, _ := strings.Cut(field, "=")
	if !httpsyntax.EqualFold(unit, "bytes") || strings.Count(list, ",") >= maxRanges {
		return nil, true
	}
	total, any := int64(0), false
	for element := range strings.SplitSeq(list, ",") {
		element = httpsyntax.TrimSpace(element)
		if element == "" {
			continue
		}
		s, ok := parseSpan(element, size)
		if !ok {
			return nil, true
		}
		any = true
		if s.length > 0 {
			spans = append(spans, s)
			total += s.length
		}
	}
	if !any || total > size && len(spans) > 1 {
		return nil, true // several ranges that overlap cost more than the file
	}
	return spans, false
}

// parseSpan parses one range, without blanks around it. Its length is 0 if the file has no
// byte of it.
func parseSpan(text string, size int64) (s span, ok bool) {
	first, last, ok := strings.Cut(text, "-")
	if !ok || first == "" && last == "" {
		return s, false
	}
	if first == "" {
		suffix, ok := parsePosition(last)
		s.length = min(suffix, size)
		s.from = size - s.length
		return s, ok
	}
	end := int64(math.MaxInt64)
	if s.from, ok = parsePosition(first); !ok {
		return s, false
	}
	if last != "" {
		if end, ok = parsePosition(last); !ok || end < s.from {
			return s, false
		}
	}
	if s.from < size {
		s.length = min(end, size-1) - s.from + 1
	}
	return s, true
}

// parsePosition parses digits. A number that is too large is the largest one.
func parsePosition(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		n = math.MaxInt64
	}
	return n, true
}
