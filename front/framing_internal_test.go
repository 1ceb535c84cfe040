package front

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// follow passes the stream to f in pieces of the given size, like Read, and
// returns the bytes that f passes on and the ends of requests. With size 1 it
// finds every end.
func follow(f *framing, stream []byte, size int) (passed []byte, ends []int) {
	for piece := range slices.Chunk(stream, size) {
		before := f.state
		n := f.inspect(piece)
		passed = append(passed, piece[:n]...)
		if before != atRequestLine && f.state == atRequestLine && f.err == nil {
			ends = append(ends, len(passed))
		}
		if f.err != nil {
			break
		}
	}
	return passed, ends
}

// endsToNetHTTP returns the ends of requests according to net/http.
func endsToNetHTTP(stream []byte) (ends []int) {
	left := bytes.NewReader(stream)
	r := bufio.NewReader(left)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return ends
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return ends
		}
		ends = append(ends, len(stream)-left.Len()-r.Buffered())
	}
}

// FuzzFraming checks that net/http finds the same ends of requests as framing
// in the bytes that framing passes on, however they are split.
func FuzzFraming(f *testing.F) {
	for _, seed := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcPOST / HTTP/1.1\r\nHost: a\r\ncontent-length:\t0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n" +
			"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
		"POST http://a/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
		"GET / HTTP/1.1\nHost: a\n\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04",
		"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
		" HTTP/\r\n",
	} {
		f.Add([]byte(seed), uint8(7))
	}
	f.Fuzz(func(t *testing.T, stream []byte, size uint8) {
		var whole, pieces, single framing
		passed, ends := follow(&single, stream, 1)
		atOnce, _ := follow(&whole, stream, max(len(stream), 1))
		inPieces, _ := follow(&pieces, stream, int(size)+1)
		if (whole.err == nil) != (single.err == nil) || (pieces.err == nil) != (single.err == nil) {
			t.Errorf("at once %v, in pieces of %d %v, byte by byte %v", whole.err, int(size)+1, pieces.err, single.err)
		}
		for _, other := range [][]byte{atOnce, inPieces} {
			if !bytes.HasPrefix(passed, other) {
				t.Errorf("passed on %q and byte by byte %q", other, passed)
			}
		}
		if bytes.HasPrefix(stream, []byte(prefaceLine)) {
			return // the bytes after the first line of the HTTP/2 preface are not HTTP/1
		}
		theirs := endsToNetHTTP(passed)
		for i, end := range theirs {
			doomed := i == len(ends) && single.err == io.EOF
			if !doomed && (i >= len(ends) || ends[i] != end) {
				t.Fatalf("net/http sees requests end at %d, framing at %d, in %q", theirs, ends, passed)
			}
		}
	})
}

// TestFramingForgetsLongLines parses a long line, then short ones, and checks
// that its buffer is released.
func TestFramingForgetsLongLines(t *testing.T) {
	var f framing
	follow(&f, []byte("GET / HTTP/1.1\r\nX: "+strings.Repeat("x", 40<<10)+"\r\nHost: a\r\n\r\n"), 1000)
	if f.err != nil || cap(f.line) > keptLine {
		t.Errorf("%v, a buffer of %d bytes is kept", f.err, cap(f.line))
	}
	follow(&f, []byte(strings.Repeat("x", 4*maxHead)), 1000)
	if f.err != errLongLine || cap(f.line) > 2*maxLine {
		t.Errorf("an endless line: %v, with a buffer of %d bytes", f.err, cap(f.line))
	}
}

// plainHead is a head of 300 bytes, similar to those of browsers.
var plainHead = func() []byte {
	head := "GET /embed/visualisations/a/b?x=1 HTTP/1.1\r\nHost: www.example.com\r\n" +
		"Accept: text/html,application/xhtml+xml\r\n" +
		"Accept-Encoding: gzip, deflate, br\r\nAccept-Language: en-GB,en;q=0.9\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:130.0)\r\nCookie: "
	return []byte(head + strings.Repeat("c", 300-len(head)-4) + "\r\n\r\n")
}()

func BenchmarkFraming(b *testing.B) {
	var f framing
	b.SetBytes(int64(len(plainHead)))
	b.ReportAllocs()
	for b.Loop() {
		if f.inspect(plainHead) != len(plainHead) || f.err != nil {
			b.Fatal(f.err)
		}
	}
}

// TestFramingAllocates checks that framing allocates only for the first split
// line and the first target in absolute form.
func TestFramingAllocates(t *testing.T) {
	var f framing
	stream := slices.Concat(plainHead,
		[]byte("POST http://a/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n"+
			"abc\r\n0\r\n\r\n"))
	for _, size := range []int{len(stream), 50} {
		if n := testing.AllocsPerRun(100, func() { show(&f, stream, size) }); n != 0 || f.err != nil {
			t.Errorf("in pieces of %d: %v allocations, %v", size, n, f.err)
		}
	}
}

// show passes the stream to f and ignores the result.
func show(f *framing, stream []byte, size int) {
	for piece := range slices.Chunk(stream, size) {
		f.inspect(piece)
	}
}
