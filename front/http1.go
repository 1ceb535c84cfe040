package front

import (
	"sync"
	"time"

	"github.com/weirhq/weir/front/internal/logcost"
	"github.com/weirhq/weir/internal/http1"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/proxy"
)

// An http1Exchange is an exchange over HTTP/1. Its strings are views of the head in the
// connection's input.
type http1Exchange struct {
	exchange
	body     requestBody
	response responder

	trailers func([]proxy.Field) []proxy.Field // body.trailers, made once to save an allocation per request
}

var http1Exchanges = sync.Pool{New: func() any {
	x := new(http1Exchange)
	x.sampled = logcost.SampleEvents()
	x.Context = &x.exchange
	x.trailers = x.body.appendTrailers
	return x
}}

// serveRequest serves the request whose head next has reported to be complete. It reports
// whether the connection can be used for another request. The caller runs in a goroutine
// or coroutine of the driver d.
func (c *clientConn) serveRequest(d transport.Driver) (keep bool) {
	x := http1Exchanges.Get().(*http1Exchange)
	x.Driver = d
	x.fill(c)
	c.begin(x)
	c.server.door.serve(&x.exchange)
	keep, linger := x.complete()
	c.end()
	x.exchange.reset()
	x.body.reset()
	x.response.reset()
	http1Exchanges.Put(x)
	if linger {
		c.linger()
	}
	return keep
}

// fill sets the request from the head that c has received.
func (x *http1Exchange) fill(c *clientConn) {
	h, buf := &c.in.parser.Head, c.in.buf
	x.Method, x.Host, x.Scheme = view(h.Method.Of(buf)), view(h.Host.Of(buf)), c.scheme
	x.Target = view(h.Target.Of(buf))
	if h.Form == http1.AbsoluteForm {
		if string(h.Scheme.Of(buf)) != x.Scheme {
			x.ambiguity = "the target has another scheme than the connection"
		}
		if x.Target = view(h.Path.Of(buf)); x.Target == "" || x.Target[0] != '/' {
			x.Target = "/" + x.Target
		}
	}
	x.HTTP10 = h.HTTP10
	for i := range c.in.fields.Len() {
		f := c.in.fields.At(i)
		if name := view(f.Name.Of(buf)); !isHost(name) {
			x.Header = append(x.Header, proxy.Field{Name: name, Value: view(f.Value.Of(buf))})
		}
	}
	switch h.Framing {
	case http1.BodyLength:
		x.Length = h.Length
	case http1.BodyChunked:
		x.Length, x.Trailers = -1, x.trailers
	}
	if x.Length != 0 {
		x.Body = &x.body
	}
	x.Peer, x.PeerPort, x.tls = c.peer, c.port, c.tls
	x.altSvc = c.listener.altSvc()
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
	x.pacer.AllowLastWrite()
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

func isHost(name string) bool { return len(name) == len("Host") && httpsyntax.EqualFold(name, "Host") }
