package proxy

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

const (
	// pingAfter is how long a server with streams may send nothing before it gets a PING, and
	// pingTimeout how long it may take to respond. Servers of gRPC end connections with more than
	// a few PINGs in five minutes (gRPC proposal A8), and TCP keep-alive notices a machine that is
	// gone. pingTimeout also limits the PING before a request that cannot be repeated, whose
	// response makes room for another one.
	pingAfter   = 6 * time.Minute
	pingTimeout = 5 * time.Second
	// frameTimeout is how long a server may take to send a frame that it has begun, and how long
	// it may read nothing.
	frameTimeout = 30 * time.Second
	// answerHead is the maximum size of a header list of a response.
	answerHead = 64 << 10
)

// A sharedConn is a connection of HTTP/2 to a server. The exchanges of its driver share it.
type sharedConn struct {
	*http2.Conn
	driver transport.Driver
	pool   *pool
	link   *link // that it was made by
	used   atomic.Bool
	leave  func() // called when it does not count as open any more; may be called again
}

// Limits implements http2.Owner.
func (c *sharedConn) Limits() http2.Limits {
	return http2.Limits{HeaderList: answerHead, HeaderTimeout: frameTimeout, IdleTimeout: idleTimeout,
		WriteTimeout: frameTimeout, PingAfter: pingAfter, PingTimeout: pingTimeout}
}

// Opened implements http2.Owner. Servers open no streams.
func (c *sharedConn) Opened(*http2.Stream) {}

// Failed implements http2.Owner. The streams return the error.
func (c *sharedConn) Failed(*http2.Error, bool) {}

// Ended implements http2.Owner.
func (c *sharedConn) Ended() {
	c.pool.removeShared(c)
	c.leave()
}

// retire ends the connection after its exchanges. Any goroutine may call it.
func (c *sharedConn) retire() { onDriver(c.driver, c.Retire) }

// onDriver calls f on a loop, or immediately with the driver of goroutines.
func onDriver(d transport.Driver, f func()) {
	if l, ok := d.(interface{ Post(f func()) bool }); ok {
		l.Post(f)
	} else {
		f()
	}
}

// A connectingShared is an attempt to make a shared connection. Other exchanges wait for its result.
type connectingShared struct {
	waiting []*transport.Signal
	err     error
	over    bool
}

// findShared returns a connection that has room for a stream, or nil. withBody leaves out those that would hold up the
// body of a request.
func (p *pool) findShared(l *link, withBody bool) *sharedConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.shared {
		if usable, _ := c.Usable(); usable && c.link == l && !(withBody && c.HoldsUp()) {
			return c
		}
	}
	return nil
}

// removeShared removes a connection that takes no more streams.
func (p *pool) removeShared(c *sharedConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shared = slices.DeleteFunc(p.shared, func(other *sharedConn) bool { return other == c })
}

// closeUnusedShared closes a connection without streams, and reports whether there was one.
func (p *pool) closeUnusedShared() bool {
	p.mu.Lock()
	i := slices.IndexFunc(p.shared, func(c *sharedConn) bool {
		_, unused := c.Usable()
		return unused
	})
	if i < 0 {
		p.mu.Unlock()
		return false
	}
	c := p.shared[i]
	p.shared = slices.Delete(p.shared, i, i+1)
	p.mu.Unlock()
	c.Abort() // closes it if no stream was opened since
	c.leave()
	return true
}
