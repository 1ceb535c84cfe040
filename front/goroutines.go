package front

import (
	"errors"
	"os"
	"time"

	"github.com/weirhq/weir/internal/lazydeadline"
	"github.com/weirhq/weir/internal/transport"
)

// serveConn serves a connection until its end, in a goroutine.
func (s *server) serveConn(c *clientConn) {
	r := headReader{conn: c, due: time.Now().Add(s.limits.HeaderTimeout)}
	for {
		switch step, err := c.next(); step {
		case http2Preface:
			s.http2.hand(c)
			return
		case badHead:
			c.refuse(err.Status, err.Reason)
			c.finish()
			return
		case incomplete:
			if !r.more() {
				c.finish()
				return
			}
		case completeHead:
			if r.due = (time.Time{}); !c.serveRequest(transport.Goroutines) {
				c.finish()
				return
			}
		}
	}
}

// A headReader reads the heads of requests within the timeouts.
type headReader struct {
	conn *clientConn
	due  time.Time // when the head must be complete; zero if it has not begun
	want time.Time // the deadline of the present read
}

// more waits for more bytes of a head. It returns false if the connection has ended.
func (r *headReader) more() bool {
	c := r.conn
	for r.arm() {
		n, err := c.ReadInto(c)
		switch {
		case n > 0:
			c.in.w += n
			return true
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return false
		case c.server.closing.Load() || time.Now().Before(r.want):
		case c.inHead():
			c.refuse(408, "the head of the request took too long")
			return false
		default:
			if !c.hasSeen() {
				c.server.door.metrics.refusal(limitHeaderTime, allRoutes).Inc()
			}
			return false
		}
	}
	return false
}

// arm sets the deadline of a read. It returns false if the server is closing and nothing
// has arrived.
func (r *headReader) arm() bool {
	c, limits := r.conn, &r.conn.server.limits
	now, timeout := time.Now(), limits.HeaderTimeout
	if c.in != nil && r.due.IsZero() {
		r.due = now.Add(timeout)
	}
	if r.want = r.due; r.due.IsZero() {
		timeout = limits.IdleTimeout
		r.want = now.Add(timeout)
	}
	closing := c.server.closing.Load()
	if closing && (c.in == nil || !c.hasSeen()) {
		if _, arrived := c.Quiet(); !arrived {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server.closing.Load() != closing {
		return true // perhaps interrupted already
	}
	if next, change := lazydeadline.Next(c.readBy, r.want, timeout); change {
		c.setReadDeadline(next)
	}
	return true
}

// interrupt ends a read of more, because the server is closing.
func (c *clientConn) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy == nil && !c.http2 {
		c.setReadDeadline(past)
	}
}
