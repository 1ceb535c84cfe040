package response_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/weirhq/weir/load/internal/response"
)

// plain is a response with a head of 130 bytes, typical of a small server.
const plain = "HTTP/1.1 200 OK\r\n" +
	"Content-Type: text/plain; charset=utf-8\r\n" +
	"Date: Sun, 22 Nov 2026 00:00:00 GMT\r\n" +
	"Content-Length: 11\r\n" +
	"Server: weir\r\n" +
	"\r\n" +
	"hello world"

func BenchmarkFeed(b *testing.B) {
	for _, c := range []struct{ name, stream string }{
		{"length", plain},
		{"chunks", usual + "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var p response.Parser
			stream := []byte(c.stream)
			b.ReportAllocs()
			for b.Loop() {
				if _, done, err := p.Feed(stream, false); !done || err != nil {
					b.Fatal(done, err)
				}
			}
		})
	}
	b.Run("cut", func(b *testing.B) {
		var p response.Parser
		one, two := []byte(plain[:30]), []byte(plain[30:])
		b.ReportAllocs()
		for b.Loop() {
			feed(b, &p, one, two)
		}
	})
}

// BenchmarkReadResponse parses the same response with net/http.
func BenchmarkReadResponse(b *testing.B) {
	in := bytes.NewReader(nil)
	buffered := bufio.NewReader(in)
	b.ReportAllocs()
	for b.Loop() {
		in.Reset([]byte(plain))
		buffered.Reset(in)
		res, err := http.ReadResponse(buffered, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMemory(b *testing.B) {
	for _, c := range []struct{ name, stream string }{
		{"length", plain},
		{"chunks", usual + "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := response.Parser{Memory: new(response.Memory)}
			stream := []byte(c.stream)
			b.ReportAllocs()
			for b.Loop() {
				if _, done, err := p.Feed(stream, false); !done || err != nil {
					b.Fatal(done, err)
				}
			}
		})
	}
}
