package pool

import (
	"crypto/tls"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/lazydeadline"
	"github.com/weirhq/weir/internal/transport"
)

// idleTimeout is the time for which an unused connection is kept.
const idleTimeout = 60 * time.Second

// A Conn is a connection to a server, or a stream of one. At most one exchange uses it at a time.
type Conn struct {
	transport.Conn
	driver transport.Driver
	link   *Link  // that it was made by
	leave  func() // called when it is closed; not of a stream

	Stream   *http2.Stream  // instead of Conn, with HTTP/2
	Response http2.Response // the last head of Stream
	headRead bool           // the next bytes belong to a body

	Used  bool      // it has served an exchange before
	ready time.Time // when it may be used again
	idle  time.Time // since when it is unused

	closed atomic.Bool

	mu       sync.Mutex // a request body and a response may be in transit at the same time
	deadline time.Time  // as set on the connection, guarded by mu
}

// Close closes the connection. It may be called more than once.
func (c *Conn) Close() error {
	if c.Stream != nil {
		c.closeStream()
		return nil
	}
	if c.closed.Swap(true) {
		return nil
	}
	defer c.leave()
	return c.Conn.Close()
}

// TLS returns the state of TLS on the connection, or nil without TLS.
func (c *Conn) TLS() *tls.ConnectionState {
	carrier := c.Conn
	if c.Stream != nil {
		carrier = c.Stream.Carrier()
	}
	if secured, ok := carrier.(*transport.TLSConn); ok {
		state := secured.ConnectionState()
		return &state
	}
	return nil
}

// Arm sets the deadline to timeout from now, or later as [lazydeadline.Next]
// allows.
func (c *Conn) Arm(now time.Time, timeout time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next, change := lazydeadline.Next(c.deadline, now.Add(timeout), timeout, 0)
	if change {
		c.deadline = next
		c.setDeadline(next) // an error appears in the next read or write
	}
}

// Interrupt makes a blocked Read or Write return. Any goroutine may call it.
func (c *Conn) Interrupt() {
	if c.Stream != nil {
		c.interruptStream()
	} else {
		c.SetDeadline(transport.Past)
	}
}

func (c *Conn) setDeadline(t time.Time) {
	if c.Stream != nil {
		c.Stream.SetReadDeadline(t)
		c.Stream.SetWriteDeadline(t)
	} else {
		c.SetDeadline(t)
	}
}

// ExpectHead has Receive read a head of Stream next.
func (c *Conn) ExpectHead() { c.headRead = false }

// Receive reads into s, or with HTTP/2 the next head into Response and then the body into s.
func (c *Conn) Receive(s transport.Space) (int, error) {
	switch {
	case c.Stream == nil:
		return c.Conn.ReadInto(s)
	case c.headRead:
		return c.Stream.ReadInto(s)
	}
	var err error
	c.Response, err = c.Stream.ReadHead()
	c.headRead = err == nil
	return 0, err
}

// TryReceive is Receive for a body, without a wait.
func (c *Conn) TryReceive(p []byte) (n int, ok bool, err error) {
	if c.Stream != nil {
		return c.Stream.TryRead(p)
	}
	return c.Conn.TryRead(p)
}

// SendPart sends a part of the body of a request, immediately.
func (c *Conn) SendPart(p []byte) error {
	if c.Stream == nil {
		_, err := c.Conn.Write(p)
		return err
	}
	if _, err := c.Stream.Write(p, false); err != nil {
		return err
	}
	return c.Stream.Flush()
}

// interruptStream is Interrupt for a stream, whose methods must be called on its driver.
func (c *Conn) interruptStream() {
	onDriver(c.driver, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed.Load() {
			c.Stream.SetReadDeadline(transport.Past)
			c.Stream.SetWriteDeadline(transport.Past)
		}
	})
}

// closeStream resets a stream that has not ended. Afterwards it only returns errors, until
// FreeStream.
func (c *Conn) closeStream() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed.Swap(true) {
		c.Stream.Cancel()
	}
}

// FreeStream ends the use of a closed stream. No method may be called afterwards.
func (c *Conn) FreeStream() {
	c.Stream.Close()
	c.Stream = nil
}

// onDriver calls f on a loop, or immediately with the driver of goroutines.
func onDriver(d transport.Driver, f func()) {
	if l, ok := d.(interface{ Post(f func()) bool }); ok {
		l.Post(f)
	} else {
		f()
	}
}
