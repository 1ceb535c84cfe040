package wire

import (
	"errors"
	"os"
	"time"

	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/lazydeadline"
)

// A headReader knows when the head of a request must be complete.
type headReader struct {
	client *clientConn
	due    time.Time // when the head must be complete; zero if it has not begun
	want   time.Time // the deadline of the present read
}

// newHeadReader returns the headReader of a new connection. Its first head is due after
// the header timeout, even if it does not begin.
func newHeadReader(c *clientConn) headReader {
	return headReader{client: c, due: time.Now().Add(c.server.limits().HeaderTimeout)}
}

// more waits for more bytes of a head. It returns false if the connection has ended.
func (r *headReader) more() bool {
	c := r.client
	for r.arm(time.Now()) {
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
	waitOn     expiry = iota // the deadline was set to interrupt, was the grace of a first request, or has moved
	refuseSlow               // the head has taken too long
	endIdle                  // no head has begun
)

// slowHead is the refusal of a head that takes too long.
var slowHead = &http1.Error{Status: 408, Reason: "the head of the request took too long"}

// expired is called when the read deadline has passed.
func (r *headReader) expired() expiry {
	c, now := r.client, time.Now()
	switch {
	case now.Before(r.want), c.listener.ending.Load() && now.Before(r.due):
		return waitOn
	case c.header.trusted() && c.in != nil:
		c.refuseHeader(headerSlow, nil)
	case c.inHead():
		return refuseSlow
	case c.awaitsHandshake():
		c.server.Counts.Handshake(handshake.Timeout)
	case !c.hasRequested():
		c.server.Counts.Unused()
	}
	return endIdle
}

// arm sets the deadline of a read. It returns false if the connection must end and nothing
// has arrived.
func (r *headReader) arm(now time.Time) bool {
	c, limits := r.client, r.client.server.limits()
	timeout := limits.HeaderTimeout
	if c.in != nil && r.due.IsZero() {
		r.due = now.Add(timeout)
	}
	if r.want = r.due; r.due.IsZero() {
		timeout = limits.IdleTimeout
		r.want = now.Add(timeout)
	}
	ending := c.listener.ending.Load()
	if ending && (!c.inHead() || !c.hasRequested()) {
		if _, arrived := c.Quiet(); !arrived {
			// A new connection, or one after its handshake, may be about to send its first request.
			r.want = r.due.Add(firstRequestGrace - timeout)
			if c.hasRequested() || !now.Before(r.want) {
				return false
			}
			timeout = firstRequestGrace
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener.ending.Load() != ending {
		return true // perhaps interrupted already
	}
	if next, change := lazydeadline.Next(c.readBy, r.want, timeout, 0); change {
		c.setReadDeadline(next)
	}
	return true
}

// firstRequestGrace is how long a draining server waits for the first request
// of a connection.
const firstRequestGrace = 250 * time.Millisecond

// interrupt ends a read of more, because the connection must end. Over HTTP/2, it ends the
// connection after its requests.
func (c *clientConn) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.http2 != nil:
		c.drain()
	case c.shaking:
		c.setReadDeadline(time.Now().Add(handshakeGrace))
	case c.Conn != nil && c.busy == nil:
		c.setReadDeadline(past)
	}
}
