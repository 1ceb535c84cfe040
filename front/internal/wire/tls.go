package wire

import (
	"time"

	"github.com/weirhq/weir/front/internal/eventpace"
	"github.com/weirhq/weir/front/internal/handshake"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/log"
)

// alpn are the protocols of the TLS listeners, the most preferred first.
var alpn = []string{alpnHTTP2, "http/1.1"}

// alpnHTTP2 is the protocol of connections over HTTP/2.
const alpnHTTP2 = "h2"

// plainHTTP is the reason of the refusal of a request without TLS.
const plainHTTP = "this port expects https"

// handshake does the handshake of TLS, whose first bytes have arrived, and returns the
// connection. It must be done by the given time. After a failure, which handshake counts and
// logs, it returns nil, and the caller calls finish.
func (c *clientConn) handshake(d transport.Driver, due time.Time) *transport.TLSConn {
	c.beginHandshake(due)
	t, client, err := c.server.handshakes.Do(c.Conn.(transport.Carrier), c.in.unread(), d)
	c.endHandshake()
	result := handshake.ResultOf(client, err)
	c.server.Counts.Handshake(result)
	switch {
	case result == handshake.PlainHTTP:
		c.refuse(400, plainHTTP)
		return nil
	case err != nil:
		c.server.handshakeLog.Note(string(result))
		t.Close()
		return nil
	}
	if client.IsChallenge() {
		t.Close()
		return nil
	}
	c.server.Counts.Connected(client)
	c.in.release()
	c.in = nil
	t.SetDeadline(time.Time{})
	c.move(t)
	c.tls = client
	return t
}

// handshakeGrace is how long a handshake in progress may take after the connection must end.
// The client sends its first request after it.
const handshakeGrace = 2 * time.Second

func (c *clientConn) beginHandshake(due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shaking = true
	if c.listener.ending.Load() {
		due = time.Now().Add(handshakeGrace)
	}
	c.readBy, c.writeBy = due, due
	c.Conn.SetDeadline(due) // if this fails, so does the handshake
}

func (c *clientConn) endHandshake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shaking = false
}

// eventHandshakes is the event of handshakes that have failed.
const eventHandshakes = "tls handshakes failed"

// newHandshakeLog returns the log of handshakes that have failed. Any scan of the internet
// causes some.
func newHandshakeLog(logger func() *log.Logger) eventpace.Flood {
	return eventpace.Flood{Log: func() log.Event { return logger().Info(eventHandshakes) }, Key: "result"}
}
