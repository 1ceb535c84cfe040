package front_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/log/sink"
)

// TestProxiedRequestAllocatesNothing checks that a proxied request, including log and metrics, allocates
// nothing.
func TestProxiedRequestAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	back := rawUpstream(t, answerWithoutAllocating)
	for name, fields := range map[string]string{
		"no id":       "",
		"a UUID":      "X-Request-Id: c9bf9e57-1685-4c89-bafb-ff5af830be8a\r\n",
		"traceparent": "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n",
	} {
		for _, events := range []string{config.EventsAll, config.EventsCompleted} {
			t.Run(name+", "+events, func(t *testing.T) {
				d := discardingDoor(t, "http://"+back, events)
				request := "GET /embed/visualisations/a/b?x=1 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: tester\r\n" +
					"Accept: */*\r\n" + fields + "\r\n"
				if n := mallocsPerRequest(t, d, request); n >= 0.1 {
					t.Errorf("%.2f allocations for a proxied request, want none", n)
				}
			})
		}
	}
}

// TestTLSAllocatesOnlyPerRecord checks that TLS adds only the allocation of crypto/tls for each record that
// it reads: one in the front door, and one in the client.
func TestTLSAllocatesOnlyPerRecord(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	d := openTLSDoor(t, "http://"+rawUpstream(t, answerWithoutAllocating), func(c *config.Config) { c.Log.Events = config.EventsOff })
	conn, _ := d.dialTLS(t, d.client("localhost"))
	request := "GET /embed/visualisations/a/b?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
	if n := mallocsOver(t, conn, request, "xxxx"); n >= 2.1 {
		t.Errorf("%.2f allocations for a proxied request, want 2", n)
	}
}

// TestUploadAllocatesNothingOnALoop checks that an upload allocates nothing on a loop. The driver of
// goroutines allocates timers.
func TestUploadAllocatesNothingOnALoop(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, size := range []int{64 << 10, 100_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			back := "http://" + rawUpstream(t, func(c *rawConn) { answerUploads(c, size) })
			most := 0.1
			if doorConfig(back).Engine == config.EngineGoroutines {
				most = 5
			}
			request := uploadHead("/embed/visualisations/a/b?x=1", size) + strings.Repeat("x", size)
			if n := mallocsPerRequest(t, discardingDoor(t, back, config.EventsAll), request); n >= most {
				t.Errorf("%.2f allocations for an upload of %d bytes, want less than %v", n, size, most)
			}
		})
	}
}

// discardingDoor starts a front door that discards its log, and returns its
// address.
func discardingDoor(t *testing.T, upstream, events string, adjust ...func(*config.Config)) string {
	t.Helper()
	adjust = append(adjust, func(c *config.Config) { c.Log.Events = events })
	d := newDoorOver(t, doorConfig(upstream, adjust...), sink.NewDirect(io.Discard))
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	return d.addr
}

// answerWithoutAllocating responds to requests without a body, from a fixed buffer.
func answerWithoutAllocating(c *rawConn) { answerUploads(c, 0) }

// answerUploads responds to every request on a connection from a fixed buffer. Requests have a
// body of the given size and are not pipelined.
func answerUploads(c *rawConn, size int) {
	answer := append([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1024\r\n"+
		"Server: bare\r\n\r\n"), bytes.Repeat([]byte("x"), 1024)...)
	end := []byte("\r\n\r\n")
	buf := make([]byte, 16<<10+size)
	n := 0
	for {
		m, err := c.TCPConn.Read(buf[n:])
		if err != nil {
			return
		}
		n += m
		if head := bytes.Index(buf[:n], end); head < 0 || n < head+len(end)+size {
			continue
		}
		n = 0
		if _, err := c.TCPConn.Write(answer); err != nil {
			return
		}
	}
}

// mallocsPerRequest sends many requests on a connection and returns the
// allocations of the whole process for each of them.
func mallocsPerRequest(t *testing.T, addr, request string) float64 {
	t.Helper()
	return mallocsUntil(t, addr, request, "xxxx")
}

// mallocsUntil is mallocsPerRequest for responses with the given ending.
func mallocsUntil(t *testing.T, addr, request, ending string) float64 {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return mallocsOver(t, conn, request, ending)
}

// mallocsOver is mallocsUntil for a connection.
func mallocsOver(t *testing.T, conn net.Conn, request, ending string) float64 {
	t.Helper()
	line, buf := []byte(request), make([]byte, 16<<10)
	send := func(n int) {
		for range n {
			if _, err := conn.Write(line); err != nil {
				t.Fatal(err)
			}
			for end := []byte(ending); ; {
				m, err := conn.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.HasSuffix(buf[:m], end) {
					break
				}
			}
		}
	}
	return mallocsWhile(send)
}

