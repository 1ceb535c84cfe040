package wire

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
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
	c.server.conns.setVersion(c, version2)
	c.mu.Lock()
	c.http2, c.drain = h.conn, h.drain
	c.noteRequest()
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
		WriteTimeout: l.WriteTimeout,
	}
}

// Opened implements http2.Owner.
func (h *http2Client) Opened(s *http2.Stream) {
	x := h.client.server.streamExchanges.Get().(*streamExchange)
	x.Driver, x.HTTP2, x.Scheme = h.driver, true, h.client.scheme
	x.Peer, x.PeerPort, x.TLS = h.client.peer, h.client.port, h.client.tls
	x.http2 = h.conn
	x.fill(h.client.server, h.client.listener, s, &s.Request)
	if x.Length == 0 && !s.Ended() {
		h.driver.Go((*unendedRequest)(x))
	} else {
		h.driver.Go(x)
	}
}

// An unendedRequest is a request with a content-length of 0 whose stream has not ended. It is served
// when the stream has ended without a body.
type unendedRequest streamExchange

// Run implements transport.Task.
func (r *unendedRequest) Run() {
	x := (*streamExchange)(r)
	x.stream.SetReadDeadline(time.Now().Add(x.server.limits().HeaderTimeout))
	_, err := x.stream.ReadInto(&fixedSpace{})
	x.stream.SetReadDeadline(time.Time{})
	var wrong *http2.Error
	switch {
	case err == io.EOF:
		x.Run()
		return
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.server.noteRefusal(x.Peer, http.StatusRequestTimeout, "the request has no end")
	case errors.As(err, &wrong) && (wrong.Reason == http2.BodyLength || wrong.Reason == http2.Trailers):
		x.server.noteRefusal(x.Peer, http.StatusBadRequest, wrong.Detail)
	}
	x.release()
}

// Failed implements http2.Owner.
func (h *http2Client) Failed(e *http2.Error, connection bool) {
	s := h.client.server
	s.noteStreamError(&streamError{
		count: s.Counts.HTTP2Error, event: "http/2 connection failed", client: h.client.peer, connection: connection,
		reason: string(e.Reason), code: e.Code.String(), detail: e.Detail,
	})
}

// Ended implements http2.Owner.
func (h *http2Client) Ended() { h.end() }

// drain asks the client to make another connection, and ends this one after its requests.
func (h *http2Client) drain() { h.post(h.conn.Drain) }

// serveHTTP2 serves a connection with the driver of goroutines, until its end.
func (c *clientConn) serveHTTP2() {
	c.beginHTTP2(transport.Goroutines, func(f func()) { f() }, c.finish).Serve()
}
