package front_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// slowUpstream responds once the gate is open. It echoes bodies, and switches
// protocols to an echo of every byte.
func slowUpstream(t *testing.T, g *gate) string {
	return upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			echoTunnel(t, w)
			return
		}
		body, _ := io.ReadAll(r.Body)
		select {
		case <-g.ch:
		case <-r.Context().Done():
		}
		w.Write(append([]byte("slow "), body...))
	}).URL
}

// echoTunnel switches protocols, and echoes every byte.
func echoTunnel(t *testing.T, w http.ResponseWriter) {
	nc, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer nc.Close()
	io.WriteString(nc, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	io.Copy(nc, rw)
}

// openTunnel opens a tunnel through the front door and checks that it works.
func openTunnel(t *testing.T, d *testDoor) *rawConn {
	t.Helper()
	c := dial(t, d.addr)
	c.send("GET /tunnel HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatalf("upgrade: %v, %v", resp, err)
	}
	c.echo("hello")
	return c
}

// echo sends s and waits until it is returned.
func (c *rawConn) echo(s string) {
	c.t.Helper()
	c.send(s)
	got := make([]byte, len(s))
	if _, err := io.ReadFull(c.r, got); err != nil || string(got) != s {
		c.t.Fatalf("%q came back as %q, %v", s, got, err)
	}
}

// TestDrainFinishesRequestsInFlight stops a front door with all kinds of requests in flight.
func TestDrainFinishesRequestsInFlight(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	d := openDoor(t, slowUpstream(t, g))
	admin := "http://" + d.AdminAddr().String()
	if resp, _ := get(t, httpClient(t), admin+"/readyz"); resp.StatusCode != 200 {
		t.Errorf("/readyz: %d before", resp.StatusCode)
	}
	const slow = 20
	h1 := make([]*rawConn, slow)
	for i := range h1 {
		h1[i] = dial(t, d.addr)
		h1[i].send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
	}
	h2 := dialHTTP2(t, d.addr)
	stream := h2.begin(true, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/slow")
	tunnel := openTunnel(t, d)
	upload := dial(t, d.addr)
	upload.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 50000))
	idle := dial(t, d.addr)
	idle.send("GET /.. HTTP/1.1\r\nHost: a\r\n\r\n")
	idle.response("GET")
	testkit.AwaitEqual(t, "all in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, slow+3)

	d.drain()
	testkit.Await(t, "not ready", func() bool {
		resp, _ := get(t, httpClient(t), admin+"/readyz")
		return resp.StatusCode == 503
	})
	if n, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle connection: %d bytes, %v; want it closed", n, err)
	}
	testkit.AwaitNoListener(t, d.addr)
	select {
	case err := <-d.served:
		t.Fatalf("Serve has returned %v with requests in flight", err)
	default:
	}
	tunnel.echo("still here")
	upload.send(strings.Repeat("x", 50000))
	g.open()
	for i, c := range append(h1, upload) {
		resp, body := c.response("GET")
		if resp.StatusCode != 200 || !strings.HasPrefix(body, "slow ") || !resp.Close {
			t.Errorf("request %d: %d, %.10q, Connection: close %v", i, resp.StatusCode, body, resp.Close)
		}
		if i == slow && len(body) != len("slow ")+100000 {
			t.Errorf("the upload was echoed with %d bytes", len(body))
		}
	}
	if status, whole := h2.finish(stream); status != 200 || !whole {
		t.Errorf("over HTTP/2: %d, whole %v", status, whole)
	}
	tunnel.echo("and now goodbye")
	tunnel.Close()
	if err := d.close(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	completed := 0
	for _, e := range d.log.events(t) {
		if e.Event == "http request completed" {
			completed++
			if e.Severity != 3 {
				t.Errorf("not well: %s", e.raw)
			}
		}
	}
	if completed != slow+4 {
		t.Errorf("%d completed events when Serve returns, want %d", completed, slow+4)
	}
}

// TestDrainDeadlineCutsRequests stops a front door whose requests in flight do not end.
func TestDrainDeadlineCutsRequests(t *testing.T) {
	t.Parallel()
	for _, drain := range []time.Duration{0, 50 * time.Millisecond} {
		t.Run(drain.String(), func(t *testing.T) {
			d := openDoor(t, slowUpstream(t, newGate(t)), func(c *config.Config) { c.Drain.Timeout = drain })
			h1 := dial(t, d.addr)
			h1.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
			upload := dial(t, d.addr)
			upload.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 50000))
			h2 := dialHTTP2(t, d.addr)
			stream := h2.begin(true, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/slow")
			tunnel := openTunnel(t, d)
			testkit.AwaitEqual(t, "all in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 4)

			err := d.close()
			if want := fmt.Sprintf("4 requests were cut after %v", drain); err == nil || err.Error() != want {
				t.Errorf("Serve: %v, want %s", err, want)
			}
			if status, _ := h2.finish(stream); status != 0 {
				t.Errorf("over HTTP/2: %d", status)
			}
			for name, c := range map[string]*rawConn{"GET": h1, "upload": upload, "tunnel": tunnel} {
				if n, err := c.r.Read(make([]byte, 1)); err == nil {
					t.Errorf("%s: %d bytes instead of an end", name, n)
				}
			}
			cut := 0
			for _, e := range d.log.events(t) {
				if e.Event == "http request completed" {
					cut++
				}
				if strings.Contains(e.raw, "client_gone") {
					t.Errorf("the door's own cut is put down to the client: %s", e.raw)
				}
			}
			if cut != 4 {
				t.Errorf("%d of 4 requests have a completed event when Serve returns", cut)
			}
		})
	}
}

// TestDrainServesTheAcceptQueue stops a front door with connections in the kernel's accept
// queue.
func TestDrainServesTheAcceptQueue(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := newDoor(t, back.URL)
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.addr = d.Addrs()[0].String()
	conns := make([]*rawConn, 50)
	for i := range conns {
		conns[i] = dial(t, d.addr)
		conns[i].send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	}
	silent := dial(t, d.addr)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := d.Serve(ctx); err != nil {
		t.Errorf("Serve: %v", err)
	}
	for i, c := range conns {
		if resp, _ := c.response("GET"); resp.StatusCode != 200 {
			t.Errorf("connection %d: %d", i, resp.StatusCode)
		}
		// The first response may be sent before the drain begins, without Connection: close.
		if n, err := c.r.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("connection %d: %d bytes, %v; want it closed", i, n, err)
		}
	}
	if n, err := silent.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a silent connection: %d bytes, %v; want it closed", n, err)
	}
}

// TestListenIsAllOrNothing listens on a free address and on one that is in use.
func TestListenIsAllOrNothing(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free := peer.FreeAddress(t)
	for name, adjust := range map[string]func(*config.Config){
		"listen": func(c *config.Config) { c.Listen = []string{free, taken.Addr().String()} },
		"admin":  func(c *config.Config) { c.Listen, c.Admin = []string{free}, taken.Addr().String() },
	} {
		d := newDoor(t, "http://127.0.0.1:1", adjust)
		if err := d.Listen(); err == nil || !strings.HasPrefix(err.Error(), name+": ") ||
			!strings.Contains(err.Error(), taken.Addr().String()) {
			t.Errorf("%s: %v, want an error that names the address", name, err)
		}
		if n := len(d.Addrs()); n != 0 {
			t.Errorf("%s: %d addresses are said to be bound", name, n)
		}
		l, err := net.Listen("tcp", free)
		if err != nil {
			t.Errorf("%s: %v after a Listen that failed", name, err)
			continue
		}
		l.Close()
	}
}
