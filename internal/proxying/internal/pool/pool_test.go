package pool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/internal/transport"
)

// A server accepts connections, and passes them on.
type server struct {
	net.Listener
	accepted chan net.Conn
}

func serve(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{l, make(chan net.Conn, 100)}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.accepted <- c
		}
	}()
	return s
}

func (s *server) pool() *Pool { return &Pool{Addr: s.Addr().String()} }

func dial(t *testing.T, p *Pool) *Conn {
	t.Helper()
	c, err := p.Dial(context.Background(), transport.Goroutines, &Request{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestProvenServerHasShorterDelay puts a connection back and takes it at several times. Only a proven server has the
// shorter delay, and not after a response without a body.
func TestProvenServerHasShorterDelay(t *testing.T) {
	t.Parallel()
	p := serve(t).pool()
	defer p.Close()
	c, now := dial(t, p), time.Now()
	take := func(after time.Duration) *Conn { return p.Take(transport.Goroutines, now.Add(after), false) }
	for range provenAfter {
		p.Put(c, now, false)
		if take(longReuseDelay-1) != nil {
			t.Fatal("the delay of a server that is not proven is shorter")
		}
		if take(longReuseDelay) != c {
			t.Fatal("the connection is not taken after its delay")
		}
	}
	p.Put(c, now, false)
	if take(reuseDelay-1) != nil || take(reuseDelay) != c {
		t.Error("the delay of a proven server is not reuseDelay")
	}
	p.Put(c, now, true)
	if take(longReuseDelay-1) != nil || take(longReuseDelay) != c {
		t.Error("the delay after a response without a body is not longReuseDelay")
	}
}

// TestUnsafeRequestsGetRecentConnections takes a connection for a request that cannot be repeated. It is not taken
// after a second, and after half of the time in which the server has closed another one.
func TestUnsafeRequestsGetRecentConnections(t *testing.T) {
	t.Parallel()
	p := serve(t).pool()
	defer p.Close()
	c, now := dial(t, p), time.Now()
	take := func(after time.Duration, recent bool) *Conn {
		return p.Take(transport.Goroutines, now.Add(after), recent)
	}
	p.Put(c, now, false)
	if take(recentFor+1, true) != nil || take(recentFor, true) != c {
		t.Error("the limit is not recentFor")
	}
	p.Put(c, now, false)
	p.NoteClosed(c, now.Add(400*time.Millisecond))
	if take(201*time.Millisecond, true) != nil || take(200*time.Millisecond, true) != c {
		t.Error("the limit is not half of the time after which the server has closed a connection")
	}
	p.Put(c, now, false)
	if take(idleTimeout+1, false) != nil || take(idleTimeout, false) != c {
		t.Error("the limit of other requests is not idleTimeout")
	}
}

// TestSurplusBytesCloseTheConnection sends bytes that no request has asked for. The connection is closed, and the next
// ones are not kept.
func TestSurplusBytesCloseTheConnection(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.pool()
	defer p.Close()
	c, now := dial(t, p), time.Now()
	(<-s.accepted).Write([]byte("HTTP/1.1 408 Request Timeout\r\n\r\n"))
	testkit.Await(t, "the surplus bytes", func() bool { quiet, _ := c.Quiet(); return !quiet })
	p.Put(c, now, false)
	now = now.Add(longReuseDelay)
	if p.Take(transport.Goroutines, now, false) != nil {
		t.Error("a connection with surplus bytes is used")
	}
	p.Put(dial(t, p), now, false)
	if p.open.Load() != 0 {
		t.Error("a connection is kept after surplus bytes")
	}
	p.Put(dial(t, p), now.Add(surplusFor), false)
	if p.open.Load() != 1 {
		t.Error("a connection is not kept after surplusFor")
	}
}

// TestChangedLinkEndsReuse changes how connections are made. Those that were made before are not used again.
func TestChangedLinkEndsReuse(t *testing.T) {
	t.Parallel()
	p := serve(t).pool()
	defer p.Close()
	before, now := dial(t, p), time.Now()
	used := dial(t, p)
	p.Put(before, now, false)
	p.SetLink(new(Link))
	if p.Put(used, now, false); p.open.Load() != 1 {
		t.Error("a connection of an earlier link is kept")
	}
	if p.Take(transport.Goroutines, now.Add(longReuseDelay), false) != nil || p.open.Load() != 0 {
		t.Error("a connection of an earlier link is used")
	}
}

// TestLimitsCloseUnusedConnections checks that an unused connection, of any pool, is closed for another one that a
// limit does not allow, and that used ones are not.
func TestLimitsCloseUnusedConnections(t *testing.T) {
	t.Parallel()
	limit := NewLimit(2)
	a, b := serve(t).pool(), serve(t).pool()
	a.Share(limit)
	b.Share(limit)
	now := time.Now()
	a.Put(dial(t, a), now, false)
	used := dial(t, a)
	c := dial(t, b)
	if a.open.Load() != 1 || b.open.Load() != 1 {
		t.Errorf("%d and %d connections, want 1 and 1", a.open.Load(), b.open.Load())
	}
	_, err := b.Dial(context.Background(), transport.Goroutines, &Request{})
	if open, max := limit.Stats(); !errors.Is(err, ErrTooMany) || open != 2 || max != 2 {
		t.Errorf("%d of %d connections, and another one: %v", open, max, err)
	}
	limit.SetMax(10)
	b.SetMax(1)
	b.Put(c, now, false)
	if dial(t, b); b.open.Load() != 1 {
		t.Errorf("%d connections to a server, want 1", b.open.Load())
	}
	a.Close()
	a.Put(used, now, false)
	if open, _ := limit.Stats(); open != 1 {
		t.Errorf("%d connections after one pool was closed, want 1", open)
	}
}

// TestConnectionWithoutStreamsIsNotReplaced opens a stream on a connection on which the server allows none: at first, or
// at all. No other connection is made.
func TestConnectionWithoutStreamsIsNotReplaced(t *testing.T) {
	t.Parallel()
	streams := func(n uint32) xhttp2.Setting {
		return xhttp2.Setting{ID: xhttp2.SettingMaxConcurrentStreams, Val: n}
	}
	for _, c := range []struct {
		name string
		play func(nc net.Conn)
		want error
	}{
		{"MAX_CONCURRENT_STREAMS of 0, then of 1", func(nc net.Conn) {
			f := xhttp2.NewFramer(nc, nc)
			f.WriteSettings(streams(0))
			for {
				frame, err := f.ReadFrame()
				if s, ok := frame.(*xhttp2.SettingsFrame); err != nil || ok && s.IsAck() {
					break
				}
			}
			f.WriteSettings(streams(1))
		}, nil},
		{"GOAWAY", func(nc net.Conn) {
			var b bytes.Buffer // otherwise a stream might be opened between the frames
			f := xhttp2.NewFramer(&b, nil)
			f.WriteSettings()
			f.WriteGoAway(0, xhttp2.ErrCodeNo, nil)
			nc.Write(b.Bytes())
		}, http2.ErrClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t)
			p := s.pool()
			defer p.Close()
			p.SetLink(NewLink(nil, true))
			go func() {
				nc := <-s.accepted
				t.Cleanup(func() { nc.Close() })
				io.ReadFull(nc, make([]byte, len(xhttp2.ClientPreface)))
				c.play(nc)
			}()
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			r := Request{Head: func(bool) *http2.Head { return http2.NewHead() }, Ends: true}
			stream, err := p.Dial(ctx, transport.Goroutines, &r)
			if err != c.want {
				t.Errorf("%v, want %v", err, c.want)
			}
			if n := len(s.accepted); n > 0 {
				t.Errorf("%d more connections were made", n)
			}
			if stream != nil {
				stream.Close()
				stream.FreeStream()
			}
		})
	}
}

// A dialling is a call of Dial in progress. It is a task.
type dialling struct {
	p      *Pool
	driver transport.Driver
	ctx    context.Context
	leave  context.CancelFunc // ends ctx
	result chan error
}

func newDialling(p *Pool, driver transport.Driver) *dialling {
	ctx, leave := context.WithTimeout(context.Background(), time.Hour)
	return &dialling{p, driver, ctx, leave, make(chan error, 1)}
}

func (d *dialling) Run() {
	_, err := d.p.Dial(d.ctx, d.driver, &Request{})
	d.result <- err
}

// cancel ends the context, and waits for the end of Dial.
func (d *dialling) cancel(t *testing.T) {
	t.Helper()
	d.leave()
	if err := testkit.Receive(t, "the end of Dial", d.result); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial failed with %v, want the error of its context", err)
	}
}

