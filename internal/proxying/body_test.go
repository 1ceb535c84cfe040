package proxying_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/testkit"
)

// TestBodiesArriveComplete sends bodies of all sizes around the ends of buffers, in both
// codings and over both protocols, and checks that they arrive completely.
func TestBodiesArriveComplete(t *testing.T) {
	t.Parallel()
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		w.Header().Set("X-Length", fmt.Sprint(r.ContentLength))
		if r.Header.Get("X-Chunks") == "" {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		}
		w.Write(body)
	}))
	defer back.Close()
	d := openDoor(t, nil, back.URL)
	for _, major := range []int{1, 2} {
		client := d.client(major)
		for _, size := range []int{0, 1, 1000, 16<<10 - 1, 16 << 10, 16<<10 + 1, 32<<10 - 300, 32 << 10,
			100_000, 3 << 20} {
			for _, chunks := range []bool{false, true} {
				sent := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
				var body io.Reader = bytes.NewReader(sent)
				if chunks {
					body = struct{ io.Reader }{body}
				}
				request, err := http.NewRequest("POST", d.URL, body)
				if err != nil {
					t.Fatal(err)
				}
				if chunks {
					request.Header.Set("X-Chunks", "1")
				}
				wantEcho(t, client, request, sent, fmt.Sprintf("HTTP/%d, %d bytes, chunks %v", major, size, chunks))
				if o := d.outcome(); o.err != nil || o.bodySent != int64(size) || o.bodyRead != int64(size) {
					t.Errorf("HTTP/%d, %d bytes, chunks %v: outcome %+v", major, size, chunks, o)
				}
			}
		}
	}
}

func wantEcho(t *testing.T, client *http.Client, request *http.Request, sent []byte, name string) {
	t.Helper()
	resp, err := client.Do(request)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%s: %s, %d bytes came back, %v", name, resp.Status, len(got), err)
	}
}

// pattern is a long body that is not held in memory: pieces of one block of
// noise from varying positions.
type pattern struct {
	left int64
	sum  hash.Hash
}

var noise = func() []byte {
	b := make([]byte, 256<<10)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}()

func (p *pattern) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(int64(len(b)), p.left)], noise[p.left%1009:])
	p.left -= int64(n)
	p.sum.Write(b[:n])
	return n, nil
}

// TestLargeBodiesNeedLittleMemory sends 100 MB in each direction at the same time, and checks
// that memory does not grow with them.
func TestLargeBodiesNeedLittleMemory(t *testing.T) {
	const size = 100 << 20
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.Copy(w, r.Body)
	}))
	defer back.Close()
	d := openDoor(t, nil, back.URL)
	sent := &pattern{left: size, sum: sha256.New()}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	resp, err := d.client(1).Post(d.URL, "application/octet-stream", sent)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := sha256.New()
	var peak uint64
	for n := int64(0); ; {
		m, err := io.CopyN(got, resp.Body, 10<<20)
		n += m
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapInuse)
		if err == io.EOF && n == size {
			break
		}
		if err != nil {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
	if !bytes.Equal(got.Sum(nil), sent.sum.Sum(nil)) {
		t.Error("the response differs from the request")
	}
	const room = 20 << 20
	if peak > before.HeapInuse+room {
		t.Errorf("the heap grew from %d to %d KiB", before.HeapInuse>>10, peak>>10)
	}
}

// TestAnnouncedTrailersPass checks that announced trailers pass in both directions.
func TestAnnouncedTrailersPass(t *testing.T) {
	t.Parallel()
	up, client := capture(t, nil,
		"POST / HTTP/1.1\r\nHost: a\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"+
			"X-Sum: up\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2;ext=\"1\"\r\nok\r\n0\r\n"+
			"X-Sum: down\r\nX-More: 1\r\nConnection: close\r\nContent-Length: 7\r\n\r\n")
	if up.body != "hello" || strings.Join(up.trailers, ";") != "X-Sum: up" || up.get("Trailer") != "X-Sum" {
		t.Errorf("the upstream received %q %q and trailers %q", up.raw, up.body, up.trailers)
	}
	if client.body != "ok" || client.get("Trailer") != "X-Sum" || len(client.trailers) != 2 ||
		!strings.Contains(strings.Join(client.trailers, ";"), "X-Sum: down") {
		t.Errorf("the client got %q %q and trailers %q", client.raw, client.body, client.trailers)
	}
}

