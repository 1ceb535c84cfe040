package response_test

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/load/internal/response"
)

// An outcome is the result of parsing a connection's bytes.
type outcome struct {
	answers []string // such as "200" or "200 close", for each complete one
	err     string   // the error of the response after them; "" without one
	taken   int      // bytes of complete responses
}

// read feeds the stream in pieces that end at the cuts, which increase.
func read(p *response.Parser, stream string, noBody bool, cuts ...int) outcome {
	var o outcome
	whole := func() {
		text := strconv.Itoa(p.Status())
		if p.Close() {
			text += " close"
		}
		o.answers = append(o.answers, text)
	}
	at := 0
	for _, end := range append(cuts, len(stream)) {
		for at < end {
			n, done, err := p.Feed([]byte(stream[at:end]), noBody)
			at += n
			switch {
			case err != nil:
				o.err = what(err)
				return o
			case done:
				whole()
				o.taken = at
			case at != end:
				o.err = fmt.Sprintf("not done, and %d bytes were left", end-at)
				return o
			}
		}
	}
	done, err := p.EOF()
	if done {
		whole()
		o.taken = at
	} else if err != io.EOF {
		o.err = what(err)
	}
	return o
}

// what returns an error without the text that it quotes, which depends on the length of
// the piece.
func what(err error) string {
	var bad *response.Error
	if errors.As(err, &bad) {
		return bad.What + " in " + bad.Where
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "EOF: " + err.Error()
	}
	return "untyped: " + err.Error()
}

type streamCase struct {
	name, stream string
	noBody       bool
	want         []string
	err          string // its beginning
	open         bool   // the last response ends with the connection
}

const usual = "HTTP/1.1 200 OK\r\n"