// mallocsWhile returns the allocations of the whole process for each of the requests that send
// sends.
func mallocsWhile(send func(n int)) float64 {
	send(2000) // fills the pools, and the idle upstream connections
	// The cheapest of several short rounds counts. In others, on a busy
	// machine, a connection is made because all idle ones were used too
	// recently.
	const rounds, requests = 20, 200
	least := math.Inf(1)
	for range rounds {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		send(requests)
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs)/requests)
	}
	return least
}

// TestHTTP2RequestAllocatesNothing is TestProxiedRequestAllocatesNothing over HTTP/2, with ten streams at a time whose
// fields are in the dynamic table.
func TestHTTP2RequestAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	back := "http://" + rawUpstream(t, answerWithoutAllocating)
	most := 0.1
	if doorConfig(back).Engine == config.EngineGoroutines {
		most = 5 // a goroutine for each stream, and timers
	}
	h2 := dialHTTP2(t, discardingDoor(t, back, config.EventsAll))
	var fields bytes.Buffer
	enc := hpack.NewEncoder(&fields)
	encode := func() []byte {
		fields.Reset()
		for i := 0; i < len(getFields); i += 2 {
			enc.WriteField(hpack.HeaderField{Name: getFields[i], Value: getFields[i+1]})
		}
		enc.WriteField(hpack.HeaderField{Name: "user-agent", Value: "tester"})
		return fields.Bytes()
	}
	var out bytes.Buffer
	framer := http2.NewFramer(&out, nil)
	h2.framer.WriteWindowUpdate(0, 1<<30)
	buf := make([]byte, 64<<10)
	const streams, length = 10, 1024
	send := func(n int) {
		for range n / streams {
			out.Reset()
			for range streams {
				h2.stream = h2.stream + 1 + h2.stream%2
				framer.WriteHeaders(http2.HeadersFrameParam{StreamID: h2.stream, BlockFragment: encode(), EndHeaders: true,
					EndStream: true})
			}
			if _, err := h2.conn.TCPConn.Write(out.Bytes()); err != nil {
				t.Fatal(err)
			}
			for got := 0; got < streams*length; {
				m, err := h2.conn.TCPConn.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				got += bytes.Count(buf[:m], []byte{'x'})
			}
		}
	}
	if n := mallocsWhile(send); n >= most {
		t.Errorf("%.2f allocations for a request over HTTP/2, want less than %v", n, most)
	}
}

// TestHTTP2UpstreamAllocationsAreBounded bounds the allocations for a request to a server of HTTP/2: the stream
// and the fields of the response.
func TestHTTP2UpstreamAllocationsAreBounded(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	back := "http://" + rawUpstream(t, answerFramesWithoutAllocating)
	const most = 7
	request := "GET /embed/visualisations/a/b?x=1 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: tester\r\n\r\n"
	if n := mallocsPerRequest(t, discardingDoor(t, back, config.EventsAll, withHTTP2), request); n >= most {
		t.Errorf("%.2f allocations for a request to a server of HTTP/2, want less than %v", n, most)
	}
}

// answerFramesWithoutAllocating responds to each HEADERS frame with 1,024 bytes.
func answerFramesWithoutAllocating(c *rawConn) {
	const settings, headers = 4, 1
	head := append([]byte{0, 0, 8, headers, 4, 0, 0, 0, 0, 0x88, 0x0f, 0x0d, 4}, "1024"...) // :status and content-length
	answer := append(append(head, 0, 4, 0, 0, 1, 0, 0, 0, 0), bytes.Repeat([]byte("x"), 1024)...)
	c.r.Discard(len(http2.ClientPreface))
	c.Write([]byte{0, 0, 0, settings, 0, 0, 0, 0, 0})
	var frame [9]byte
	for {
		if _, err := io.ReadFull(c.r, frame[:]); err != nil {
			return
		}
		if _, err := c.r.Discard(int(frame[0])<<16 | int(frame[1])<<8 | int(frame[2])); err != nil {
			return
		}
		if frame[3] != headers {
			continue
		}
		copy(answer[5:9], frame[5:9])
		copy(answer[len(head)+5:], frame[5:9])
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

// TestUntracedRequestAllocatesNothing is TestProxiedRequestAllocatesNothing with traces that select no request.
func TestUntracedRequestAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	d := discardingDoor(t, "http://"+rawUpstream(t, answerWithoutAllocating), config.EventsAll, func(c *config.Config) {
		c.Traces = config.Traces{To: "otlp+http://127.0.0.1:1"}
	})
	for _, fields := range []string{"", "traceparent: " + sampledParent + "\r\n"} {
		request := "GET /embed/visualisations/a/b?x=1 HTTP/1.1\r\nHost: www.example.com\r\n" + fields + "\r\n"
		if n := mallocsPerRequest(t, d, request); n >= 0.1 {
			t.Errorf("%.2f allocations for a request with %q, want none", n, fields)
		}
	}
}
