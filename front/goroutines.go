package front

import (
	"errors"
	"os"
	"time"

	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/lazydeadline"
	"github.com/weirhq/weir/internal/transport"
)

// An engine serves the connections of clients.
type engine interface {
	// start serves an accepted connection. The engine sets c.Conn.
	start(c *clientConn, a transport.Accepted)
	// close ends the engine after the last connection.
	close()
}

// goroutines is the engine with a goroutine for each connection.
type goroutines struct{ server *server }

func (e goroutines) start(c *clientConn, a transport.Accepted) {
	nc, err := a.NetConn()
	if err != nil {
		c.finish()
		return
	}
	c.move(nc)
	e.server.serveAsync(c, incomplete, nil)
}

func (e goroutines) close() {}

// serveAsync serves a connection in a goroutine, from the given step.
func (s *server) serveAsync(c *clientConn, first step, failure *http1.Error) {
	s.serving.Go(func() { s.serveConn(c, first, failure) })
}

// serveConn serves a connection until its end.
func (s *server) serveConn(c *clientConn, step step, failure *http1.Error) {
	for r := newHeadReader(c); ; step, failure = c.next() {
		switch step {
		case http2Preface:
			s.http2.hand(c)
			return
		case badHead:
			c.refuse(failure.Status, failure.Reason)
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

// A headReader knows when the head of a request must be complete.
type headReader struct {
	client *clientConn
	due    time.Time // when the head must be complete; zero if it has not begun
	want   time.Time // the deadline of the present read
}

// newHeadReader returns the headReader of a new connection. Its first head is due after
// the header timeout, even if it does not begin.
func newHeadReader(c *clientConn) headReader {
	return headReader{client: c, due: time.Now().Add(c.server.limits.HeaderTimeout)}
}

// more waits for more bytes of a head. It returns false if the connection has ended.
func (r *headReader) more() bool {
	c := r.client
	for r.arm() {
		n, err := c.ReadInto(c)
		switch {
		case n > 0:
			c.in.w += n
			return true
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return false
		}
		switch r.expired() {
		case refuseSlow:
			c.refuse(slowHead.Status, slowHead.Reason)
			return false
		case endIdle:
			return false
		}
	}
	return false
}

// An expiry is what follows from a deadline that has passed.
type expiry uint8

const (
	waitOn     expiry = iota // the deadline was set to interrupt, or has moved
	refuseSlow               // the head has taken too long
	endIdle                  // no head has begun
)

// slowHead is the refusal of a head that takes too long.
var slowHead = &http1.Error{Status: 408, Reason: "the head of the request took too long"}

// expired is called when the read deadline has passed.
func (r *headReader) expired() expiry {
	c := r.client
	switch {
	case c.server.closing.Load() || time.Now().Before(r.want):
		return waitOn
	case c.inHead():
		return refuseSlow
	case !c.hasSeen():
		c.server.door.metrics.refusal(limitHeaderTime, allRoutes).Inc()
	}
	return endIdle
}

// arm sets the deadline of a read. It returns false if the server is closing and nothing
// has arrived.
func (r *headReader) arm() bool {
	c, limits := r.client, &r.client.server.limits
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
	if c.Conn != nil && c.busy == nil && !c.http2 {
		c.setReadDeadline(past)
	}
}
