package front

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/weirhq/weir/proxy"
)

// clientConn is a client's connection under net/http. It knows what net/http
// does not tell its handlers: when the client leaves, when an answer is
// written to its last byte, and what stood in a head that net/http has
// already interpreted.
type clientConn struct {
	*net.TCPConn
	server *server

	mu sync.Mutex
	x  *held // the exchange under way over HTTP/1, guarded by mu

	first byte   // a byte that was read alone, ahead of its request
	alone bool   // there is one
	odd   []byte // the beginning of a head whose target is not in origin form
}

// held is an exchange with its face.
type held struct {
	exchange
	face proxy.HTTP
}

var heldExchanges = sync.Pool{New: func() any {
	h := new(held)
	h.Context = &h.exchange
	h.face.Keep = true
	return h
}}

type connKey struct{}

// Read implements net.Conn. While a handler runs, net/http reads ahead a
// single byte to learn whether the client is still there; an error then means
// that it is not.
func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if err != nil && len(p) == 1 && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.leave()
	}
	if n > 0 {
		c.look(p[:n])
	}
	return n, err
}

// leave cancels the exchange that the client does not wait for any more.
func (c *clientConn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.x != nil {
		c.x.Cancel()
	}
}

// look keeps a copy of a head that begins with a target in absolute form:
// net/http lets such a target override the Host without a word.
func (c *clientConn) look(p []byte) {
	switch {
	case len(c.odd) > 0 && !bytes.Contains(c.odd, []byte("\r\n\r\n")):
		if len(c.odd) < maxHead {
			c.odd = append(c.odd, p...)
		}
		return
	case len(p) == 1:
		c.first, c.alone = p[0], true
		return
	}
	if beginsAbsolute(p) {
		c.odd = c.odd[:0]
		if c.alone {
			c.odd = append(c.odd, c.first)
		}
		c.odd = append(c.odd, p...)
	}
	c.alone = false
}

// beginsAbsolute tells whether p can be the beginning, or all but the first
// byte, of a request with a target in absolute form.
func beginsAbsolute(p []byte) bool {
	const method = 24 // no method is longer
	space := bytes.IndexByte(p[:min(len(p), method)], ' ')
	if space < 0 {
		return len(p) < method
	}
	const scheme = "http"
	rest := p[space+1:]
	n := min(len(rest), len(scheme))
	return strings.EqualFold(string(rest[:n]), scheme[:n])
}

// hostOf returns the Host that stood beside a target in absolute form, and
// whether it was found, once.
func (c *clientConn) hostOf(target string) (host string, found bool) {
	head, _, _ := strings.Cut(string(c.odd), "\r\n\r\n")
	c.odd = nil
	lines := strings.Split(head, "\r\n")
	if !strings.Contains(lines[0], " "+target+" ") {
		return "", false
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		if strings.EqualFold(name, "Host") {
			if found {
				return "", false
			}
			host, found = strings.Trim(value, " \t"), true
		}
	}
	return host, found
}

// Close implements net.Conn.
func (c *clientConn) Close() error {
	c.server.conns.remove(c)
	return c.TCPConn.Close()
}

// hold makes the exchange the one that the connection is busy with.
func (c *clientConn) hold(h *held) {
	c.mu.Lock()
	c.x = h
	c.mu.Unlock()
}

// release gives the exchange back to the pool, once its answer is written or
// never will be.
func (c *clientConn) release() {
	c.mu.Lock()
	h := c.x
	c.x = nil
	c.mu.Unlock()
	if h != nil {
		h.recycle()
	}
}

func (h *held) recycle() {
	h.exchange.reset()
	h.face.Release()
	heldExchanges.Put(h)
}

// stateChanged is told by net/http what a connection is doing.
func stateChanged(nc net.Conn, state http.ConnState) {
	if c, ok := nc.(*clientConn); ok && (state == http.StateIdle || state == http.StateClosed) {
		c.release()
	}
}

// ServeHTTP is the door's face towards net/http.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := heldExchanges.Get().(*held)
	h.face.Bind(&h.Exchange, w, r)
	c, _ := r.Context().Value(connKey{}).(*clientConn)
	if r.ProtoMajor == 1 && c != nil {
		s.serveHTTP1(c, h, w, r)
		return
	}
	h.face.Keep = false
	release := proxy.CancelWith(r.Context(), &h.Exchange)
	s.door.serve(&h.exchange)
	release()
	cut := h.Cut
	h.face.Keep = true
	h.recycle()
	if cut {
		proxy.Abort(w, r)
	}
}

func (s *server) serveHTTP1(c *clientConn, h *held, w http.ResponseWriter, r *http.Request) {
	if h.Target != "" && h.Target[0] != '/' && h.Target != "*" && h.Method != "CONNECT" {
		h.absolute(c)
	}
	c.hold(h)
	s.door.serve(&h.exchange)
	switch cut := h.Cut; {
	case cut:
		c.release()
		proxy.Abort(w, r)
	case h.Upgraded:
		c.release()
	}
}

// absolute turns a target in absolute form, RFC 9112 section 3.2.2, into
// origin form when the Host beside it agrees. Otherwise the Host is emptied,
// and the request refused for it.
func (h *held) absolute(c *clientConn) {
	host, found := c.hostOf(h.Target)
	authority, ok := strings.CutPrefix(h.Target, h.Scheme+"://")
	path := "/"
	if i := strings.IndexAny(authority, "/?"); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if !ok || !found || !strings.EqualFold(authority, host) {
		h.Host = ""
		return
	}
	if path[0] == '?' {
		path = "/" + path
	}
	h.Target = path
}

// withConn makes a connection known to its requests.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, nc)
}

const (
	// maxHead bounds the head of a request.
	maxHead = 64 << 10
	// headTimeout is how long a client may take to send a head.
	headTimeout = 10 * time.Second
	// idleTimeout is how long a connection may be unused.
	idleTimeout = 75 * time.Second
)

// newHTTPServer returns the net/http server of the public listeners.
func newHTTPServer(s *server) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:                      s,
		Protocols:                    protocols,
		ReadHeaderTimeout:            headTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHead - 4096, // net/http adds as much
		ConnContext:                  withConn,
		ConnState:                    stateChanged,
		ErrorLog:                     s.door.errorLog(),
		DisableGeneralOptionsHandler: true,
	}
}
