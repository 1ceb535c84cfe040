package front_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
)

// uploadSizes are the lengths of bodies around the ends of buffers and blocks.
var uploadSizes = []int{1, 4000, 16<<10 - 1, 16 << 10, 16<<10 + 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 72 << 10,
	128 << 10, 300_001, 3 << 20}

// uploadHead is the head of an upload. If the size is negative, the body is in chunks.
func uploadHead(path string, size int) string {
	framing := fmt.Sprintf("Content-Length: %d", size)
	if size < 0 {
		framing = "Transfer-Encoding: chunked"
	}
	return "POST " + path + " HTTP/1.1\r\nHost: a\r\n" + framing + "\r\n\r\n"
}

// TestUploadsArriveUnchanged sends bodies of all sizes on several connections, in pieces of random sizes
// and with pauses. The upstream must receive the same bytes, and each request must have one
// event with their number. Other requests follow on the same connections.
func TestUploadsArriveUnchanged(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%x %v", sha256.Sum256(body), err)
	})
	d := openDoor(t, back.URL)
	const clients = 8
	var sending sync.WaitGroup
	for n := range uint64(clients) {
		c := dial(t, d.addr)
		random := rand.New(rand.NewPCG(n, 0))
		sending.Go(func() {
			for i, size := range uploadSizes {
				body := make([]byte, size)
				for j := range body {
					body[j] = byte(random.Uint32())
				}
				stream := bytes.NewBufferString(uploadHead(fmt.Sprintf("/%d/%d", n, i), size))
				stream.Write(body)
				for most := 1 << (10 + random.IntN(13)); stream.Len() > 0; {
					c.Write(stream.Next(1 + random.IntN(most))) // an error appears in the response
					if random.IntN(8) == 0 {
						time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
					}
				}
				want := fmt.Sprintf("%x %v", sha256.Sum256(body), error(nil))
				if resp, got := c.response("POST"); resp.StatusCode != 200 || got != want {
					t.Errorf("%d bytes arrived as %s, %q", size, resp.Status, got)
				}
			}
			c.send(fmt.Sprintf("GET /%d/last HTTP/1.1\r\nHost: a\r\n\r\n", n))
			c.response("GET")
		})
	}
	sending.Wait()
	d.close()
	lengths := make(map[string]int64)
	for _, e := range d.log.events(t) {
		if e.Event == "http request completed" {
			if _, ok := lengths[e.HTTP.Path]; ok || e.HTTP.StatusCode != 200 || e.Data["failure"] != nil {
				t.Errorf("a second event or a failure: %s", e.raw)
			}
			lengths[e.HTTP.Path] = e.HTTP.RequestContentLength
		}
	}
	if want := clients * (len(uploadSizes) + 1); len(lengths) != want {
		t.Errorf("%d requests have events, want %d", len(lengths), want)
	}
	for n := range clients {
		for i, size := range uploadSizes {
			if path := fmt.Sprintf("/%d/%d", n, i); lengths[path] != int64(size) {
				t.Errorf("the event of %s has %d bytes, want %d", path, lengths[path], size)
			}
		}
	}
}

// TestBodyAndResponsePassInDialogue sends bodies whose client waits for a part of the response before it sends
// the next part of the body.
func TestBodyAndResponsePassInDialogue(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		c.EnableFullDuplex()
		c.Flush()
		buf := make([]byte, 8<<10)
		for {
			n, err := r.Body.Read(buf)
			w.Write(buf[:n])
			if c.Flush(); err != nil {
				return
			}
		}
	})
	d := openDoor(t, back.URL)
	parts := []int{1, 511, 512, 513, 4096, 64 << 10, 64<<10 + 1, 1, 200_000}
	for _, chunked := range []bool{false, true} {
		for first := range parts {
			t.Run(fmt.Sprintf("%d, chunked %v", parts[first], chunked), func(t *testing.T) {
				t.Parallel()
				size := 0
				for _, n := range parts[first:] {
					size += n
				}
				if chunked {
					size = -1
				} else if size <= 16<<10 {
					t.Fatal("a short body is sent at once")
				}
				c := dial(t, d.addr)
				c.send(uploadHead("/", size))
				var body io.Reader
				for _, n := range parts[first:] {
					part := strings.Repeat("p", n)
					if chunked {
						part = fmt.Sprintf("%x\r\n%s\r\n", n, part)
					}
					c.send(part)
					if body == nil {
						resp, err := http.ReadResponse(c.r, nil)
						if err != nil {
							t.Fatal(err)
						}
						defer resp.Body.Close()
						body = resp.Body
					}
					if m, err := io.CopyN(io.Discard, body, int64(n)); err != nil {
						t.Fatalf("%d bytes of %d came back, %v", m, n, err)
					}
				}
				if chunked {
					c.send("0\r\n\r\n")
				}
				if rest, err := io.ReadAll(body); len(rest) > 0 || err != nil {
					t.Errorf("after the response: %d bytes, %v", len(rest), err)
				}
			})
		}
	}
}

