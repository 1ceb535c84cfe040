package wire

import (
	"time"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/transport"
)

// An http1Exchange is an exchange over HTTP/1. Its strings are views of the head in the
// connection's input.
type http1Exchange struct {
	Exchange
	body     requestBody
	response responder

	trailers func([]proxying.Field) []proxying.Field // body.trailers, made once to save an allocation per request
}

// newHTTP1Exchange returns an exchange of the server's pool.
func (s *shared) newHTTP1Exchange() any {
	x := new(http1Exchange)
	s.Attach(&x.Exchange)
	x.trailers = x.body.appendTrailers
	return x
}

// serveRequest serves the request whose head next has reported to be complete. It reports
// whether the connection can be used for another request. The caller runs in a goroutine
// or coroutine of the driver d.
func (c *clientConn) serveRequest(d transport.Driver) (keep bool) {
	x := c.server.exchanges.Get().(*http1Exchange)
	x.Driver = d
	x.fill(c)
	c.begin(&x.Exchange)
	c.server.Serve(&x.Exchange)
	keep, linger := x.complete()
	c.end()
	x.Exchange.reset()
	x.body.reset()
	x.response.reset()
	c.server.exchanges.Put(x)
	if linger {
		c.linger()
	}
	return keep
}

// fill sets the request from the head that c has received.
func (x *http1Exchange) fill(c *clientConn) {
	x.read(c.in, c.scheme)
	h := &c.in.parser.Head
	if x.Length != 0 {
		x.Body = &x.body
	}
	if x.Length < 0 {
		x.Trailers = x.trailers
	}
	x.Peer, x.PeerPort, x.TLS = c.peer, c.port, c.tls
	x.AltSvc = c.listener.alt()
	x.response.begin(c, x, !h.Close)
	x.body.begin(&x.response, x.Length, h.Continue && !h.HTTP10)
	if h.Continue {
		// It may have expired since the last response, and the pacer does not write the 100.
		c.SetWriteDeadline(time.Time{})
	}
	x.Client = &x.response
}

// complete sends the end of the response, and reads the rest of a short body. keep reports
// whether the connection can be used again. Otherwise linger reports that the client may
// still be sending.
func (x *http1Exchange) complete() (keep, linger bool) {
	w := &x.response
	switch {
	case x.Upgraded:
		return false, false
	case x.Cut:
		w.breakOff()
		return false, false
	}
	x.Pacer.AllowLastWrite()
	if w.end() != nil {
		return false, false
	}
	if w.body == closedBody {
		w.conn.CloseWrite() // with TLS, Close could lose the end
	}
	if w.keep && (x.body.hasEnded() || x.body.discard()) {
		return true, false
	}
	return false, !x.body.hasEnded() || len(w.conn.in.unread()) > 0
}

// restTimeout is how long the rest of a body may take after the response.
const restTimeout = 2 * time.Second
