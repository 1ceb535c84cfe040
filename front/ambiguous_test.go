package front_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/http1/http1test"
)

// A recorder is an upstream that records all bytes and responds to each request
// with 200.
type recorder struct {
	addr string

	mu       sync.Mutex
	bytes    bytes.Buffer // guarded by mu
	accepted int          // guarded by mu
}

func openRecorder(t testing.TB) *recorder {
	r := new(recorder)
	r.addr = rawUpstream(t, func(c *rawConn) {
		r.mu.Lock()
		r.accepted++
		r.mu.Unlock()
		c.r = bufio.NewReader(io.TeeReader(c.TCPConn, r))
		for c.request() != nil {
			c.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	return r
}

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes.Write(p)
}

// take returns the bytes since the last call and the number of new connections.
func (r *recorder) take() (got string, accepted int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, accepted = r.bytes.String(), r.accepted
	r.bytes.Reset()
	r.accepted = 0
	return got, accepted
}

// mayConnect reports whether the front door may have connected to the upstream for an ambiguous message, because it has
// waited in vain for the beginning of the chunked body since began.
func mayConnect(raw string, began time.Time) bool {
	const firstWait = 100 * time.Millisecond // as in package proxying
	return strings.HasPrefix(raw, http1test.Chunked("")) && time.Since(began) >= firstWait
}

// TestAmbiguousRequestsAreRefused sends each message on its own connection and checks
// that it is refused, and that no connection to an upstream was made. The front
// door waits briefly for the beginning of a chunked body. If the mistake is not
// in that part, which happens on a busy machine, it may connect, but it sends
// no complete request.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	parent := t
	for _, c := range http1test.Ambiguous {
		t.Run(c.Name, func(t *testing.T) {
			conn := dial(t, d.addr)
			began := time.Now()
			conn.send(c.Raw)
			conn.refused(c.Status)
			late := mayConnect(c.Raw, began)
			if got, accepted := back.take(); !late && (got != "" || accepted != 0) || late &&
				strings.HasSuffix(got, "0\r\n\r\n") {
				t.Errorf("%d connections were made to the upstream, which got %q", accepted, got)
			}
			if late { // connections may be recorded later
				back = openRecorder(parent)
				d = openDoor(parent, "http://"+back.addr)
			}
		})
	}
}

// TestAmbiguousRequestsInPiecesAreRefused sends the messages byte by byte. The front door
// may connect because of a chunk whose end it has not read, but it sends no
// complete request.
func TestAmbiguousRequestsInPiecesAreRefused(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	for _, c := range http1test.Ambiguous {
		if len(c.Raw) > 1000 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			conn := dial(t, d.addr)
			for i := range len(c.Raw) {
				if _, err := conn.Write([]byte(c.Raw[i : i+1])); err != nil {
					break // refused before its end
				}
			}
			conn.refused(c.Status)
			if got, _ := back.take(); strings.HasSuffix(got, "0\r\n\r\n") {
				t.Errorf("the upstream got %q", got)
			}
		})
	}
}

// TestAmbiguousRequestsAfterAnotherAreRefused sends each message in one write after a
// valid request: one without a body, one with a body and one with a chunked
// body. These are answered, and nothing after them reaches the upstream.
func TestAmbiguousRequestsAfterAnotherAreRefused(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	parent := t
	for _, c := range http1test.Ambiguous {
		t.Run(c.Name, func(t *testing.T) {
			conn := dial(t, d.addr)
			began := time.Now()
			conn.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n" +
				"PUT /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab" +
				"PUT /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\nc\r\n0\r\nX: y\r\n\r\n" + c.Raw)
			for i := range 3 {
				if resp, body := conn.response("PUT"); resp.StatusCode != 200 || body != "ok" {
					t.Fatalf("answer %d is %d, %q", i+1, resp.StatusCode, body)
				}
			}
			conn.refused(c.Status)
			late := mayConnect(c.Raw, began)
			got, _ := back.take()
			before, rest, _ := strings.Cut(got, "\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n")
			if strings.Count(before, " HTTP/1.1\r\n") != 3 || !late && rest != "" || strings.HasSuffix(rest, "0\r\n\r\n") {
				t.Errorf("the upstream got %q", got)
			}
			if late { // bytes may be recorded later
				back = openRecorder(parent)
				d = openDoor(parent, "http://"+back.addr)
			}
		})
	}
}

// refused reads a response with the given status, and the end of the connection
// if it is announced.
func (c *rawConn) refused(status int) {
	c.t.Helper()
	resp, _ := c.response("POST")
	if resp.StatusCode != status {
		c.t.Errorf("answered %d, want %d", resp.StatusCode, status)
	}
	if !resp.Close {
		return
	}
	if rest, err := io.ReadAll(c.r); len(rest) > 0 || err != nil {
		c.t.Errorf("behind the answer %q, %v", rest, err)
	}
}

// TestUnusualRequestsReachTheUpstream sends unambiguous messages and counts the requests at the
// upstream with net/http's parser.
func TestUnusualRequestsReachTheUpstream(t *testing.T) {
	t.Parallel()
	back := openRecorder(t)
	d := openDoor(t, "http://"+back.addr)
	for _, c := range http1test.Unusual {
		t.Run(c.Name, func(t *testing.T) {
			conn := dial(t, d.addr)
			conn.send(c.Raw)
			for range c.Requests {
				resp, _ := conn.response("PUT")
				for resp.StatusCode == 100 {
					resp, _ = conn.response("PUT")
				}
				if resp.StatusCode != 200 {
					t.Errorf("answered %d, want 200", resp.StatusCode)
				}
			}
			got, _ := back.take()
			if n := requestsIn(got); n != c.Requests {
				t.Errorf("the upstream sees %d requests, want %d, in %q", n, c.Requests, got)
			}
		})
	}
}

// requestsIn returns the number of requests in a stream, or -1 if it contains
// anything else.
func requestsIn(stream string) int {
	r := bufio.NewReader(strings.NewReader(stream))
	for n := 0; ; n++ {
		req, err := http.ReadRequest(r)
		if err == io.EOF {
			return n
		}
		if err != nil {
			return -1
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return -1
		}
	}
}
