package front

import (
	"net/http"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/log"
)

// An http2Client is a connection over HTTP/2. It is the owner of the connection of package
// http2, and starts a task for each of its requests.
type http2Client struct {
	client *clientConn
	driver transport.Driver
	post   func(f func()) // calls f on the driver
	end    func()         // removes the connection
	conn   *http2.Conn
}

// beginHTTP2 continues with HTTP/2 and the bytes that were received. post calls a function on
// the driver. end is called after the end of the connection.
func (c *clientConn) beginHTTP2(d transport.Driver, post func(func()), end func()) *http2.Conn {
	h := &http2Client{client: c, driver: d, post: post, end: end}
	h.conn = http2.NewServer(c.Conn, d, h)
	c.mu.Lock()
	c.http2 = h
	c.see()
	c.mu.Unlock()
	in := c.in
	c.in = nil
	h.conn.Begin(in.unread())
	in.release()
	if c.listener.ending.Load() {
		h.conn.Drain()
	}
	return h.conn
}

// Limits implements http2.Owner.
func (h *http2Client) Limits() http2.Limits {
	l := h.client.server.limits()
	return http2.Limits{
		HeaderList: l.Headers, HeaderTimeout: l.HeaderTimeout, IdleTimeout: l.IdleTimeout,
		WriteTimeout: max(l.WriteTimeout, 0),
	}
}

// Opened implements http2.Owner.
func (h *http2Client) Opened(s *http2.Stream) {
	x := http2Exchanges.Get().(*http2Exchange)
	x.fill(h, s)
	s.Bind(x)
	h.driver.Go(x)
}

// Failed implements http2.Owner. A request that is refused before it is complete has the same
// event as over HTTP/1.
func (h *http2Client) Failed(e *http2.Error, connection bool) {
	d := h.client.server.door
	of := "stream"
	if connection {
		of = "connection"
	}
	d.metrics.http2.WithLabelValues(of, string(e.Reason)).Inc()
	switch {
	case e.Reason == http2.Malformed:
		d.noteRefusal(h.client, http.StatusBadRequest, e.Detail)
	case e.Reason == http2.Expectation:
		d.noteRefusal(h.client, http.StatusExpectationFailed, e.Detail)
	case e.Reason == http2.HeaderList:
		d.noteRefusal(h.client, http.StatusRequestHeaderFieldsTooLarge, e.Detail)
	case e.Reason == http2.SlowHead:
		d.noteRefusal(h.client, http.StatusRequestTimeout, e.Detail)
	case connection:
		d.logger().Warn(eventHTTP2Failed).HTTP(&log.HTTP{Client: h.client.peer.String()}).
			Str("reason", string(e.Reason)).Str("code", e.Code.String()).Str("detail", e.Detail).Send()
	}
}

// eventHTTP2Failed is the event of a connection that was ended because of its client.
const eventHTTP2Failed = "http/2 connection failed"

// Ended implements http2.Owner.
func (h *http2Client) Ended() { h.end() }

// drain asks the client to make another connection, and ends this one after its requests.
func (h *http2Client) drain() { h.post(h.conn.Drain) }

// serveHTTP2 serves a connection with the driver of goroutines, until its end.
func (c *clientConn) serveHTTP2() {
	c.beginHTTP2(transport.Goroutines, func(f func()) { f() }, c.finish).Serve()
}
