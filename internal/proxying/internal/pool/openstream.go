package pool

import (
	"context"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// A Request is the beginning of a request over HTTP/2.
type Request struct {
	Head           func(overTLS bool) *http2.Head
	Ends, HeadOnly bool // as in http2.Conn.Open
	Recent         bool // only on a connection that is known to work
}

// OpenNow opens a stream on a shared connection of the driver without a wait. It returns nil if there
// is none that has room, if it must be tested first, or with HTTP/1.
func (p *Pool) OpenNow(driver transport.Driver, r *Request) *Conn {
	l := p.link.Load()
	if !l.shared() {
		return nil
	}
	sc := p.drivers.of(driver).findShared(l, !r.Ends)
	if sc == nil {
		return nil
	}
	if now := time.Now(); r.Recent && sc.SilentFor(now) > p.recentLimit(now) {
		return nil
	}
	return sc.open(r)
}

// open opens a stream for a request. It returns nil if there is no room.
func (c *sharedConn) open(r *Request) *Conn {
	used := c.used.Swap(true)
	stream := c.Open(r.Head(c.link.tls != nil), r.Ends, r.HeadOnly)
	if stream == nil {
		return nil
	}
	return &Conn{Stream: stream, driver: c.driver, link: c.link, Used: used}
}

// openStream opens a stream on a shared connection of the driver, and makes the connection if
// there is none that has room. ctx limits this.
func (p *Pool) openStream(ctx context.Context, driver transport.Driver, l *Link, r *Request) (*Conn, error) {
	conns := p.drivers.of(driver)
	for {
		now := time.Now()
		sc, dialled := conns.findShared(l, !r.Ends), false
		if sc == nil {
			var err error
			if sc, err = p.dialShared(ctx, driver, conns, l); err == nil {
				dialled = true
			} else if sc = conns.findShared(l, false); sc == nil {
				return nil, err
			}
		}
		if sc == nil {
			continue // another exchange has made one
		}
		if silent := sc.SilentFor(now); !dialled && r.Recent && silent > p.recentLimit(now) &&
			sc.Ping(pingLimit(ctx)) != nil {
			conns.removeShared(sc) // its exchanges in progress continue
			sc.Retire()
			continue
		}
		c := sc.open(r)
		if dialled && conns.closed() {
			sc.retire()
		}
		if c != nil {
			return c, nil
		}
	}
}

// pingLimit returns how long a PING may take.
func pingLimit(ctx context.Context) time.Duration {
	limit := pingTimeout
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end))
	}
	return limit
}

// dialShared makes a connection. If another exchange is doing so, it waits for that instead, and
// returns neither a connection nor an error. After the server was closed, the connection is for one stream: the caller
// retires it, but not before it has opened the stream.
func (p *Pool) dialShared(ctx context.Context, driver transport.Driver, conns *driverPool, l *Link) (*sharedConn, error) {
	conns.mu.Lock()
	if conns.done {
		conns.mu.Unlock()
		return p.connectShared(ctx, driver, conns, l)
	}
	if other := conns.connecting; other != nil {
		signal := transport.NewSignal()
		other.waiting = append(other.waiting, signal)
		conns.mu.Unlock()
		return nil, conns.await(ctx, driver, other, signal)
	}
	attempt := new(connectingShared)
	conns.connecting = attempt
	conns.mu.Unlock()
	c, err := p.connectShared(ctx, driver, conns, l)
	conns.mu.Lock()
	if conns.connecting = nil; err == nil && !conns.done {
		conns.shared = append(conns.shared, c)
	}
	attempt.over = true
	if ctx.Err() == nil { // otherwise the others, whose contexts may last longer, try themselves
		attempt.err = err
	}
	conns.mu.Unlock()
	for _, signal := range attempt.waiting {
		signal.Send()
	}
	return c, err
}

// await waits for the end of another exchange's attempt to connect, which sends the signal, or the end of ctx. It
// returns the error of the first of them.
func (p *driverPool) await(ctx context.Context, driver transport.Driver, other *connectingShared,
	signal *transport.Signal) error {
	stop := context.AfterFunc(ctx, func() { onDriver(driver, signal.Send) })
	defer stop()
	driver.Wait(signal, 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	if other.over {
		return other.err
	}
	return ctx.Err()
}

// connectShared makes a connection and waits until the server allows a stream. A server that does not speak HTTP/2, or
// that allows no stream, is one that does not accept the connection.
func (p *Pool) connectShared(ctx context.Context, driver transport.Driver, conns *driverPool, l *Link) (*sharedConn, error) {
	plain, err := p.connect(ctx, driver, l)
	if err != nil {
		return nil, err
	}
	c := &sharedConn{driver: driver, link: l, ended: conns.removeShared, leave: sync.OnceFunc(p.left)}
	c.Conn = http2.NewClient(plain, driver, c)
	stop := context.AfterFunc(ctx, func() { onDriver(driver, c.Abort) })
	end, _ := ctx.Deadline()
	err = c.AwaitUsable(time.Until(end))
	if !stop() { // c ends, or will
		err = ctx.Err()
	}
	if err != nil {
		c.Abort()
		return nil, err
	}
	return c, nil
}
