package proxying_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/proxying"
)

// fixed returns a script that responds to each request with the same bytes,
// without allocating. It uses one buffer per connection and searches only for
// the end of a head.
func fixed(answer []byte) func(w *wire) {
	return func(w *wire) {
		buf := make([]byte, 4<<10)
		n := 0
		for {
			m, err := w.TCPConn.Read(buf[n:])
			if err != nil {
				return
			}
			if n += m; bytes.HasSuffix(buf[:n], []byte("\r\n\r\n")) {
				n = 0
				w.TCPConn.Write(answer)
			}
		}
	}
}

// oneKiB are responses with a body of 1 KiB, by their framing.
var oneKiB = func() map[string][]byte {
	body := strings.Repeat("x", 1024)
	return map[string][]byte{
		"length": []byte("HTTP/1.1 200 OK\r\nServer: test\r\nContent-Type: text/plain\r\n" +
			"Date: Mon, 02 Jan 2006 15:04:05 GMT\r\nX-Of-Its-Own: 1\r\nContent-Length: 1024\r\n\r\n" + body),
		"chunks": []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" + body + "\r\n0\r\n\r\n"),
	}
}()

// BenchmarkExchange sends requests over reused connections to a server in the
// same process, whose cost is included.
func BenchmarkExchange(b *testing.B) {
	for name, answer := range oneKiB {
		b.Run(name, func(b *testing.B) { benchmarkExchange(b, fixed(answer), nil) })
	}
	b.Run("upload", func(b *testing.B) {
		body := bytes.Repeat([]byte("x"), 64<<10)
		benchmarkExchange(b, afterBody(len(body)), body)
	})
}

func benchmarkExchange(b *testing.B, play func(w *wire), body []byte) {
	o := openOrigin(b, play)
	up := openUpstream(b, proxying.Options{}, o.url)
	p := &proxying.Proxy{Upstream: up}
	var x proxying.Exchange
	client, reader := new(sink), new(bytes.Reader)
	b.ReportAllocs()
	for b.Loop() {
		x.Reset()
		fill(&x, client)
		if body != nil {
			reader.Reset(body)
			x.Length, x.Body = int64(len(body)), reader
		}
		if p.Serve(&x); x.Err != nil {
			b.Fatal(x.Err)
		}
	}
}

// afterBody returns a script that responds to each request with a body of the
// given length.
func afterBody(length int) func(w *wire) {
	return func(w *wire) {
		buf := make([]byte, 2*length)
		n, body := 0, -1 // bytes of the request, and where its body begins
		for {
			m, err := w.TCPConn.Read(buf[n:])
			if err != nil {
				return
			}
			n += m
			if end := bytes.Index(buf[:n], []byte("\r\n\r\n")); body < 0 && end >= 0 {
				body = end + len("\r\n\r\n")
			}
			if n == body+length {
				n, body = 0, -1
				w.TCPConn.Write([]byte(ok))
			}
		}
	}
}

// TestExchangesAllocateNothing checks that an exchange over a reused connection allocates
// nothing, in either coding.
func TestExchangesAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	for name, answer := range oneKiB {
		t.Run(name, func(t *testing.T) {
			o := openOrigin(t, fixed(answer))
			up := openUpstream(t, proxying.Options{}, o.url)
			told := 0
			p := &proxying.Proxy{Upstream: up, Hook: func(*proxying.Exchange, proxying.Event) { told++ }}
			var x proxying.Exchange
			client := new(sink)
			exchange := func() {
				x.Reset()
				fill(&x, client)
				p.Serve(&x)
			}
			for range 10_000 { // until the server has earned the short reuse delay and enough connections exist
				exchange()
			}
			// AllocsPerRun rounds down and would miss one allocation in two
			// exchanges. A round in which a connection was made, because all
			// others were in their reuse delay, does not count and is repeated.
			// Rounds are short because this happens often on a busy machine.
			const rounds, perRound = 25, 200
			var allocated uint64
			for kept, tries := 0, 0; kept < rounds; tries++ {
				if tries == 100*rounds {
					t.Fatalf("of %d rounds only %d made no connection", tries, kept)
				}
				connections := o.connections()
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range perRound {
					exchange()
				}
				runtime.ReadMemStats(&after)
				if o.connections() == connections {
					allocated += after.Mallocs - before.Mallocs
					kept++
				}
			}
			if x.Err != nil || client.status != 200 || client.bytes != client.heads*1024 || told != 3*client.heads {
				t.Fatalf("the exchanges failed: %v, %+v, %d events", x.Err, client, told)
			}
			const others = 50 // occasional allocations of the runtime
			if allocated > others {
				t.Errorf("%d exchanges allocate %d times", rounds*perRound, allocated)
			}
		})
	}
}
