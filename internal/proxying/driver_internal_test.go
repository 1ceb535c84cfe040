package proxying

import (
	"context"
	"errors"
	"io"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying/internal/pool"
	"github.com/weirhq/weir/internal/transport"
)

// A replay is a driver whose connections respond to each request with the same
// bytes, without a kernel.
type replay struct {
	transport.Driver // for the methods that the test does not use
	index            int
	response         []byte
	refuse           int // attempts to connect that fail
	dials            int
	blocks           int // calls of Block
}

func (r *replay) Index() int { return r.index }

func (r *replay) Block(f func()) {
	r.blocks++
	f()
}

func (r *replay) Dial(context.Context, string) (transport.Conn, error) {
	if r.dials++; r.dials <= r.refuse {
		return nil, errors.New("refused by the test")
	}
	return &replayConn{replay: r}, nil
}

type replayConn struct {
	*replay
	left []byte // of the response
}

func (c *replayConn) ReadInto(s transport.Space) (int, error) { return c.Read(s.Space()) }
func (c *replayConn) Read(p []byte) (int, error) {
	n := copy(p, c.left)
	if c.left = c.left[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (c *replayConn) WriteReadInto(p []byte, s transport.Space) (written, n int, writeErr, readErr error) {
	c.left = c.response
	n, err := c.ReadInto(s)
	return len(p), n, nil, err
}

func (c *replayConn) TryRead(p []byte) (n int, ok bool, err error) {
	return copy(p, c.left), len(c.left) > 0, nil
}
func (c *replayConn) Quiet() (quiet, surplus bool)     { return len(c.left) == 0, len(c.left) > 0 }
func (c *replayConn) Write(p []byte) (int, error)      { return len(p), nil }
func (c *replayConn) TryWrite(p []byte) (int, error)   { return len(p), nil }
func (c *replayConn) Room() (int, error)               { return math.MaxInt, nil }
func (c *replayConn) SetDeadline(time.Time) error      { return nil }
func (c *replayConn) SetReadDeadline(time.Time) error  { return nil }
func (c *replayConn) SetWriteDeadline(time.Time) error { return nil }
func (c *replayConn) CloseWrite() error                { return nil }
func (c *replayConn) Close() error                     { return nil }
func (c *replayConn) Abort() error                     { return nil }
func (c *replayConn) Remote() netip.AddrPort           { return netip.AddrPort{} }

// discard is a client that discards its response.
type discard struct{ waitedFor }

func (*discard) Room() (int, error)          { return math.MaxInt, nil }
func (*discard) Flush() error                { return nil }
func (*discard) Write(p []byte) (int, error) { return len(p), nil }

const typicalResponse = "HTTP/1.1 200 OK\r\nServer: test\r\nContent-Type: text/plain\r\n" +
	"Date: Mon, 02 Jan 2006 15:04:05 GMT\r\nX-Of-Its-Own: 1\r\nContent-Length: 2\r\n\r\nok"

// replayed sends a request through a driver.
func replayed(t testing.TB, x *Exchange, client Client, d *replay, p *Proxy) {
	x.Reset()
	x.Method, x.Target, x.Host, x.Scheme, x.Driver = "GET", "/index.html?a=b", "www.example.com", "http", d
	x.Peer = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	x.Header = append(x.Header, Field{"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0)"},
		Field{"Accept", "text/html,*/*;q=0.8"}, Field{"Accept-Encoding", "gzip, deflate, br"},
		Field{"Connection", "keep-alive"}, Field{"Cookie", "session=0123456789"})
	x.Client = client
	if p.Serve(x); x.Err != nil || x.Status != 200 || x.BodySent != 2 {
		t.Fatalf("status %d, %d bytes of the body, %v", x.Status, x.BodySent, x.Err)
	}
}

// rest ends the reuse delay of the unused connections of a driver: each is taken as if a second had
// passed, and put back as if it had been used a second ago. It returns their number.
func rest(up *Upstream, d *replay) (n int) {
	p, now := &up.Servers()[0].conns, time.Now()
	var all [8]*pool.Conn
	for n < len(all) {
		if all[n] = p.Take(d, now.Add(time.Second), false); all[n] == nil {
			break
		}
		n++
	}
	for _, c := range all[:n] {
		p.Put(c, now.Add(-time.Second), false)
	}
	return n
}

// oneServer is a server for a driver that replays a response.
var oneServer = []Endpoint{{URL: "http://127.0.0.1:1"}}

// TestDriversUseTheirOwnConnections checks that each driver makes connections of its own and uses only
// those, and that an exchange that waits for a connection waits through its driver.
func TestDriversUseTheirOwnConnections(t *testing.T) {
	t.Parallel()
	limit := NewConns(3)
	up, err := NewUpstream("test", Options{Servers: oneServer, ConnectRetry: time.Minute, Conns: limit})
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Upstream: up}
	drivers := []*replay{{index: 2, refuse: 2}, {index: 1}, {index: 3}}
	var x Exchange
	for range 3 {
		for _, d := range drivers {
			d.response = []byte(typicalResponse)
			replayed(t, &x, new(discard), d, p)
			if n := rest(up, d); n != 1 || d.dials != d.refuse+1 {
				t.Errorf("driver %d has made %d attempts to connect and has %d connections", d.index, d.dials, n)
			}
		}
	}
	if drivers[0].blocks < 2 || drivers[1].blocks > 0 {
		t.Errorf("%d and %d waits through the driver, want at least 2, and 0", drivers[0].blocks, drivers[1].blocks)
	}
	for want := 3; want > 0; want-- {
		if open, _ := limit.Stats(); !limit.CloseUnused() || open != want {
			t.Errorf("%d connections were open, want %d", open, want)
		}
	}
	replayed(t, &x, new(discard), drivers[1], p)
	up.Close()
	if open, _ := limit.Stats(); open != 0 {
		t.Errorf("%d connections after Close", open)
	}
	replayed(t, &x, new(discard), &replay{index: 7, response: []byte(typicalResponse)}, p)
	if open, _ := limit.Stats(); open != 0 {
		t.Errorf("%d connections are kept after Close", open)
	}
}

// BenchmarkExchangeWithoutKernel measures the code of an exchange, without the
// connections.
func BenchmarkExchangeWithoutKernel(b *testing.B) {
	up, err := NewUpstream("test", Options{Servers: oneServer})
	if err != nil {
		b.Fatal(err)
	}
	d := &replay{index: 1, response: []byte(typicalResponse)}
	p, client := &Proxy{Upstream: up}, new(discard)
	var x Exchange
	b.ReportAllocs()
	for b.Loop() {
		replayed(b, &x, client, d, p)
		rest(up, d)
	}
}
