package proxy

import (
	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// receive reads a head, or a part of the body, for await.
func (c *conn) receive(s transport.Space) (int, error) {
	switch {
	case c.stream == nil:
		return c.Conn.ReadInto(s)
	case c.headRead:
		return c.stream.ReadInto(s)
	}
	var err error
	c.response, err = c.stream.ReadHead()
	c.headRead = err == nil
	return 0, err
}

// tryReceive is receive for a body, without a wait.
func (c *conn) tryReceive(p []byte) (n int, ok bool, err error) {
	if c.stream != nil {
		return c.stream.TryRead(p)
	}
	return c.Conn.TryRead(p)
}

// sendPart sends a part of the body of a request, immediately.
func (c *conn) sendPart(p []byte) error {
	if c.stream == nil {
		_, err := c.Conn.Write(p)
		return err
	}
	if _, err := c.stream.Write(p, false); err != nil {
		return err
	}
	return c.stream.Flush()
}

// endStream ends the request with its trailers.
func (c *conn) endStream(trailers []Field) error {
	if len(trailers) == 0 {
		_, err := c.stream.Write(nil, true)
		return err
	}
	h := http2.NewHead()
	for _, f := range trailers {
		h.Add(f.Name, f.Value)
	}
	return c.stream.SendHead(h, true)
}

// interruptStream is interrupt for a stream, whose methods must be called on its driver.
func (c *conn) interruptStream() {
	onDriver(c.driver, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed.Load() {
			c.stream.SetReadDeadline(transport.Past)
			c.stream.SetWriteDeadline(transport.Past)
		}
	})
}

// closeStream resets a stream that has not ended. Only the upload may use it afterwards, until
// freeStream.
func (c *conn) closeStream() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed.Swap(true) {
		c.stream.Cancel()
	}
}

// freeStream ends the use of a closed stream.
func (c *conn) freeStream() {
	c.stream.Close()
	c.stream = nil
}
