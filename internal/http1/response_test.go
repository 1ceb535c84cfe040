package http1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/http1"
)

const (
	ok      = "HTTP/1.1 200 OK\r\n"
	chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
)

// TestResponsesAreParsed checks streams of responses: "status reason|body|trailers", with "close"
// before it, for each complete one.
func TestResponsesAreParsed(t *testing.T) {
	for _, c := range []struct {
		name, wire string
		noBody     bool
		want       string
	}{
		{name: "length", wire: ok + "Content-Length: 5\r\n\r\nhello", want: "200 OK|hello|"},
		{name: "two", wire: strings.Repeat(ok+"Content-Length: 2\r\n\r\nhi", 2), want: "200 OK|hi|, 200 OK|hi|"},
		{name: "leading zeros", wire: ok + "Content-Length: 002\r\n\r\nhi", want: "200 OK|hi|"},
		{name: "no reason", wire: "HTTP/1.1 404\r\ncontent-length:0\r\n\r\n", want: "404 ||"},
		{name: "an empty reason", wire: "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", want: "404 ||"},
		{name: "close", wire: ok + "Connection: x, CLOSE\r\nContent-Length: 0\r\n\r\n", want: "close 200 OK||"},
		{name: "HTTP/1.0", wire: "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", want: "close 200 OK||"},
		{name: "HTTP/1.0 that stays", wire: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
			want: "200 OK||"},
		{name: "to the end", wire: ok + "\r\nhello", want: "close 200 OK|hello|"},
		{name: "chunks", wire: chunked + "5\r\nhello\r\n0A  ;a=\"b\"\r\n0123456789\r\n000\r\nX: y\r\nZ:\r\n\r\n",
			want: "200 OK|hello0123456789|X: y Z: "},
		{name: "HEAD", wire: ok + "Content-Length: 5\r\n\r\n" + chunked, noBody: true, want: "200 OK||, 200 OK||"},
		{name: "204 and 304", wire: "HTTP/1.1 204 N\r\nTransfer-Encoding: chunked\r\n\r\n" +
			"HTTP/1.1 304 N\r\nContent-Length: 5\r\n\r\n", want: "204 N||, 304 N||"},
		{name: "1xx", wire: "HTTP/1.1 103 Early\r\nLink: x\r\nContent-Length: 0\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n",
			want: "103 Early||, 200 OK||"},
		{name: "surplus", wire: ok + "Content-Length: 2\r\n\r\nhiX",
			want: "200 OK|hi|, error the response does not begin with HTTP/1."},

		{name: "not HTTP", wire: "SSH-2.0", want: "error the response does not begin with HTTP/1."},
		{name: "an empty line first", wire: "\r\n" + ok, want: "error the response does not begin with HTTP/1."},
		{name: "HTTP/1.2", wire: "HTTP/1.2 200 OK\r\n\r\n", want: "error the status line is malformed"},
		{name: "no status", wire: "HTTP/1.1\r\n\r\n", want: "error the status line is malformed"},
		{name: "a long status", wire: "HTTP/1.1 2000 OK\r\n\r\n", want: "error the status line is malformed"},
		{name: "a signed status", wire: "HTTP/1.1 +20 OK\r\n\r\n", want: "error the status line is malformed"},
		{name: "two spaces", wire: "HTTP/1.1  200 OK\r\n\r\n", want: "error the status line is malformed"},
		{name: "a status below 100", wire: "HTTP/1.1 099 OK\r\n\r\n", want: "error the status is below 100"},
		{name: "a control byte in the reason", wire: "HTTP/1.1 200 \x01\r\n\r\n",
			want: "error a line contains a control byte"},
		{name: "bare LF", wire: "HTTP/1.1 200 OK\n\n", want: "error a line ends without a CR"},
		{name: "bare LF after a field", wire: ok + "A: b\n\r\n", want: "error a line ends without a CR"},
		{name: "bare CR", wire: ok + "A: b\rc\r\n\r\n", want: "error a line contains a CR"},
		{name: "a folded field", wire: ok + "A: b\r\n c\r\n\r\n", want: "error a field is folded"},
		{name: "no colon", wire: ok + "A b\r\n\r\n", want: "error the name of a field is malformed"},
		{name: "no name", wire: ok + ": b\r\n\r\n", want: "error the name of a field is malformed"},
		{name: "a space before the colon", wire: ok + "A : b\r\n\r\n", want: "error the name of a field is malformed"},
		{name: "two lengths", wire: ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi",
			want: "error more than one Content-Length"},
		{name: "a list of lengths", wire: ok + "Content-Length: 2, 2\r\n\r\nhi",
			want: "error Content-Length is not a number"},
		{name: "a long length", wire: ok + "Content-Length: 1234567890123456789\r\n\r\n",
			want: "error Content-Length is not a number"},
		{name: "length and coding", wire: ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", noBody: true,
			want: "error both Content-Length and Transfer-Encoding"},
		{name: "coding in HTTP/1.0", wire: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			want: "error Transfer-Encoding in HTTP/1.0"},
		{name: "another coding", wire: ok + "Transfer-Encoding: gzip, chunked\r\n\r\n",
			want: "error Transfer-Encoding is not chunked"},
		{name: "chunked twice", wire: ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
			want: "error Transfer-Encoding is not chunked"},
		{name: "1xx with a body", wire: "HTTP/1.1 100 C\r\nContent-Length: 1\r\n\r\n",
			want: "error a 1xx response has a body"},
		{name: "1xx in chunks", wire: "HTTP/1.1 100 C\r\nTransfer-Encoding: chunked\r\n\r\n",
			want: "error a 1xx response has a body"},
		{name: "an announced length", wire: ok + "Trailer: A, Content-Length\r\n\r\n",
			want: "error a field is not allowed in a trailer"},
		{name: "many fields", wire: ok + strings.Repeat("A: b\r\n", 257), want: "error there are too many fields"},
		{name: "a long head", wire: ok + "A: " + strings.Repeat("b", 64<<10), want: "error the head is too long"},

		{name: "no size", wire: chunked + "\r\nok", want: "error the size of a chunk is not a hexadecimal number"},
		{name: "a size of nonsense", wire: chunked + "xyz", want: "error the size of a chunk is not a hexadecimal number"},
		{name: "a negative size", wire: chunked + "-2", want: "error the size of a chunk is not a hexadecimal number"},
		{name: "a space before a size", wire: chunked + " 2\r\n",
			want: "error the size of a chunk is not a hexadecimal number"},
		{name: "a size of 64 bits", wire: chunked + "ffffffffffffffff\r\n",
			want: "error the size of a chunk is not a hexadecimal number"},
		{name: "a size before a bare LF", wire: chunked + "2\nok", want: "error a line ends without a CR"},
		{name: "a size before a bare CR", wire: chunked + "2\rok", want: "error a line contains a CR"},
		{name: "a long chunk", wire: chunked + "2\r\nokay", want: "error a chunk is longer than its size"},
		{name: "a control byte in an extension", wire: chunked + "2;a=\x01\r\n",
			want: "error a chunk's extension is malformed"},
		{name: "the longest line", wire: chunked + "0;" + strings.Repeat("x", 1020) + "\r\n\r\n", want: "200 OK||"},
		{name: "a longer line", wire: chunked + "0;" + strings.Repeat("x", 1021) + "\r\n\r\n",
			want: "error the line of a chunk's size is too long"},
		{name: "much besides data", wire: chunked + strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\nx\r\n", 20),
			want: "error the chunks contain too much besides data"},
		{name: "short chunks", wire: chunked + strings.Repeat("1;abcdefg\r\nx\r\n", 1000) + "0\r\n\r\n",
			want: "200 OK|" + strings.Repeat("x", 1000) + "|"},
		{name: "a trailer without a colon", wire: chunked + "0\r\nA b\r\n\r\n",
			want: "error the name of a field is malformed"},
		{name: "a trailer with a bare LF", wire: chunked + "0\r\nA: b\n\r\n", want: "error a line ends without a CR"},
		{name: "long trailers", wire: chunked + "0\r\nA: " + strings.Repeat("b", 64<<10),
			want: "error the head is too long"},
		{name: "many trailers", wire: chunked + "0\r\n" + strings.Repeat("A: b\r\n", 257),
			want: "error there are too many fields"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{len(c.wire), 1000, 7, 1} {
				if size == 1 && len(c.wire) > 20_000 {
					continue
				}
				s := read(true, c.noBody, []byte(c.wire), size).finish()
				var got []string
				for _, m := range s.messages {
					text := fmt.Sprintf("%s|%s|%s", m.first, m.body, strings.Join(m.trailer, " "))
					if m.close {
						text = "close " + text
					}
					got = append(got, text)
				}
				if s.err != nil {
					got = append(got, "error "+s.err.Reason)
					if s.err.Status != 502 {
						t.Errorf("status %d, want 502", s.err.Status)
					}
				}
				if strings.Join(got, ", ") != c.want {
					t.Errorf("in pieces of %d: %q, want %q", size, got, c.want)
				}
			}
		})
	}
}

// TestLookAheadLeavesReaderUnchanged checks that a copy of a ChunkReader does not affect the original.
func TestLookAheadLeavesReaderUnchanged(t *testing.T) {
	var c http1.ChunkReader
	wire := []byte("2\r\nok\r\nno size")
	ahead := c
	rest := wire
	var err error
	for n := 1; n > 0 && err == nil; rest = rest[n:] {
		_, n, _, err = ahead.Next(rest)
	}
	if err == nil {
		t.Fatal("the malformed chunk is accepted")
	}
	if data, n, done, err := c.Next(wire); string(data.Of(wire)) != "ok" || n != 5 || done || err != nil {
		t.Errorf("%q, %d, %v, %v; want ok", data.Of(wire), n, done, err)
	}
}
