//go:build !linux

package http2

// start begins to read.
func (c *Conn) start() { c.driver.Go((*reading)(c)) }
