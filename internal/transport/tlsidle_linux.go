package transport

// Idle is [LoopConn.Idle] for a connection whose carrier is a LoopConn. Its handler is also
// called for bytes that were received earlier.
func (c *TLSConn) Idle(h Handler) {
	c.inner.(*LoopConn).idle(h, c.ready())
}
