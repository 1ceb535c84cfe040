package wire

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
)

// A clientConn is the connection of a client. It holds the state that is independent of
// the driver: the received bytes, the exchange in progress, and the deadlines.
//
// One goroutine or coroutine serves it: it reads until [clientConn.next] reports a complete
// head, and calls serveRequest.
type clientConn struct {
	transport.Conn
	server   *shared
	listener *listenerState    // of the one that accepted it
	peer     netip.Addr        // or the client that a header of the PROXY protocol names
	port     uint16            // of peer
	header   headerState       // of the PROXY protocol
	scheme   string            // https if the listener has TLS, otherwise http
	tls      *handshake.Client // nil without TLS, and before the handshake
	counted  netip.Addr        // counted for connections_per_client; the zero value if it is not
	in       *input            // nil if no bytes are held
	version  httpVersion       // guarded by the mu of server.conns

	// writes counts the begun and the ended writes of responses, and adds 2 when the body of
	// a request has been read. It is odd during a write.
	writes atomic.Uint64

	mu        sync.Mutex  // guards the fields below
	busy      *Exchange   // over HTTP/1
	reading   bool        // a part of the request of busy has not been read
	gone      bool        // the client has disconnected
	requested bool        // it has sent a request or the preface of HTTP/2
	shaking   bool        // the handshake of TLS is in progress
	http2     *http2.Conn // nil before the preface of HTTP/2
	drain     func()      // asks the client for another connection, and ends this one after its requests; over HTTP/2
	readBy    time.Time   // the deadlines that are set
	writeBy   time.Time
	watch     watch
}

// Space implements transport.Space.
func (c *clientConn) Space() []byte {
	if c.in == nil {
		c.in = takeInput(c.server.limits().Headers)
	}
	return c.in.space()
}

// GiveBack implements transport.Space.
func (c *clientConn) GiveBack() {
	if c.in != nil && c.in.w == 0 {
		c.in.release()
		c.in = nil
	}
}

// begin sets the exchange in progress.
func (c *clientConn) begin(x *Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy, c.reading = x, x.Length != 0
	x.Pacer.Begin(c, c.readBy, c.writeBy)
	if !c.reading {
		c.watch.begin()
	}
	if c.gone {
		x.Cancel()
	}
	c.noteRequest()
}

// end ends the exchange in progress. Nothing cancels it afterwards.
func (c *clientConn) end() {
	c.endWatch()
	c.mu.Lock()
	c.busy = nil
	c.mu.Unlock()
	if c.in.endHead(); c.in.w == 0 {
		c.in.release()
		c.in = nil
	}
}

// bodyEnded records that no part of the request is outstanding.
func (c *clientConn) bodyEnded() {
	c.writes.Add(2)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reading = false
	c.watch.begin()
}

// checkStalled reports whether the request has been read, and no part of its response was sent,
// since the count of writes was *before, and updates *before. It is used once in a halfCloseGrace after the client has
// closed its side of the connection. It then counts as disconnected, because a client that
// closes both sides looks the same until something is sent to it.
func (c *clientConn) checkStalled(before *uint64) bool {
	now := c.writes.Load()
	same := now == *before
	*before = now
	return same && now%2 == 0 && !c.inBody()
}

// inBody reports whether a part of the request has not been read.
func (c *clientConn) inBody() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy != nil && c.reading
}

// leave cancels the exchange because the client has disconnected. It may be called before
// there is an exchange.
func (c *clientConn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	if c.busy != nil {
		c.busy.Cancel()
	}
}

// cut ends a connection whose time to drain is over. The client of a request in progress
// gets a reset, which does not look like the end of a response.
func (c *clientConn) cut() {
	c.leave()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.Conn == nil:
	case c.http2 != nil:
		c.http2.Abort()
	case c.busy != nil:
		c.Abort()
	default:
		c.Close()
	}
}

// move continues with another connection of the transport, which has no deadlines.
func (c *clientConn) move(to transport.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Conn, c.readBy, c.writeBy = to, time.Time{}, time.Time{}
}

// noteRequest records that the connection has carried a request. The caller holds mu.
func (c *clientConn) noteRequest() {
	if !c.requested {
		c.requested = true
		c.server.conns.fresh.Add(-1)
	}
}

func (c *clientConn) hasRequested() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requested
}

// finish closes the connection and removes it from those of the server.
func (c *clientConn) finish() {
	c.mu.Lock()
	c.noteRequest()
	c.mu.Unlock()
	if c.Conn != nil {
		c.Close()
	}
	if c.in != nil {
		c.in.release()
		c.in = nil
	}
	c.server.conns.remove(c)
}

// SetReadDeadline implements transport.Conn.
func (c *clientConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setReadDeadline(t)
}

// setReadDeadline is SetReadDeadline for a caller that holds mu.
func (c *clientConn) setReadDeadline(t time.Time) error {
	c.readBy = t
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline implements transport.Conn.
func (c *clientConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeBy = t
	return c.Conn.SetWriteDeadline(t)
}

// linger waits until the client closes the connection, and discards its bytes. Closing a
// connection with unread bytes would reset it, and the client might lose the response. No
// exchange is in progress.
func (c *clientConn) linger() {
	c.CloseWrite()
	for began := time.Now(); time.Since(began) < lingerTime; {
		c.SetReadDeadline(time.Now().Add(lingerTimeout))
		if c.in != nil {
			c.in.r, c.in.w = 0, 0
		}
		if _, err := c.ReadInto(c); err != nil {
			return
		}
	}
}

// past is a deadline that interrupts an operation in progress.
var past = time.Unix(1, 0)

const (
	// lingerTimeout is how long a client may take to close a connection.
	lingerTimeout = 500 * time.Millisecond
	// lingerTime is how long it may continue to send before that.
	lingerTime = 2 * time.Second
)
