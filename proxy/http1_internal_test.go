package proxy

import (
	"bytes"
	"io"
	"testing"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/http1/http1test"
)

// FuzzHTTP1 compares the parser of package http1 with answer. It refuses each response
// that answer refuses, and otherwise finds the same body, except for the two rules that
// answer does not have.
func FuzzHTTP1(f *testing.F) {
	for _, c := range http1test.Ambiguous {
		if _, rest, found := bytes.Cut([]byte(c.Raw), []byte("\r\n")); found {
			f.Add(append([]byte("HTTP/1.1 200 OK\r\n"), rest...), false)
		}
	}
	for _, wire := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
		"HTTP/1.1 200\r\n\r\nuntil the end", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5 ;a=b\r\nhello\r\n0\r\nX: y\r\n\r\nmore"} {
		f.Add([]byte(wire), false)
		f.Add([]byte(wire), true)
	}
	f.Fuzz(func(t *testing.T, wire []byte, head bool) {
		if len(wire) > 3000 {
			return
		}
		method := "GET"
		if head {
			method = "HEAD"
		}
		old := answer{maxFields: DefaultMaxFields}
		want, oldErr := readAll(&old, (&pieces{wire, len(wire) + 1}).read, method)
		got, err := readHTTP1(wire, head)
		if err == nil && (oldErr != nil || !bytes.Equal(got, want)) {
			t.Errorf("%q: body %q; answer: %q, %v", wire, got, want, oldErr)
		}
		if err != nil && oldErr == nil && !has(old.fields, "Trailer") {
			t.Errorf("%q: %v, and answer accepts it", wire, err)
		}
	})
}

// readHTTP1 reads one response with package http1.
func readHTTP1(wire []byte, head bool) (body []byte, err error) {
	var p http1.ResponseParser
	n, err := p.Parse(wire, head)
	if err != nil || n == 0 {
		return nil, orUnexpected(err)
	}
	rest := wire[n:]
	switch p.Head.Framing {
	case http1.BodyLength:
		if int64(len(rest)) < p.Head.Length {
			return nil, io.ErrUnexpectedEOF
		}
		return rest[:p.Head.Length], nil
	case http1.BodyUntilClose:
		return rest, nil
	case http1.BodyNone:
		return nil, nil
	}
	var c http1.ChunkReader
	for {
		data, n, done, err := c.Next(rest)
		if err != nil || n == 0 && !done {
			return nil, orUnexpected(err)
		}
		body, rest = append(body, data.Of(rest)...), rest[n:]
		if done {
			return body, nil
		}
	}
}

func orUnexpected(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// oneResponse is a typical response of an application.
var oneResponse = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n" +
	"Date: Sun, 22 Nov 2026 00:00:00 GMT\r\nContent-Length: 0\r\nServer: weir\r\n\r\n")

func BenchmarkHTTP1(b *testing.B) {
	b.Run("http1", func(b *testing.B) {
		p := http1.ResponseParser{Fields: new(http1.Fields)}
		b.ReportAllocs()
		for b.Loop() {
			if n, err := p.Parse(oneResponse, false); n != len(oneResponse) || err != nil {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("answer", func(b *testing.B) {
		a := answer{maxFields: DefaultMaxFields}
		src := &pieces{size: len(oneResponse)}
		read := src.read
		b.ReportAllocs()
		for b.Loop() {
			src.b = oneResponse
			if err := a.readHead(read, "GET"); err != nil {
				b.Fatal(err)
			}
			a.reset()
		}
	})
}
