package proxy

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// pieces is the source of a response: b, in pieces of at most size bytes.
type pieces struct {
	b    []byte
	size int
}

func (p *pieces) read(a *answer) (int, error) {
	if len(p.b) == 0 {
		return 0, io.EOF
	}
	a.GiveBack() // like every reader that waits for more
	buf := a.Space()
	n := copy(buf[:min(len(buf), p.size)], p.b)
	p.b = p.b[n:]
	return n, nil
}

// readAll reads a response with its body.
func readAll(a *answer, read waiter, method string) (body []byte, err error) {
	if err := a.readHead(read, method); err != nil {
		return nil, err
	}
	return readBody(a, read)
}

func readBody(a *answer, read waiter) (body []byte, err error) {
	for {
		p, err := a.next(read)
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
		body = append(body, p...)
	}
}

// FuzzAnswer checks that net/http accepts each response that the parser
// accepts, with the same meaning, and that the boundaries between reads do not
// matter.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
		"HTTP/1.1 200\r\n\r\nuntil the end",
		"HTTP/1.0 404 Not Found\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\nmore",
		"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
		"HTTP/1.1 200 OK\nA: b\n\n",
		"\n\r\n\r\n", // found by fuzzing: a status line without its CR
	} {
		for _, head := range []bool{false, true} {
			f.Add([]byte(seed), head, uint8(0))
			f.Add([]byte(seed), head, uint8(200))
		}
	}
	f.Fuzz(func(t *testing.T, wire []byte, head bool, size uint8) {
		if len(wire) > 3000 {
			return // beyond that net/http has its own limits
		}
		method := "GET"
		if head {
			method = "HEAD"
		}
		a, whole := answer{maxFields: DefaultMaxFields}, answer{maxFields: DefaultMaxFields}
		body, err := readAll(&a, (&pieces{wire, int(size) + 1}).read, method)
		wholeBody, wholeErr := readAll(&whole, (&pieces{wire, len(wire) + 1}).read, method)
		if (err == nil) != (wholeErr == nil) || !bytes.Equal(body, wholeBody) || !slices.Equal(a.fields, whole.fields) {
			t.Fatalf("read in pieces of %d: %q, %v; at once: %q, %v", int(size)+1, body, err, wholeBody, wholeErr)
		}
		if err == nil {
			compareWithNetHTTP(t, &a, body, wire, method)
		}
	})
}

func compareWithNetHTTP(t *testing.T, a *answer, body, wire []byte, method string) {
	if has(a.fields, "Trailer") {
		return // net/http rejects some Trailer fields, which do not affect the framing
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(wire)), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("net/http refuses it: %v", err)
	}
	theirs, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("net/http refuses the body: %v", err)
	}
	if resp.StatusCode != a.status || !bytes.Equal(theirs, body) {
		t.Errorf("status %d and body %q; net/http: %d and %q", a.status, body, resp.StatusCode, theirs)
	}
	compareFields(t, a.fields, resp.Header)
	compareFields(t, a.trailer, resp.Trailer)
}

// compareFields compares fields with net/http's, which removes
// Transfer-Encoding and derives a Cache-Control from a Pragma.
func compareFields(t *testing.T, fields []Field, header http.Header) {
	ours := make(http.Header)
	for _, f := range fields {
		if f.Name != "Transfer-Encoding" {
			name := textproto.CanonicalMIMEHeaderKey(f.Name)
			ours[name] = append(ours[name], f.Value)
		}
	}
	if ours["Pragma"] != nil && ours["Cache-Control"] == nil {
		delete(header, "Cache-Control")
	}
	if len(ours) != len(header) {
		t.Errorf("fields %q; net/http: %q", ours, header)
	}
	for name, values := range ours {
		if !slices.Equal(values, header[name]) {
			t.Errorf("%s: %q; net/http: %q", name, values, header[name])
		}
	}
}

var (
	chunkLine = regexp.MustCompile("^([0-9a-fA-F]{1,15})[ \t]*(;[^\x00-\x08\x0a-\x1f\x7f]*)?$")
	fieldLine = regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]+:[^\x00-\x08\x0a-\x1f\x7f]*$")
)

// decodeChunks is a plain decoder of the chunked coding, the oracle of the
// incremental one. rest follows the body.
func decodeChunks(b []byte) (body, rest []byte, ok bool) {
	crlf := []byte("\r\n")
	for {
		line, after, found := bytes.Cut(b, crlf)
		m := chunkLine.FindSubmatch(line)
		if !found || m == nil {
			return nil, nil, false
		}
		size, _ := strconv.ParseInt(string(m[1]), 16, 64)
		if b = after; size == 0 {
			break
		}
		if int64(len(b)) < size+2 || !bytes.Equal(b[size:size+2], crlf) {
			return nil, nil, false
		}
		body = append(body, b[:size]...)
		b = b[size+2:]
	}
	for {
		line, after, found := bytes.Cut(b, crlf)
		switch {
		case !found, len(line) > 0 && !fieldLine.Match(line):
			return nil, nil, false
		case len(line) == 0:
			return body, after, true
		}
		b = after
	}
}

// FuzzChunks compares the decoder with its oracle, for input split in two at
// every position and for input byte by byte.
func FuzzChunks(f *testing.F) {
	for _, seed := range []string{
		"0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\nnext", "5;a=b\r\nhello\r\n0\r\nX: y\r\nZ:\r\n\r\n",
		"A \t;\r\n0123456789\r\n000\r\n\r\n",
		"5\nhello\n0\n\n", "5\r\nhelloX\r\n0\r\n\r\n", " 5;\r\nhello\r\n0\r\n\r\n", "ffffffffffffffff\r\n", "-1\r\n",
		"0x5\r\nhello\r\n0\r\n\r\n",
		"5\r\nhello\r\n0\r\nX y\r\n\r\n", "5\r\nhello\r\n0\r\n", "5 \r\nhello\r\n0\r\n\r\n", "\r\n",
		"5;\x00\r\nhello\r\n0\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		if len(wire) > 300 {
			return
		}
		body, rest, ok := decodeChunks(wire)
		for split := 0; split <= len(wire); split++ {
			size := split
			if split == 0 {
				size = 1
			}
			src := &pieces{wire, size}
			read := func(a *answer) (int, error) {
				n, err := src.read(a)
				if split > 0 {
					src.size = len(wire) // one split: all the rest together
				}
				return n, err
			}
			a := answer{framing: chunkedBody, maxFields: DefaultMaxFields}
			a.fill(read) // the error is returned again
			early := a.checkArrived()
			got, err := readBody(&a, read)
			if early != nil && err == nil {
				t.Fatalf("split at %d: it is right, and refused early: %v", split, early)
			}
			if (err == nil) != ok {
				t.Fatalf("split at %d: %v; the oracle: %v", split, err, ok)
			}
			if !ok {
				continue
			}
			if left := append(slices.Clone(a.buf[a.r:a.w]), src.b...); !bytes.Equal(got, body) ||
				!bytes.Equal(left, rest) {
				t.Fatalf("split at %d: body %q and rest %q; the oracle: %q and %q", split, got, left, body, rest)
			}
		}
	})
}
