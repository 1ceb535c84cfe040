package load

import (
	"bytes"
	"fmt"
	"strconv"
)

// Answer is the server's response to every request. ab reuses a connection only if the response contains keep-alive.
const Answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: keep-alive\r\n" +
	"Content-Length: 14\r\n\r\nHello, world!\n"

// A reader splits the bytes of a connection into requests, for any boundaries between reads.
type reader struct {
	part []byte // beginning of a head
	body int    // remaining bytes of a body
}

var headEnd = []byte("\r\n\r\n")

// take parses b and calls each for every complete request with the number in its path, or -1.
func (r *reader) take(b []byte, each func(number int)) error {
	if len(r.part) > 0 {
		b = append(r.part, b...)
		r.part = nil
	}
	for len(b) > 0 {
		if r.body > 0 {
			n := min(r.body, len(b))
			b, r.body = b[n:], r.body-n
			if r.body == 0 {
				each(-1)
			}
			continue
		}
		end := bytes.Index(b, headEnd)
		if end < 0 {
			r.part = append([]byte(nil), b...)
			return nil
		}
		head := b[:end+2]
		b = b[end+4:]
		var err error
		if r.body, err = bodyLength(head); err != nil {
			return err
		}
		if r.body == 0 {
			each(pathNumber(head))
		}
	}
	return nil
}

var contentLength = []byte("content-length:")

// bodyLength reads Content-Length if the method allows a body.
func bodyLength(head []byte) (int, error) {
	if head[0] != 'P' {
		return 0, nil
	}
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		if len(line) > len(contentLength) && bytes.EqualFold(line[:len(contentLength)], contentLength) {
			n, err := strconv.Atoi(string(bytes.TrimSpace(line[len(contentLength):])))
			if err != nil || n < 0 {
				return 0, fmt.Errorf("a request has the line %q", line)
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("a request has a body of unknown length: %q", head)
}

// pathNumber returns 12 for GET /12 HTTP/1.1.
func pathNumber(head []byte) int {
	_, path, _ := bytes.Cut(head, []byte(" /"))
	n, digits := 0, 0
	for ; digits < len(path) && '0' <= path[digits] && path[digits] <= '9'; digits++ {
		n = 10*n + int(path[digits]-'0')
	}
	if digits == 0 {
		return -1
	}
	return n
}