var streams = []streamCase{
	{name: "nothing", stream: ""},
	{name: "length", stream: usual + "Content-Length: 5\r\n\r\nhello", want: []string{"200"}},
	{name: "length of zero", stream: usual + "content-length:0\r\n\r\n", want: []string{"200"}},
	{name: "no reason", stream: "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", want: []string{"404"}},
	{name: "an empty reason", stream: "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", want: []string{"404"}},
	{name: "bare LF", stream: "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
		err: "a line ends without a CR in line 1"},
	{name: "three, pipelined", stream: strings.Repeat(usual+"Content-Length: 5\r\n\r\nhello", 3),
		want: []string{"200", "200", "200"}},
	{name: "close", stream: usual + "Connection: close\r\nContent-Length: 2\r\n\r\nhi", want: []string{"200 close"}},
	{name: "close among others", stream: usual + "Connection: Upgrade , CLOSE\r\nContent-Length: 2\r\n\r\nhi",
		want: []string{"200 close"}},
	{name: "close does not last", stream: usual + "Connection: close\r\nContent-Length: 0\r\n\r\n" + usual +
		"Content-Length: 0\r\n\r\n", want: []string{"200 close", "200"}},
	{name: "keep-alive", stream: usual + "Connection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
		want: []string{"200"}},
	{name: "a field that begins as another", stream: usual +
		"Content-Length-Of: 7\r\nContent-Lengt: 8\r\nConnections: close\r\nTransfer-Encodings: x\r\n" +
		"Content-Length: 0\r\n\r\n", want: []string{"200"}},
	{name: "to the end", stream: usual + "\r\nhello", want: []string{"200 close"}, open: true},
	{name: "to the end, of nothing", stream: usual + "\r\n", want: []string{"200 close"}, open: true},

	{name: "HTTP/1.0", stream: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", want: []string{"200 close"}},
	{name: "HTTP/1.0 kept alive", stream: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nhi",
		want: []string{"200"}},
	{name: "HTTP/1.0 in chunks",
		stream: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: Keep-Alive\r\n\r\n0\r\n\r\n",
		err:    "Transfer-Encoding in HTTP/1.0 in line 2"},
	{name: "HTTP/1.7", stream: "HTTP/1.7 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		err: "the status line is malformed in line 1"},

	{name: "chunks", stream: usual +
		"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0A;a=b\r\n0123456789\r\n0\r\n\r\n", want: []string{"200"}},
	{name: "chunks with a length", stream: usual +
		"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5 ; a=\"b\"\r\nhello\r\n0\r\n\r\n",
		err: "both Content-Length and Transfer-Encoding in line 3"},
	{name: "chunks with trailers", stream: usual +
		"Transfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n000;last\r\nContent-Length: 7\r\nA: b\r\n\r\n" + usual +
		"Content-Length: 0\r\n\r\n", want: []string{"200", "200"}},
	{name: "chunks with bare LF", stream: usual + "Transfer-Encoding: chunked\n\n1\nx\n0\n\n",
		err: "a line ends without a CR in line 2"},
	{name: "chunks of gzip", stream: usual + "Transfer-Encoding: gzip;q=1,chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
		err: "Transfer-Encoding is not chunked in line 2"},
	{name: "codings in two lines", stream: usual +
		"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		err: "Transfer-Encoding is not chunked in line 2"},
	{name: "gzip of chunks", stream: usual + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
		err: "Transfer-Encoding is not chunked in line 2"},
	{name: "identity", stream: usual + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi",
		err: "Transfer-Encoding is not chunked in line 2"},

	{name: "HEAD", stream: usual + "Content-Length: 5\r\n\r\n" + usual + "Transfer-Encoding: chunked\r\n\r\n",
		noBody: true, want: []string{"200", "200"}},
	{name: "204 and 304", stream: "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\n" +
		"Content-Length: 5\r\n\r\n", want: []string{"204", "304"}},
	{name: "1xx before", stream: "HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n" +
		"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + usual + "Content-Length: 2\r\n\r\nhi", want: []string{"200"}},

	{name: "equal lengths", stream: usual + "Content-Length: 2\r\nContent-Length: 02, 2\r\n\r\nhi",
		err: "more than one Content-Length in line 3"},
	{name: "a long line", stream: usual + "X: " + strings.Repeat("x", 300) + "\r\nContent-Length: 0\r\n\r\n",
		want: []string{"200"}},
	{name: "a folded field", stream: usual +
		"Content-Type: text/plain;\r\n charset=utf-8\r\nContent-Length: 2\r\n\r\nhi",
		err: "a field is folded in line 3"},
	{name: "odd fields", stream: usual +
		"no colon\r\n: no name\r\n\x00\xff\r\nC\r\n\t\r\nT\r\nContent-Length: 2\r\n\r\nhi",
		err: "the name of a field is malformed in line 2"},

	{name: "different lengths", stream: usual + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
		err: "more than one Content-Length in line 3"},
	{name: "different lengths in a list", stream: usual + "Content-Length: 2, 3\r\n\r\nhi",
		err: "Content-Length is not a number in line 2"},
	{name: "a signed length", stream: usual + "Content-Length: +2\r\n\r\nhi",
		err: "Content-Length is not a number in line 2"},
	{name: "no length", stream: usual + "Content-Length:\r\n\r\nhi",
		err: "Content-Length is not a number in line 2"},
	{name: "the longest length", stream: usual + "Content-Length: 4611686018427387904\r\n\r\nhi",
		err: "Content-Length is not a number in line 2"},
	{name: "a longer one", stream: usual + "Content-Length: 4611686018427387905\r\n\r\nhi",
		err: "Content-Length is not a number in line 2"},
	{name: "a space before the colon", stream: usual + "Content-Length : 2\r\n\r\nhi",
		err: "the name of a field is malformed in line 2"},
	{name: "a folded length", stream: usual + "Content-Length: 2\r\n 3\r\n\r\nhi",
		err: "a field is folded in line 3"},
	{name: "a folded Connection", stream: usual + "Connection:\r\n close\r\n\r\n",
		err: "a field is folded in line 3"},

	{name: "not HTTP", stream: "SSH-2.0-OpenSSH_9.2p1\r\n",
		err: "the response does not begin with HTTP/1. in line 1"},
	{name: "not HTTP, and no line", stream: "\x16\x03\x01\x02\x00",
		err: "the response does not begin with HTTP/1. in line 1"},
	{name: "HTTP/2", stream: "HTTP/2.0 200 OK\r\n\r\n",
		err: "the response does not begin with HTTP/1. in line 1"},
	{name: "an empty line first", stream: "\r\n" + usual + "\r\n",
		err: "the response does not begin with HTTP/1. in line 1"},
	{name: "half of a start", stream: "HTTP/1.\r\n",
		err: "the status line is malformed in line 1"},
	{name: "no status", stream: "HTTP/1.1\r\n\r\n",
		err: "the status line is malformed in line 1"},
	{name: "a short status", stream: "HTTP/1.1 20\r\n\r\n",
		err: "the status line is malformed in line 1"},
	{name: "a long status", stream: "HTTP/1.1 2000\r\n\r\n",
		err: "the status line is malformed in line 1"},
	{name: "a status of letters", stream: "HTTP/1.1 2xx OK\r\n\r\n",
		err: "the status line is malformed in line 1"},
	{name: "a status below 100", stream: "HTTP/1.1 099 OK\r\n\r\n",
		err: "the status is below 100 in line 1"},
	{name: "another protocol", stream: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
		err: "the request did not ask for another protocol"},
	{name: "more than was announced", stream: usual + "Content-Length: 2\r\n\r\nhello", want: []string{"200"},
		err: "the response does not begin with HTTP/1. in line 1"},

	{name: "a chunk without a size", stream: usual + "Transfer-Encoding: chunked\r\n\r\n;x\r\n",
		err: "the size of a chunk is not a hexadecimal number in the chunks, after 0 bytes"},
	{name: "a chunk's size of nonsense", stream: usual + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\nxyz\r\n",
		err: "the size of a chunk is not a hexadecimal number in the chunks, after 1 bytes"},
	{name: "a negative chunk", stream: usual + "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
		err: "the size of a chunk is not a hexadecimal number in the chunks, after 0 bytes"},
	{name: "a chunk too large", stream: usual + "Transfer-Encoding: chunked\r\n\r\n4000000000000001\r\n",
		err: "the size of a chunk is not a hexadecimal number in the chunks, after 0 bytes"},
	{name: "the largest chunk", stream: usual + "Transfer-Encoding: chunked\r\n\r\n04000000000000000\r\nx",
		err: "the size of a chunk is not a hexadecimal number in the chunks, after 0 bytes"},
	{name: "a chunk longer than its size", stream: usual + "Transfer-Encoding: chunked\r\n\r\n2\r\nxyz\r\n",
		err: "a chunk is longer than its size in the chunks, after 2 bytes"},
	{name: "a chunk that ends with CR", stream: usual + "Transfer-Encoding: chunked\r\n\r\n2\r\nxy\r\r\n",
		err: "a chunk is longer than its size"},

	{name: "cut in the first line", stream: "HTTP/1.1 2", err: "EOF: the connection ended in line 1 of"},
	{name: "cut in the head", stream: usual + "Conte", err: "EOF: the connection ended in line 2 of"},
	{name: "cut before the empty line", stream: usual + "Content-Length: 0\r\n",
		err: "EOF: the connection ended in line 3 of"},
	{name: "cut after 1xx", stream: "HTTP/1.1 100 Continue\r\n\r\n", err: "EOF: the connection ended in line 1 of"},
	{name: "cut in the body", stream: usual + "Content-Length: 5\r\n\r\nhel",
		err: "EOF: the connection ended after 3 of 5 bytes of the response's body"},
	{name: "cut in a chunk", stream: usual + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
		err: "EOF: the connection ended after 3 bytes of"},
	{name: "cut before the last chunk", stream: usual + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		err: "EOF: the connection ended after 5 bytes of"},
	{name: "cut in the trailers", stream: usual + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n",
		err: "EOF: the connection ended after 0 bytes of"},
}

func (c streamCase) check(t *testing.T, how string, got outcome) {
	t.Helper()
	if strings.Join(got.answers, ", ") != strings.Join(c.want, ", ") || !strings.HasPrefix(got.err, c.err) ||
		(got.err == "") != (c.err == "") {
		t.Errorf("%s: responses %q and error %q, want %q and %q", how, got.answers, got.err, c.want, c.err)
	}
	if c.err == "" && got.taken != len(c.stream) {
		t.Errorf("%s: the responses are %d bytes, want %d", how, got.taken, len(c.stream))
	}
}

func TestParserReadsEachStream(t *testing.T) {
	for _, c := range streams {
		t.Run(c.name, func(t *testing.T) {
			c.check(t, "whole", read(new(response.Parser), c.stream, c.noBody))
		})
	}
}

// TestSplitsDoNotMatter feeds each stream in three pieces of all lengths, and byte by byte.
func TestSplitsDoNotMatter(t *testing.T) {
	for _, c := range streams {
		t.Run(c.name, func(t *testing.T) {
			p := new(response.Parser) // reused, like that of a connection
			var all []int
			for i := range c.stream {
				all = append(all, i)
				for j := i; j <= len(c.stream); j += 1 + len(c.stream)/100 {
					p.Reset()
					c.check(t, fmt.Sprintf("cut at %d and %d", i, j), read(p, c.stream, c.noBody, i, j))
				}
			}
			p.Reset()
			c.check(t, "byte by byte", read(p, c.stream, c.noBody, all...))
		})
	}
}

// TestEndlessLinesAreRejected feeds lines that never end, in one piece and in many.
func TestEndlessLinesAreRejected(t *testing.T) {
	const inChunks = usual + "Transfer-Encoding: chunked\r\n\r\n"
	field := "X: " + strings.Repeat("x", 1000) + "\r\n"
	for _, c := range []streamCase{
		{name: "the longest head", stream: usual + strings.Repeat(field, 65) + "Y: " +
			strings.Repeat("y", 64<<10-17-65*1005-3-4) + "\r\n\r\n", want: []string{"200 close"}, open: true},
		{name: "a longer one", stream: usual + strings.Repeat(field, 65) + "Y: " +
			strings.Repeat("y", 64<<10-17-65*1005-3-3) + "\r\n\r\n", err: "the head is too long"},
		{name: "one field", stream: usual + "X: " + strings.Repeat("x", 70_000),
			err: "the head is too long in line 2"},
		{name: "one line", stream: "HTTP/1.1 200 " + strings.Repeat("x", 70_000),
			err: "the head is too long in line 1"},
		{name: "1xx without end", stream: strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 3000),
			err: "the head is too long"},
		{name: "the longest chunk line", stream: inChunks + "0;" + strings.Repeat("x", 1020) + "\r\n\r\n",
			want: []string{"200"}},
		{name: "a longer one", stream: inChunks + "0;" + strings.Repeat("x", 1021) + "\r\n\r\n",
			err: "the line of a chunk's size is too long"},
		{name: "zeros", stream: inChunks + strings.Repeat("0", 5000),
			err: "the size of a chunk is not a hexadecimal number"},
		{name: "many chunks", stream: inChunks + strings.Repeat("1;abcdefg\r\nx\r\n", 10_000) + "0\r\n\r\n",
			want: []string{"200"}},
		{name: "many fields", stream: usual + strings.Repeat("A: b\r\n", 1000) + "Content-Length: 0\r\n\r\n",
			want: []string{"200"}},
		{name: "trailers", stream: inChunks + "0\r\n" + strings.Repeat(field, 70),
			err: "the head is too long in the chunks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := new(response.Parser)
			for _, piece := range []int{len(c.stream), 4096, 1001, 1} {
				p.Reset()
				var cuts []int
				for at := piece; at < len(c.stream); at += piece {
					cuts = append(cuts, at)
				}
				c.check(t, fmt.Sprintf("in pieces of %d", piece), read(p, c.stream, false, cuts...))
			}
		})
	}
}

func TestStatusIsKnownWhileReading(t *testing.T) {
	var p response.Parser
	const stream = usual + "Content-Length: 2\r\n\r\nhi"
	for i := range len(stream) {
		wantStatus := 0
		if i >= len(usual) {
			wantStatus = 200
		}
		if got := p.Status(); got != wantStatus {
			t.Fatalf("after %d bytes: Status() = %d, want %d", i, got, wantStatus)
		}
		if _, _, err := p.Feed([]byte(stream[i:i+1]), false); err != nil {
			t.Fatal(err)
		}
	}
	if n, done, err := p.Feed(nil, false); n != 0 || done || err != nil {
		t.Errorf("Feed(nil) = %d, %v, %v; want nothing", n, done, err)
	}
}

func TestErrorsQuoteTheLine(t *testing.T) {
	for _, c := range []struct{ stream, want string }{
		{"SSH-2.0\r\n", `bad response: the response does not begin with HTTP/1.: "SSH-2.0" in line 1 of the head`},
		{usual + "Content-Length: \"\xff\r\n",
			`bad response: Content-Length is not a number: "Content-Length: \"\xff" in line 2 of the head`},
		{strings.Repeat("x", 41) + "\n", `bad response: the response does not begin with HTTP/1.: "` + strings.Repeat("x", 40) +
			`"... in line 1 of the head`},
		{strings.Repeat("\x00", 50) + "\n", `bad response: the response does not begin with HTTP/1.: "` +
			strings.Repeat(`\x00`, 10) +
			`"... in line 1 of the head`},
	} {
		var p response.Parser
		_, _, err := p.Feed([]byte(c.stream), false)
		if err == nil || err.Error() != c.want {
			t.Errorf("Feed(%q): error %v, want %s", c.stream, err, c.want)
		}
	}
}

func TestParserAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, stream := range map[string]string{
		"length": plain,
		"chunks": usual + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n",
	} {
		b := []byte(stream)
		var p response.Parser
		for cut := range b { // after an incomplete line a Parser has a buffer for the next one
			feed(t, &p, b[:cut], b[cut:])
		}
		if got := testing.AllocsPerRun(100, func() { feed(t, &p, b) }); got != 0 {
			t.Errorf("%s: %v allocations for a whole response, want 0", name, got)
		}
		if got := testing.AllocsPerRun(100, func() { feed(t, &p, b[:30], b[30:]) }); got != 0 {
			t.Errorf("%s: %v allocations for a response in two pieces, want 0", name, got)
		}
	}
}

func feed(t testing.TB, p *response.Parser, pieces ...[]byte) {
	done := false
	for _, b := range pieces {
		n, whole, err := p.Feed(b, false)
		if n != len(b) || err != nil {
			t.Fatalf("Feed took %d of %d bytes: %v", n, len(b), err)
		}
		done = done || whole
	}
	if !done {
		t.Fatal("the response is not whole")
	}
}
