package http2

import (
	"time"

	"golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/lazydeadline"
)

// arm sets the deadline of the reader. mu is held.
func (c *Conn) arm() {
	want, slack := c.due, time.Duration(0)
	limits := c.owner.Limits()
	if c.state < failed {
		if !c.partial.IsZero() {
			want = earlier(want, c.partial.Add(limits.HeaderTimeout))
		}
		if c.running == 0 && !c.slow && want.IsZero() {
			want, slack = c.idle.Add(limits.IdleTimeout), limits.IdleTimeout
		}
		if ping := c.pingDue(&limits); want.IsZero() && !ping.IsZero() {
			want, slack = ping, limits.PingAfter
		}
	}
	if next, change := lazydeadline.Next(c.readBy, want, slack, 0); change {
		c.readBy = next
		c.conn.SetReadDeadline(next)
	}
}

// earlier returns the earlier of two times. The zero time is no time.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// keepAlive sends a PING if nothing has arrived for Limits.PingAfter while there are streams,
// and reports whether the server has not responded for Limits.PingTimeout. mu is held.
func (c *Conn) keepAlive(now time.Time, limits *Limits) (dead bool) {
	if c.client == nil || limits.PingAfter == 0 || c.running == 0 || c.state >= failed {
		return false
	}
	switch silent := now.Sub(c.client.heard); {
	case silent < limits.PingAfter:
	case !c.client.pinged:
		c.sendPing()
	case silent >= limits.PingAfter+limits.PingTimeout:
		c.client.cause = ErrSilent
		return true
	}
	return false
}

// sendPing sends a PING, unless one was sent since bytes have arrived last: servers of gRPC end a connection after the
// third PING without a response in between. mu is held.
func (c *Conn) sendPing() {
	if !c.client.pinged {
		c.client.pinged = true
		c.writeFrames(func(f *http2.Framer) { f.WritePing(false, [8]byte{}) })
		c.push()
	}
}

// pingDue returns when keepAlive must be called, or the zero time. mu is held.
func (c *Conn) pingDue(limits *Limits) time.Time {
	switch {
	case c.client == nil || limits.PingAfter == 0 || c.running == 0:
		return time.Time{}
	case c.client.pinged:
		return c.client.heard.Add(limits.PingAfter + limits.PingTimeout)
	}
	return c.client.heard.Add(limits.PingAfter)
}
