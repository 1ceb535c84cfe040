package front

import (
	"bytes"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/proxy"
)

// An http2Exchange is an exchange with its net/http adapter.
type http2Exchange struct {
	exchange
	face proxy.HTTP
}

var http2Exchanges = sync.Pool{New: func() any {
	x := new(http2Exchange)
	x.sampled = startSampling(eventsPerSample)
	x.Context = &x.exchange
	return x
}}

// ServeHTTP implements http.Handler, for requests over HTTP/2.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := http2Exchanges.Get().(*http2Exchange)
	x.face.Bind(&x.Exchange, w, r)
	x.ambiguity = ambiguousHTTP2(r)
	x.ctx = r.Context()
	x.pacer.useStream(w.(deadlines))
	release := proxy.CancelWith(r.Context(), &x.Exchange)
	s.door.serve(&x.exchange)
	release()
	cut := x.Cut
	if !cut {
		x.pacer.allowLastWrite()
	}
	x.exchange.reset()
	x.face.Release()
	http2Exchanges.Put(x)
	if cut {
		proxy.Abort(w, r)
	}
}

// ambiguousHTTP2 returns why a request over HTTP/2 is ambiguous, or "": a field
// contradicts the frames (RFC 9113, sections 8.1.1 and 8.3.1), which net/http allows.
func ambiguousHTTP2(r *http.Request) string {
	hosts, lengths := r.Header["Host"], r.Header["Content-Length"]
	switch {
	case len(hosts) > 1 || len(hosts) == 1 && !strings.EqualFold(hosts[0], r.Host):
		return "the Host and :authority differ"
	case len(lengths) > 1 || len(lengths) == 1 && lengths[0] != strconv.FormatInt(r.ContentLength, 10):
		return "Content-Length is not the body's length"
	}
	return ""
}

// maxFrame is the maximum size of an HTTP/2 frame, the lowest that RFC 9113 allows. The
// buffer of a connection grows to its longest frame.
const maxFrame = 16 << 10

// newHTTP2Server returns the net/http server of connections with HTTP/2.
func newHTTP2Server(s *server) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:                      s,
		Protocols:                    protocols,
		ReadHeaderTimeout:            s.limits.HeaderTimeout,
		IdleTimeout:                  s.limits.IdleTimeout,
		MaxHeaderBytes:               s.limits.Headers - 4096, // net/http adds 4096
		HTTP2:                        &http.HTTP2Config{MaxReadFrameSize: maxFrame, WriteByteTimeout: max(s.limits.WriteTimeout, 0)},
		ErrorLog:                     s.errorLog,
		DisableGeneralOptionsHandler: true,
	}
}

// An http2Listener gives the HTTP/2 server the connections that have begun with its
// preface.
type http2Listener struct {
	conns chan net.Conn
	done  chan struct{} // closed by Close
	close func()
}

func newHTTP2Listener() *http2Listener {
	l := &http2Listener{conns: make(chan net.Conn), done: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.done) })
	return l
}

// hand passes on a connection with the bytes that were read from it.
func (l *http2Listener) hand(c *clientConn) {
	c.mu.Lock()
	c.http2 = true
	c.see()
	c.mu.Unlock()
	h := &http2Conn{TCPConn: c.Conn.(*transport.NetConn).TCP(), conn: c, read: bytes.Clone(c.in.unread())}
	c.in.release()
	c.in = nil
	select {
	case l.conns <- h:
	case <-l.done:
		c.finish()
	}
}

// Accept implements net.Listener.
func (l *http2Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *http2Listener) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *http2Listener) Addr() net.Addr { return &net.TCPAddr{} }

// An http2Conn is a connection that net/http serves.
type http2Conn struct {
	*net.TCPConn
	conn *clientConn
	read []byte // bytes that were read before
}

// Read implements net.Conn. It first returns h.read.
func (h *http2Conn) Read(p []byte) (int, error) {
	if len(h.read) > 0 {
		n := copy(p, h.read)
		h.read = h.read[n:]
		return n, nil
	}
	return h.TCPConn.Read(p)
}

// Close implements net.Conn.
func (h *http2Conn) Close() error {
	h.conn.finish()
	return nil
}
