package http1_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/http1"
)

// plainRequest is a GET of 400 bytes with 10 fields, similar to those of browsers.
var plainRequest = func() []byte {
	head := "GET /embed/visualisations/a/b?x=1 HTTP/1.1\r\nHost: www.example.com\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:130.0)\r\nAccept: text/html,*/*;q=0.8\r\n" +
		"Accept-Language: en-GB,en;q=0.9\r\nAccept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\n" +
		"Referer: http://www.example.com/\r\nSec-Fetch-Mode: navigate\r\nCache-Control: max-age=0\r\nCookie: "
	return []byte(head + strings.Repeat("c", 400-len(head)-4) + "\r\n\r\n")
}()

// plainResponse is a response of a small server.
var plainResponse = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n" +
	"Date: Sun, 22 Nov 2026 00:00:00 GMT\r\nContent-Length: 11\r\nServer: weir\r\n\r\nhello world")

// plainChunks is a body of three chunks with a trailer.
var plainChunks = []byte("1000\r\n" + strings.Repeat("x", 0x1000) + "\r\n" +
	"5\r\nhello\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n")

func BenchmarkRequest(b *testing.B) {
	b.Run("http1", func(b *testing.B) {
		p := http1.RequestParser{Fields: new(http1.Fields)}
		b.SetBytes(int64(len(plainRequest)))
		b.ReportAllocs()
		for b.Loop() {
			if n, err := p.Parse(plainRequest); n != len(plainRequest) || err != nil {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("minimal", func(b *testing.B) {
		var p minimal
		b.SetBytes(int64(len(plainRequest)))
		for b.Loop() {
			if n := p.parse(plainRequest); n != len(plainRequest) || p.n != 10 {
				b.Fatal(n, p.n)
			}
		}
	})
	b.Run("ReadRequest", func(b *testing.B) {
		in := bytes.NewReader(nil)
		r := bufio.NewReader(in)
		b.ReportAllocs()
		for b.Loop() {
			in.Reset(plainRequest)
			r.Reset(in)
			if _, err := http.ReadRequest(r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A minimal parser finds the names and values of a head byte by byte, as nginx does, and
// checks almost nothing.
type minimal struct {
	n      int
	fields [32]http1.Field
}

func (m *minimal) parse(b []byte) int {
	const (
		inLine = iota
		lineEnd
		nameStart
		inName
		beforeValue
		inValue
		valueEnd
		headEnd
	)
	state := inLine
	m.n = 0
	var f http1.Field
	for i, c := range b {
		switch state {
		case inLine:
			if c == '\r' {
				state = lineEnd
			}
		case lineEnd, valueEnd:
			if c != '\n' {
				return -1
			}
			state = nameStart
		case nameStart:
			if c == '\r' {
				state = headEnd
				break
			}
			f.Name.Start = uint32(i)
			state = inName
		case inName:
			if c == ':' {
				f.Name.End = uint32(i)
				state = beforeValue
			}
		case beforeValue:
			if c != ' ' {
				f.Value.Start = uint32(i)
				state = inValue
			}
		case inValue:
			if c == '\r' {
				f.Value.End = uint32(i)
				m.fields[m.n%len(m.fields)] = f
				m.n++
				state = valueEnd
			}
		case headEnd:
			return i + 1
		}
	}
	return 0
}

func BenchmarkResponse(b *testing.B) {
	b.Run("http1", func(b *testing.B) {
		p := http1.ResponseParser{Fields: new(http1.Fields)}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Parse(plainResponse, false); err != nil || p.Head.Length != 11 {
				b.Fatal(err)
			}
		}
	})
	b.Run("ReadResponse", func(b *testing.B) {
		in := bytes.NewReader(nil)
		r := bufio.NewReader(in)
		b.ReportAllocs()
		for b.Loop() {
			in.Reset(plainResponse)
			r.Reset(in)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
		}
	})
}

func BenchmarkChunks(b *testing.B) {
	var c http1.ChunkReader
	b.SetBytes(int64(len(plainChunks)))
	b.ReportAllocs()
	for b.Loop() {
		readChunks(b, &c, plainChunks)
	}
}

// readChunks decodes one body.
func readChunks(t testing.TB, c *http1.ChunkReader, wire []byte) (size int) {
	c.Reset()
	for done := false; !done; {
		data, n, end, err := c.Next(wire)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		size += data.Len()
		wire, done = wire[n:], end
	}
	return size
}

// TestParsingAllocatesNothing checks that parsing allocates nothing, also in pieces and for heads with
// more fields than fit inline, once their slice exists.
func TestParsingAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	fields := new(http1.Fields)
	p := http1.RequestParser{Fields: fields}
	r := http1.ResponseParser{Fields: fields}
	c := http1.ChunkReader{Trailers: fields}
	absolute := []byte("POST http://a:80/%41 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\n" +
		"Trailer: X\r\nTransfer-Encoding: chunked\r\n\r\n")
	many := []byte("GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 200) + "\r\n")
	for name, parse := range map[string]func(){
		"a request":   func() { p.Parse(plainRequest) },
		"all fields":  func() { p.Parse(absolute) },
		"many fields": func() { p.Parse(many) },
		"a request in pieces": func() {
			for i := range plainRequest {
				p.Parse(plainRequest[:i+1])
			}
		},
		"a response": func() { r.Parse(plainResponse, false) },
		"chunks":     func() { readChunks(t, &c, plainChunks) },
	} {
		if n := testing.AllocsPerRun(100, parse); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
	for _, head := range [][]byte{plainRequest, absolute, many} {
		if n, err := p.Parse(head); n != len(head) || err != nil {
			t.Errorf("%q: %d, %v", head, n, err)
		}
	}
}
