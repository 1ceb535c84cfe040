package proxy

import (
	"bytes"

	"github.com/weirhq/weir/internal/httpsyntax"
)

const (
	// maxAnswerHead limits the head of a response, and its trailers.
	maxAnswerHead = 64 << 10
	// DefaultMaxFields limits the fields of a response if its Upstream sets no
	// other limit.
	DefaultMaxFields = 256
)

// A statusLine is the first line of a response.
type statusLine struct {
	status int
	http10 bool
	reason string
}

// parseStatusLine parses "HTTP/1.1 200 OK", RFC 9112 section 4. If the reason
// is missing, the space after the status may be missing too: many servers omit
// it.
func parseStatusLine(line []byte) (statusLine, error) {
	var s statusLine
	switch {
	case bytes.HasPrefix(line, []byte("HTTP/1.1 ")):
	case bytes.HasPrefix(line, []byte("HTTP/1.0 ")):
		s.http10 = true
	default:
		return s, malformed("status line %q", beginning(line))
	}
	rest := line[len("HTTP/1.1 "):]
	if len(rest) < 3 || !digit(rest[0]) || !digit(rest[1]) || !digit(rest[2]) {
		return s, malformed("status line %q", line[:min(len(line), len("HTTP/1.1 200 "))])
	}
	s.status = int(rest[0]-'0')*100 + int(rest[1]-'0')*10 + int(rest[2]-'0')
	if s.status < 100 {
		return s, malformed("status %d", s.status)
	}
	if rest = rest[3:]; len(rest) > 0 {
		if rest[0] != ' ' || !httpsyntax.IsPlain(rest[1:]) {
			return s, malformed("status line %q", line[:min(len(line), len("HTTP/1.1 200 "))])
		}
		s.reason = view(rest[1:])
	}
	return s, nil
}

// parseFields appends the fields in b to dst, which may grow to most fields. b
// is a sequence of lines that each end with CRLF; the strings are views into
// it. parseFields is stricter than most parsers: it rejects a bare LF or CR,
// folded lines, a space before the colon, and control bytes.
func parseFields(dst []Field, b []byte, most int) ([]Field, error) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 1 || b[end-1] != '\r' {
			return dst, malformed("a line of the head does not end with CRLF")
		}
		f, err := parseField(b[:end-1])
		if err != nil {
			return dst, err
		}
		if len(dst) >= most {
			return dst, malformed("more than %d fields", most)
		}
		dst = append(dst, f)
		b = b[end+1:]
	}
	return dst, nil
}

func parseField(line []byte) (Field, error) {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 {
		return Field{}, malformed("field %q has no name", beginning(line))
	}
	name, value := line[:colon], httpsyntax.TrimSpace(line[colon+1:])
	if !httpsyntax.IsToken(name) {
		return Field{}, malformed("field name %q", beginning(name))
	}
	if !httpsyntax.IsPlain(value) {
		return Field{}, malformed("field %s holds a control byte", name)
	}
	return Field{Name: fieldName(name), Value: view(value)}, nil
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