// TestUnannouncedTrailersPass checks that trailers without an announcement pass in
// both directions, including those of a short response.
func TestUnannouncedTrailersPass(t *testing.T) {
	t.Parallel()
	up, client := capture(t, nil,
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: up\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: down\r\n\r\n")
	if up.body != "hello" || strings.Join(up.trailers, ";") != "X-Sum: up" {
		t.Errorf("the upstream received %q and trailers %q", up.body, up.trailers)
	}
	if client.body != "ok" || strings.Join(client.trailers, ";") != "X-Sum: down" {
		t.Errorf("the client got %q and trailers %q", client.body, client.trailers)
	}
}

// TestResponsesWithoutBodyKeepTheirFields checks that responses without a body by definition
// keep their fields, and that the next response follows them on the client's
// connection.
func TestResponsesWithoutBodyKeepTheirFields(t *testing.T) {
	t.Parallel()
	tests := []struct{ method, answer, length string }{
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", "1234"},
		{"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ""},
		{"HEAD", "HTTP/1.1 200 OK\r\n\r\n", ""},
		{"GET", "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n", ""},
		{"GET", "HTTP/1.1 304 Not Modified\r\nEtag: \"x\"\r\n\r\n", ""},
		{"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "0"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s %.60q", test.method, test.answer), func(t *testing.T) {
			o := openOrigin(t, answering(test.answer, nil))
			c := openDoor(t, nil, o.url).dial()
			for range 3 {
				c.sayf("%s / HTTP/1.1\r\nHost: a\r\n\r\n", test.method)
				h, err := c.readHead()
				if err != nil {
					t.Fatal(err)
				}
				if h.first != strings.SplitN(test.answer, "\r\n", 2)[0] || h.get("Content-Length") != test.length {
					t.Errorf("the client got %q", h.raw)
				}
			}
			if c.r.Buffered() > 0 {
				t.Error("bytes follow")
			}
		})
	}
}

// TestEventsOfStreamPassImmediately checks that each event of a stream reaches the client before
// the next one is sent.
func TestEventsOfStreamPassImmediately(t *testing.T) {
	t.Parallel()
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n",
	} {
		heard := make(chan struct{})
		o := openOrigin(t, func(w *wire) {
			w.readHead()
			w.say(head)
			<-heard // the head is not delayed either
			for i := range 5 {
				event := fmt.Sprintf("data: %d\n", i)
				if strings.Contains(head, "chunked") {
					event = fmt.Sprintf("%x\r\n%s\r\n", len(event), event)
				}
				w.say(event)
				<-heard
			}
			if strings.Contains(head, "chunked") {
				w.say("0\r\n\r\n")
			}
		})
		t.Cleanup(func() { close(heard) }) // so that the origin does not wait after a failure
		d := openDoor(t, nil, o.url)
		for _, major := range []int{1, 2} {
			resp, err := d.client(major).Get(d.URL)
			if err != nil {
				t.Fatal(err)
			}
			heard <- struct{}{}
			for i := range 5 {
				line := make([]byte, len("data: 0\n"))
				if _, err := io.ReadFull(resp.Body, line); err != nil || string(line) != fmt.Sprintf("data: %d\n", i) {
					t.Fatalf("event %d: %q, %v", i, line, err)
				}
				heard <- struct{}{}
			}
			resp.Body.Close()
		}
	}
}

// TestResponsesMayArriveInPieces checks that the boundary between two reads of a response
// does not matter.
func TestResponsesMayArriveInPieces(t *testing.T) {
	t.Parallel()
	answers := []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello",
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n" +
			"hel\r\n2;x=y\r\nlo\r\n0\r\nX: y\r\n\r\n",
	}
	for _, answer := range answers {
		o := openOrigin(t, func(w *wire) {
			for {
				if _, err := w.readHead(); err != nil {
					return
				}
				for i := range len(answer) {
					w.say(answer[i : i+1]) // a segment of its own: Go sets TCP_NODELAY
				}
			}
		})
		d := openDoor(t, nil, o.url)
		c := d.dial()
		for range 5 {
			c.say("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
			h, err := c.readHead()
			if err != nil {
				t.Fatal(err)
			}
			body := make([]byte, 5)
			if _, err := io.ReadFull(c.r, body); err != nil || string(body) != "hello" ||
				!strings.HasSuffix(h.first, "200 OK") {
				t.Fatalf("the client got %q %q, %v", h.raw, body, err)
			}
			if got := d.outcome(); got.err != nil {
				t.Error(got.err)
			}
			if h.get("Content-Length") == "" {
				c = d.dial() // the response ended with its connection
			}
		}
	}
}