// TestSharedDialEndsWithItsContext has three exchanges need a connection with HTTP/2 to a server that does not respond.
// One that waits for the connection of another ends with its own context, and continues when the other has ended.
func TestSharedDialEndsWithItsContext(t *testing.T) {
	t.Parallel()
	checkSharedDial(t, transport.Goroutines, func(task transport.Task) { go task.Run() })
}

// checkSharedDial is TestSharedDialEndsWithItsContext with a driver. begin starts a task of it.
func checkSharedDial(t *testing.T, driver transport.Driver, begin func(transport.Task)) {
	p := &Pool{Addr: testkit.SilentAddress(t)}
	p.SetLink(NewLink(nil, true))
	defer p.Close()
	conns := p.drivers.of(driver)
	waiting := func() int { // for the attempt of another exchange; -1 without an attempt
		conns.mu.Lock()
		defer conns.mu.Unlock()
		if conns.connecting == nil {
			return -1
		}
		return len(conns.connecting.waiting)
	}
	var all [3]*dialling
	for i := range all {
		all[i] = newDialling(p, driver)
		defer all[i].leave()
		begin(all[i])
		testkit.AwaitEqual(t, "the number of exchanges that wait", waiting, i)
	}
	all[1].cancel(t)
	all[0].cancel(t)
	testkit.AwaitEqual(t, "the number of exchanges that wait for the last one", waiting, 0)
	all[2].cancel(t)
}

// TestWaitForSettingsEndsWithItsContext ends the context of an exchange whose server accepts the connection, but does
// not speak HTTP/2.
func TestWaitForSettingsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.pool()
	p.SetLink(NewLink(nil, true))
	defer p.Close()
	d := newDialling(p, transport.Goroutines)
	defer d.leave()
	go d.Run()
	c := testkit.Receive(t, "the connection", s.accepted)
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); err != nil { // of the preface
		t.Fatal(err)
	}
	d.cancel(t)
}
