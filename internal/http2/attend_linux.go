package http2

import "github.com/weirhq/weir/internal/transport"

// Attend has the loop of the connection read, without a coroutine, until the end of the
// connection. It must be called on the loop.
func (c *Conn) Attend() {
	if !c.isGone() {
		c.conn.(interface{ Idle(transport.Handler) }).Idle(c)
	}
}

func (c *Conn) isGone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == gone
}

// Ready implements transport.Handler.
func (c *Conn) Ready(*transport.LoopConn) {
	n, ok, _ := c.conn.TryRead(c.Space())
	switch {
	case n > 0:
		c.received(n)
	case ok:
		c.end()
		return
	default:
		c.GiveBack()
	}
	c.Attend()
}

// Expired implements transport.Handler.
func (c *Conn) Expired(*transport.LoopConn) {
	if c.expired() {
		c.Attend()
	}
}
