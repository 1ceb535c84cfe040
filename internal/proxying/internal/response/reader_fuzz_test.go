package response

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/http1"
)

// pieces is the source of a response: b, in pieces of at most size bytes.
type pieces struct {
	b    []byte
	size int
}

func (p *pieces) read(r *Reader) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	r.GiveBack() // like every reader that waits for more
	buf := r.Space()
	n := copy(buf[:min(len(buf), p.size)], p.b)
	p.b = p.b[n:]
	return n, nil
}

// readAll reads a response with its body. early reports that CheckArrived rejects the part of the body that arrives
// together with the head.
func readAll(r *Reader, read ReadFunc, method string) (body []byte, early bool, err error) {
	if err := r.ReadHead(read, method, http1.DefaultMaxFields); err != nil {
		return nil, false, err
	}
	early = r.CheckArrived() != nil
	for {
		p, err := r.Next(read)
		if err == io.EOF {
			return body, early, nil
		}
		if err != nil {
			return nil, early, err
		}
		body = append(body, p...)
	}
}

// outcome returns the kind of an error, because its text depends on how much has
// arrived.
func outcome(err error) error {
	if errors.Is(err, ErrMalformed) {
		return ErrMalformed
	}
	return err
}

// FuzzReader checks that the boundaries between reads do not matter, that
// CheckArrived rejects no valid response, and that the fields remain unchanged
// when the buffer is used again. The grammar is the subject of the tests of
// package http1.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
		"HTTP/1.1 200\r\n\r\nuntil the end",
		"HTTP/1.0 404 Not Found\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\nZ:\r\n\r\nmore",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA \t;\r\n0123456789\r\n000\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX y\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
		"HTTP/1.1 200 OK\nA: b\n\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + strings.Repeat("A: b\r\n", 40) + "\r\n",
	} {
		for _, head := range []bool{false, true} {
			f.Add([]byte(seed), head, uint8(0))
			f.Add([]byte(seed), head, uint8(200))
		}
	}
	f.Fuzz(func(t *testing.T, wire []byte, head bool, size uint8) {
		method := "GET"
		if head {
			method = "HEAD"
		}
		if len(wire) > 3000 {
			return
		}
		var one, whole Reader
		source, atOnce := &pieces{wire, int(size) + 1}, &pieces{wire, len(wire) + 1}
		body, early, err := readAll(&one, source.read, method)
		wholeBody, wholeEarly, wholeErr := readAll(&whole, atOnce.read, method)
		if outcome(err) != outcome(wholeErr) || !bytes.Equal(body, wholeBody) ||
			!slices.Equal(one.Fields, whole.Fields) || !slices.Equal(one.Trailer, whole.Trailer) {
			t.Fatalf("in pieces of %d: %q, %q, %v; at once: %q, %q, %v", source.size, one.Fields, body, err,
				whole.Fields, wholeBody, wholeErr)
		}
		if left, want := one.to-one.from+len(source.b), whole.to-whole.from; err == nil && left != want {
			t.Errorf("in pieces of %d, %d bytes follow; at once: %d", source.size, left, want)
		}
		if early && err == nil || wholeEarly != (wholeErr != nil && whole.Framing == http1.BodyChunked &&
			errors.Is(wholeErr, ErrMalformed)) {
			t.Fatalf("rejected early: %v and %v; later: %v", early, wholeEarly, wholeErr)
		}
	})
}
