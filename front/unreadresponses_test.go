package front_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// A hoardedServer has /endless, whose body does not end, /unread, which does not read the body of the request, and
// /whole, which reads it and whose own body is longer than a window of HTTP/2.
type hoardedServer struct {
	begun   atomic.Int64 // requests of /endless and /unread
	written atomic.Int64 // bytes of their bodies
	ended   chan struct{}

	controls chan *http.ResponseController // of the first /endless
	gaveUp   chan struct{}                 // the first /endless has ended
}

const wholeBody = 100 << 10

func (s *hoardedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/whole":
		io.Copy(io.Discard, r.Body)
		w.Write(make([]byte, wholeBody))
	case "/unread":
		s.begun.Add(1)
		<-s.ended
	case "/endless":
		s.begun.Add(1)
		select {
		case s.controls <- http.NewResponseController(w):
		default:
		}
		io.Copy(w, countedZeros{&s.written})
		select {
		case s.gaveUp <- struct{}{}:
		default:
		}
	}
}

// awaitStall waits until n messages have begun and none of them goes on for a second: a busy machine loses packets of
// HTTP/3, which are sent again later.
func (s *hoardedServer) awaitStall(t *testing.T, n int) {
	t.Helper()
	deadline := time.Now().Add(testTimeout)
	for before, quiet := int64(-1), 0; quiet < 50; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages have begun, with %d bytes", s.begun.Load(), n, s.written.Load())
		}
		now := s.written.Load()
		if quiet++; now != before || s.begun.Load() < int64(n) {
			quiet = 0
		}
		before = now
	}
}

// Clients that do not read their responses take nothing from the other clients of an upstream: 20 of 20 get theirs.
// Each client has a connection of its own.
func TestUnreadResponsesBlockNoClient(t *testing.T) {
	t.Parallel()
	eachUnread(t, func(t *testing.T, p unreadPath, n int) {
		s, d := p.open(t)
		for range n {
			if p.by == "HTTP/1" {
				hoard(t, d.addr)
				continue
			}
			resp, err := p.client(t, d).Get(p.url(d) + "endless")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { resp.Body.Close() })
		}
		s.awaitStall(t, n)
		serves20(t, d, func() (*http.Response, error) { return p.client(t, d).Get(p.url(d) + "whole") })
	})
}

// Uploads that a server does not read take nothing from other uploads. Over HTTP/2 and 3, all share the connection of
// one client.
func TestUnreadUploadsBlockNoOther(t *testing.T) {
	t.Parallel()
	eachUnread(t, func(t *testing.T, p unreadPath, n int) {
		s, d := p.open(t)
		client := p.client(t, d)
		n = min(n, 80) // HTTP/3 has 100 streams
		for range n {
			ctx, leave := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "POST", p.url(d)+"unread", countedZeros{&s.written})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if resp, err := client.Do(req); err == nil {
					resp.Body.Close()
				}
			}()
			t.Cleanup(func() { leave(); <-done })
		}
		s.awaitStall(t, n)
		serves20(t, d, func() (*http.Response, error) {
			return client.Post(p.url(d)+"whole", "text/plain", strings.NewReader(strings.Repeat("x", wholeBody)))
		})
	})
}

// A server that gives up on a response that its client does not read has not failed.
func TestServerMayGiveUpOnUnreadResponse(t *testing.T) {
	t.Parallel()
	for _, p := range unreadPaths {
		t.Run(p.name(), func(t *testing.T) {
			t.Parallel()
			s, d := p.open(t)
			resp, err := p.client(t, d).Get(p.url(d) + "endless")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			s.awaitStall(t, 1)
			time.Sleep(5 * time.Second) // from a second on, the client has held up the response; a busy machine notices it later
			(<-s.controls).SetWriteDeadline(time.Now())
			<-s.gaveUp
			if _, err := io.Copy(io.Discard, resp.Body); err == nil {
				t.Error("the response is complete")
			}
			e := d.completed(t, "/endless")
			if e.Data["failure"] != "client_slow" || strings.Contains(e.raw, "reading the response") {
				t.Errorf("the event is %s", e.raw)
			}
		})
	}
}

