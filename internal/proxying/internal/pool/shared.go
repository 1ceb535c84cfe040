package pool

import (
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

const (
	// pingAfter is how long a server with streams may send nothing before it gets a PING, and
	// pingTimeout how long it may take to respond. Servers of gRPC end connections with more than
	// a few PINGs in five minutes (gRPC proposal A8), and TCP keep-alive notices a machine that is
	// gone. pingTimeout also limits the PING before a request that cannot be repeated, whose
	// response makes room for another one.
	pingAfter   = 6 * time.Minute
	pingTimeout = 5 * time.Second
	// frameTimeout is how long a server may take to send a frame that it has begun, and how long
	// it may read nothing.
	frameTimeout = 30 * time.Second
	// answerHead is the maximum size of a header list of a response.
	answerHead = 64 << 10
)

// A sharedConn is a connection of HTTP/2 to a server. The exchanges of its driver share it.
type sharedConn struct {
	*http2.Conn
	driver transport.Driver
	link   *Link // that it was made by
	used   atomic.Bool
	ended  func(*sharedConn) // called when it takes no more streams
	leave  func()            // called when it does not count as open any more; may be called again
}

// Limits implements http2.Owner.
func (c *sharedConn) Limits() http2.Limits {
	return http2.Limits{HeaderList: answerHead, HeaderTimeout: frameTimeout, IdleTimeout: idleTimeout,
		WriteTimeout: frameTimeout, PingAfter: pingAfter, PingTimeout: pingTimeout}
}

// Opened implements http2.Owner. Servers open no streams.
func (c *sharedConn) Opened(*http2.Stream) {}

// Failed implements http2.Owner. The streams return the error.
func (c *sharedConn) Failed(*http2.Error, bool) {}

// Ended implements http2.Owner.
func (c *sharedConn) Ended() {
	c.ended(c)
	c.leave()
}

// retire ends the connection after its exchanges. Any goroutine may call it.
func (c *sharedConn) retire() { onDriver(c.driver, c.Retire) }