// TestDisconnectEndsUpstreamConnection checks that a disconnecting client soon ends its upstream
// connection: while it waits, while the response arrives, and while it sends.
func TestDisconnectEndsUpstreamConnection(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, request, answer string }{
		{"waiting", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", ""},
		{"amid the answer", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"},
		{"amid its body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
			strings.Repeat("x", 50000), ""},
		{"amid an upgraded conversation", upgradeRequest, switching},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			begun, gone := make(chan struct{}), make(chan struct{})
			o := openOrigin(t, func(w *wire) {
				w.readHead()
				w.say(test.answer)
				close(begun)
				io.Copy(io.Discard, w.r)
				close(gone)
			})
			d := openDoor(t, nil, o.url)
			c := d.dial()
			c.say(test.request)
			testkit.Receive(t, "the begin of the exchange", begun)
			if test.answer != "" {
				c.readHead()
			}
			c.reset()
			testkit.Receive(t, "the end of the request", gone)
			got := d.outcome()
			if !got.upgraded && (got.err == nil || !got.err.ByClient()) {
				t.Errorf("outcome %+v; want the client's doing", got)
			}
		})
	}
}

// TestSlowReaderIsNotTheUpstreamsFault checks that a client may take longer to read a response than
// its upstream may be silent.
func TestSlowReaderIsNotTheUpstreamsFault(t *testing.T) {
	t.Parallel()
	const (
		size    = 64 << 20        // more than the socket buffers hold
		timeout = 3 * time.Second // longer than a busy machine keeps the origin waiting
	)
	block := strings.Repeat("x", 1<<20)
	o := openOrigin(t, func(w *wire) {
		w.readHead()
		w.sayf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
		for range size / len(block) {
			w.say(block)
		}
	})
	d := openDoor(t, func(p *proxying.Proxy) { p.Timeout = timeout }, o.url)
	c := d.dial()
	c.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if _, err := c.readHead(); err != nil {
		t.Fatal(err)
	}
	pause := time.NewTicker(2 * timeout)
	defer pause.Stop()
	n := int64(0)
	for range 2 {
		<-pause.C
		m, err := io.CopyN(io.Discard, c.r, 1<<20)
		n += m
		if err != nil {
			t.Fatalf("after %d bytes: %v; %v", n, err, d.outcome().err)
		}
	}
	m, err := io.CopyN(io.Discard, c.r, size-n)
	if err != nil {
		t.Errorf("after %d bytes: %v; %v", n+m, err, d.outcome().err)
	}
}

// TestPanicOfHookEndsOnlyItsExchange checks that a panic in a Hook ends only its own exchange: it
// leaks no connection and no goroutine (goleak checks), and the next exchange
// works.
func TestPanicOfHookEndsOnlyItsExchange(t *testing.T) {
	t.Parallel()
	for _, event := range []proxying.Event{proxying.Sending, proxying.Done} {
		o := openOrigin(t, answering(ok, nil))
		up := openUpstream(t, proxying.Options{}, o.url)
		var calm atomic.Bool
		p := &proxying.Proxy{Upstream: up, Hook: func(_ *proxying.Exchange, e proxying.Event) {
			if e == event && !calm.Load() {
				panic("hook")
			}
		}}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				if recover() != nil {
					panic(http.ErrAbortHandler)
				}
			}()
			p.ServeHTTP(w, r)
		}))
		d := &door{Server: s, t: t}
		c := d.dial()
		c.say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")
		if event == proxying.Done {
			c.say("0\r\n\r\n")
		}
		if m, err := c.readMessage(); err == nil && event == proxying.Sending {
			t.Errorf("the client got %q", m.raw)
		}
		calm.Store(true)
		if m := d.dial().roundTrip(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); m.body != "ok" {
			t.Errorf("the next client got %q", m.raw)
		}
		s.Close()
		up.Close()
	}
}
