package proxying_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// A slowClient takes a while to read the first part of a body. It reports when
// it has no more to read.
type slowClient struct {
	sink
	x       *proxying.Exchange
	atHead  time.Duration // x.Waited when the head arrived
	reading time.Duration // spent in Write
	empty   chan struct{} // receives a value from Flush
}

func (c *slowClient) Head(status int, fields []proxying.Field, length int64) error {
	c.atHead = c.x.Waited
	return c.sink.Head(status, fields, length)
}

func (c *slowClient) Write(p []byte) (int, error) {
	began := time.Now()
	<-time.After(20 * time.Millisecond)
	c.reading += time.Since(began)
	return c.sink.Write(p)
}

func (c *slowClient) Flush() error {
	select {
	case c.empty <- struct{}{}:
	default:
	}
	return nil
}

// TestWaitedCountsOnlyTheServer checks how the time of an exchange is divided between server and
// client.
func TestWaitedCountsOnlyTheServer(t *testing.T) {
	t.Parallel()
	var x proxying.Exchange
	client := &slowClient{x: &x, empty: make(chan struct{}, 1)}
	thought := make(chan time.Duration, 1)
	origin := openOrigin(t, func(w *wire) {
		w.readHead()
		began := time.Now()
		<-time.After(20 * time.Millisecond)
		thought <- time.Since(began)
		w.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234")
		<-client.empty
		w.say("56789")
	})
	p := &proxying.Proxy{Upstream: upstreamOf(t, origin)}
	fill(&x, client)
	began := time.Now()
	p.Serve(&x)
	took := time.Since(began)
	if x.Err != nil || client.bytes != 10 {
		t.Fatalf("%d bytes of 10: %v", client.bytes, x.Err)
	}
	if thinking := <-thought; client.atHead < thinking {
		t.Errorf("the server took %v until the head, and %v were counted", thinking, client.atHead)
	}
	if x.Waited <= client.atHead {
		t.Errorf("the wait for the second part of the body was not counted: %v at the head, %v at the end",
			client.atHead, x.Waited)
	}
	if x.Waited > took-client.reading {
		t.Errorf("%v of %v were counted, although the client took %v", x.Waited, took, client.reading)
	}
}

// TestWaitedCountsWithoutResponse checks the time of exchanges without a response.
func TestWaitedCountsWithoutResponse(t *testing.T) {
	t.Parallel()
	const timeout = time.Second // also of the connection, on a busy machine
	mute := openOrigin(t, func(w *wire) { w.readHead(); w.readHead() })
	closing := openOrigin(t, func(w *wire) { w.readHead() })
	gone := openOrigin(t, func(*wire) {})
	gone.Listener.Close()
	for _, c := range []struct {
		origin *origin
		kind   proxying.Kind
	}{{mute, proxying.Timeout}, {closing, proxying.Closed}, {gone, proxying.Refused}} {
		x := newExchange()
		x.Timeout = patience
		if c.kind == proxying.Timeout {
			x.Timeout = timeout
		}
		p := &proxying.Proxy{Upstream: upstreamOf(t, c.origin)}
		p.Serve(x)
		if kind := x.Err.(*proxying.Error).Kind; kind != c.kind {
			t.Errorf("the exchange failed with %s, want %s", kind, c.kind)
		}
		if waited := x.Waited; (c.kind == proxying.Timeout) != (waited >= timeout) ||
			c.kind != proxying.Timeout && waited != 0 {
			t.Errorf("%s: the server took %v", c.kind, waited)
		}
	}
}
