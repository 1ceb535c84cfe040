package front

import (
	"bytes"
	"net"
	"net/http"
	"net/netip"
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
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := http2Exchanges.Get().(*http2Exchange)
	x.face.Bind(&x.Exchange, w, r)
	x.ambiguity = ambiguousHTTP2(r)
	x.ctx = r.Context()
	x.pacer.useStream(w.(deadlines), &l.draining)
	release := proxy.CancelWith(r.Context(), &x.Exchange)
	l.server.door.serve(&x.exchange)
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

// An http2Server is the net/http server of the connections of a listener with HTTP/2. A
// change of limits replaces it.
type http2Server struct {
	*http.Server
	conns chan net.Conn
	done  chan struct{} // closed by Close
	close func()
}

// newHTTP2Server returns a server with the limits in use. The caller calls serve.
func newHTTP2Server(l *listener) *http2Server {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	limits := l.server.limits()
	s := &http2Server{conns: make(chan net.Conn), done: make(chan struct{})}
	s.close = sync.OnceFunc(func() { close(s.done) })
	s.Server = &http.Server{
		Handler:           l,
		Protocols:         protocols,
		ReadHeaderTimeout: limits.HeaderTimeout,
		IdleTimeout:       limits.IdleTimeout,
		MaxHeaderBytes:    limits.Headers - 4096, // net/http adds 4096
		HTTP2: &http.HTTP2Config{
			MaxReadFrameSize: maxFrame,
			WriteByteTimeout: max(limits.WriteTimeout, 0),
		},
		ErrorLog:                     l.server.errorLog,
		DisableGeneralOptionsHandler: true,
	}
	return s
}

// serve serves until Shutdown or Close.
func (s *http2Server) serve() { s.Serve(http2Listener{s}) }

// hand passes a connection to net/http, with the bytes that were read from it.
func (l *listener) hand(c *clientConn) {
	c.mu.Lock()
	c.http2 = true
	c.see()
	c.mu.Unlock()
	h := &http2Conn{TCPConn: c.Conn.(*transport.NetConn).TCP(), conn: c, read: bytes.Clone(c.in.unread())}
	c.in.release()
	c.in = nil
	for {
		s := l.http2.Load()
		select {
		case s.conns <- h:
			return
		case <-s.done:
		}
		if l.http2.Load() == s { // not replaced: the listener has ended
			c.finish()
			return
		}
	}
}

// An http2Listener gives an http2Server the connections that have begun with its preface.
type http2Listener struct{ *http2Server }

// Accept implements net.Listener.
func (l http2Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l http2Listener) Close() error {
	l.http2Server.close()
	return nil
}

// Addr implements net.Listener.
func (l http2Listener) Addr() net.Addr { return &net.TCPAddr{} }

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

// RemoteAddr implements net.Conn. It is the address of the client.
func (h *http2Conn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(h.conn.peer, h.conn.port))
}

// Close implements net.Conn.
func (h *http2Conn) Close() error {
	h.conn.finish()
	return nil
}