// TestUploadGetsAnEarlyResponse sends bodies to an upstream that responds after the head, while
// the client sends all of its body before it reads.
func TestUploadGetsAnEarlyResponse(t *testing.T) {
	t.Parallel()
	back := rawUpstream(t, func(c *rawConn) {
		if _, err := http.ReadRequest(c.r); err != nil {
			return
		}
		c.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge")
		c.CloseWrite()
		io.Copy(io.Discard, c.r)
	})
	d := openDoor(t, "http://"+back)
	for i := range 30 {
		size := []int{20_000, 64 << 10, 4 << 20}[i%3]
		c := dial(t, d.addr)
		c.send(uploadHead("/", size) + strings.Repeat("x", size))
		if resp, body := c.response("POST"); resp.StatusCode != 413 || body != "large" {
			t.Errorf("%d bytes: %s, %q", size, resp.Status, body)
		}
	}
}

// TestStalledUpstreamTimesOutTheUpload sends bodies to an upstream that reads only the head. The
// timeout of the route ends the request, and the client is not blamed.
func TestStalledUpstreamTimesOutTheUpload(t *testing.T) {
	t.Parallel()
	stalled := newGate(t)
	back := rawUpstream(t, func(c *rawConn) {
		c.SetReadBuffer(4 << 10)
		http.ReadRequest(c.r)
		<-stalled.ch
	})
	t.Cleanup(stalled.open) // before the upstream is awaited
	d := openDoor(t, "http://"+back, func(c *config.Config) { c.Routes[0].Timeout = 500 * time.Millisecond })
	for _, size := range []int{20_000, 64 << 10, 32 << 20} { // the last one is more than sockets hold
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			path := fmt.Sprintf("/%d", size)
			c := dial(t, d.addr)
			var sending sync.WaitGroup
			sending.Go(func() { io.WriteString(c, uploadHead(path, size)+strings.Repeat("x", size)) })
			if resp, _ := c.response("POST"); resp.StatusCode != 504 {
				t.Errorf("%s, want 504", resp.Status)
			}
			if e := d.completed(t, path); e.Data["failure"] != "timeout" {
				t.Errorf("the event is %s", e.raw)
			}
			c.Close()
			sending.Wait()
		})
	}
}

// TestResetDuringUploadEndsTheRequest resets a connection amid a body: that of the client, or that of the
// upstream.
func TestResetDuringUploadEndsTheRequest(t *testing.T) {
	t.Parallel()
	received, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	back := rawUpstream(t, func(c *rawConn) {
		r, err := http.ReadRequest(c.r)
		if err != nil {
			return
		}
		io.CopyN(io.Discard, r.Body, 30_000)
		if r.URL.Path == "/upstream" {
			c.SetLinger(0)
			return
		}
		received <- struct{}{}
		io.Copy(io.Discard, r.Body)
		ended <- struct{}{}
	})
	d := openDoor(t, "http://"+back)
	for range 5 {
		c := dial(t, d.addr)
		c.send(uploadHead("/client", 1<<20) + strings.Repeat("x", 50_000))
		<-received
		c.SetLinger(0)
		c.Close()
		<-ended // the upstream gets no complete body, or Copy would block in the next one
		if e := d.completed(t, "/client"); e.Data["failure"] != "client_gone" || e.HTTP.StatusCode != 499 {
			t.Errorf("the event is %s", e.raw)
		}
		c = dial(t, d.addr)
		c.send(uploadHead("/upstream", 1<<20) + strings.Repeat("x", 50_000))
		if resp, _ := c.response("POST"); resp.StatusCode != 502 {
			t.Errorf("%s, want 502", resp.Status)
		}
		if e := d.completed(t, "/upstream"); e.Data["failure"] != "reset" {
			t.Errorf("the event is %s", e.raw)
		}
	}
}

// TestHalfClosedUploadIsServed has a client that closes its side of the connection after a body
// that the front door does not read for seconds, because the request waits for its turn.
func TestHalfClosedUploadIsServed(t *testing.T) {
	t.Parallel()
	const pause, size = 2500 * time.Millisecond, 50_000
	begun := make(chan struct{}, 1)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			begun <- struct{}{}
			time.Sleep(pause)
		}
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n)
	})
	d := openDoor(t, back.URL, limited(func(l *config.Limits) {
		l.InFlight, l.Queue = 1, config.Queue{Length: 1, Wait: testTimeout}
	}))
	first, second := dial(t, d.addr), dial(t, d.addr)
	first.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	<-begun
	second.send(uploadHead("/", size) + strings.Repeat("x", size))
	second.CloseWrite()
	if resp, body := second.response("POST"); resp.StatusCode != 200 || body != fmt.Sprint(size) {
		t.Errorf("%s, %q", resp.Status, body)
	}
}

// A client that pauses the body of its request is not slow once the response has begun: it may wait for the messages of
// the server.
func TestQuietClientOfAStreamIsNotCut(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		w.WriteHeader(http.StatusOK)
		for buf := make([]byte, 1); ; {
			http.NewResponseController(w).Flush()
			if _, err := r.Body.Read(buf); err != nil {
				return
			}
			w.Write(buf)
		}
	})
	const grace = 3 * time.Second
	d := openDoor(t, back.URL, limited(func(l *config.Limits) { l.UploadRate, l.ReadTimeout = 1000, grace }))
	for name, client := range map[string]*http.Client{"HTTP/1": httpClient(t), "HTTP/2": h2cClient(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, send := io.Pipe()
			defer send.Close()
			req, err := http.NewRequestWithContext(t.Context(), "POST", d.url("/"), body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			time.Sleep(2 * grace) // the client is quiet
			echo := make([]byte, 1)
			if _, err := io.WriteString(send, "x"); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(resp.Body, echo); err != nil || string(echo) != "x" {
				t.Errorf("after a pause got %q, %v", echo, err)
			}
		})
	}
}
