package proxy

import (
	"bytes"

	"github.com/weirhq/weir/internal/httpsyntax"
)

const (
	// maxAnswerHead bounds an answer's head, its trailers too.
	maxAnswerHead = 64 << 10
	// DefaultMaxFields is how many fields an answer may have where its Upstream
	// says nothing else.
	DefaultMaxFields = 256
)

// A statusLine is the first line of an answer.
type statusLine struct {
	status int
	http10 bool
	reason string
}

// parseStatusLine parses "HTTP/1.1 200 OK", as RFC 9112 section 4 has it. The
// space behind the status may be missing when the reason is: many servers
// leave it out.
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

// parseFields appends the fields of b, a sequence of lines that each end with
// CRLF, to dst, which may hold most of them. The strings point into b. It is stricter than most: no bare LF
// or CR, no folded lines, no space before the colon, no control bytes.
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
