package http2

import "github.com/weirhq/weir/internal/transport"

// start begins to read: on a loop without a coroutine.
func (c *Conn) start() {
	if _, ok := c.driver.(*transport.Loop); ok {
		c.Attend()
	} else {
		c.driver.Go((*reading)(c))
	}
}