// An unreadPath is a way from a client to a server.
type unreadPath struct{ to, by string }

var unreadPaths = []unreadPath{
	{"HTTP/1", "HTTP/1"}, {"HTTP/1", "HTTP/2"}, {"HTTP/1", "HTTP/3"},
	{"HTTP/2", "HTTP/1"}, {"HTTP/2", "HTTP/2"}, {"HTTP/2", "HTTP/3"},
}

func (p unreadPath) name() string { return "to " + p.to + "/by " + p.by }

// eachUnread runs a test with each path and several numbers of messages that are not read.
func eachUnread(t *testing.T, test func(t *testing.T, p unreadPath, n int)) {
	t.Helper()
	for _, p := range unreadPaths {
		sizes := []int{16}
		switch {
		case os.Getenv("WEIR_LONG") != "":
			sizes = []int{1, 2, 3, 4, 5, 8, 16, 50, 100, 200}
		case p.by == "HTTP/1":
			sizes = []int{50}
		}
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s/%d", p.name(), n), func(t *testing.T) {
				t.Parallel()
				test(t, p, n)
			})
		}
	}
}

// open starts the server and the front door.
func (p unreadPath) open(t *testing.T) (*hoardedServer, *tlsDoor) {
	t.Helper()
	s := &hoardedServer{ended: make(chan struct{}), controls: make(chan *http.ResponseController, 1),
		gaveUp: make(chan struct{}, 1)}
	var d *tlsDoor
	patient := func(c *config.Config) { // a busy machine takes long to stall all messages
		c.Routes[0].Timeout = testTimeout
		c.Limits.ReadTimeout, c.Limits.WriteTimeout = testTimeout, testTimeout
	}
	if p.to == "HTTP/2" {
		d = openHTTP3Door(t, openH2C(t, s.ServeHTTP).URL, withHTTP2, patient)
	} else {
		srv := httptest.NewUnstartedServer(s)
		srv.Listener.Close()
		small := net.ListenConfig{Control: testkit.LikeRemote}
		var err error
		if srv.Listener, err = small.Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		srv.Start()
		t.Cleanup(srv.Close)
		d = openHTTP3Door(t, srv.URL, patient)
	}
	t.Cleanup(func() { close(s.ended) })
	return s, d
}

func (p unreadPath) url(d *tlsDoor) string {
	if p.by == "HTTP/3" {
		return "https://localhost/"
	}
	return d.url("/")
}

// client returns a client with connections of its own.
func (p unreadPath) client(t *testing.T, d *tlsDoor) *http.Client {
	t.Helper()
	switch p.by {
	case "HTTP/2":
		c := h2cClient(t)
		c.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}
		return c
	case "HTTP/3":
		return d.http3Client(t)
	}
	return httpClient(t)
}

// serves20 checks that 20 of 20 requests get their whole responses, and that the log has no failure.
func serves20(t *testing.T, d *tlsDoor, request func() (*http.Response, error)) {
	t.Helper()
	var served atomic.Int64
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() {
			resp, err := request()
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if n, err := io.Copy(io.Discard, resp.Body); err == nil && n == wholeBody {
				served.Add(1)
			}
		})
	}
	if asking.Wait(); served.Load() != 20 {
		t.Errorf("%d of 20 others were served", served.Load())
	}
	for _, e := range d.log.events(t) {
		if strings.Contains(e.raw, `"failure"`) {
			t.Fatalf("the event of a failure: %s", e.raw)
		}
	}
}

// countedZeros is an endless body that counts its bytes.
type countedZeros struct{ sent *atomic.Int64 }

func (b countedZeros) Read(p []byte) (int, error) {
	b.sent.Add(int64(len(p)))
	return len(p), nil
}

// hoard requests /endless with a small receive buffer, and reads nothing.
func hoard(t *testing.T, addr string) {
	t.Helper()
	small := net.Dialer{Control: testkit.LikeRemote}
	nc, err := small.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	if _, err := io.WriteString(nc, "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}
