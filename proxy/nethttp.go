package proxy

import (
	"bufio"
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// HTTP is the face of an Exchange towards net/http: a Client that answers
// through an http.ResponseWriter. It may be kept together with its Exchange
// and used again.
type HTTP struct {
	// Keep says that the exchange is reset only after net/http has written the
	// answer, which is later than the return of its handler. The answer's
	// strings are then used as they are; otherwise they are copied.
	Keep bool

	x      *Exchange
	w      http.ResponseWriter
	r      *http.Request
	duplex bool
	values []string

	trailers func([]Field) []Field // requestTrailers, made once: it would be an allocation for each request
}

// Bind makes x the exchange of a request that net/http received, and h its
// client. Neither may be used after the handler has returned, except for the
// strings that Keep speaks of.
func (h *HTTP) Bind(x *Exchange, w http.ResponseWriter, r *http.Request) {
	h.x, h.w, h.r = x, w, r
	x.Client = h
	x.Method, x.Host = r.Method, r.Host
	x.Target = r.RequestURI
	x.Scheme = "http"
	if r.TLS != nil {
		x.Scheme = "https"
	}
	x.HTTP10 = !r.ProtoAtLeast(1, 1)
	x.HTTP2 = r.ProtoMajor == 2
	for name, values := range r.Header {
		for _, value := range values {
			x.Header = append(x.Header, Field{name, value})
		}
	}
	x.Length = r.ContentLength
	if x.Length != 0 {
		x.Body = r.Body
		if h.trailers == nil {
			h.trailers = h.requestTrailers
		}
		x.Trailers = h.trailers
		if len(r.Trailer) > 0 {
			x.Header = append(x.Header, Field{"Trailer", trailerNames(r.Trailer)})
		}
	}
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		x.Peer = ap.Addr().WithZone("").Unmap()
	}
}

// Release lets go of the request that h was bound to, for the next Bind.
func (h *HTTP) Release() {
	clear(h.values)
	h.x, h.w, h.r, h.duplex, h.values = nil, nil, nil, false, h.values[:0]
}

func trailerNames(trailer http.Header) string {
	var names string
	for name := range trailer {
		if names != "" {
			names += ", "
		}
		names += name
	}
	return names
}

// requestTrailers appends the trailers of the request. Over HTTP/1, net/http adds
// those that were not announced to r.Trailer, over HTTP/2 it drops them.
func (h *HTTP) requestTrailers(dst []Field) []Field {
	for name, values := range h.r.Trailer {
		for _, value := range values {
			dst = append(dst, Field{name, value})
		}
	}
	return dst
}

// Informational writes a 1xx answer.
func (h *HTTP) Informational(status int, fields []Field) error {
	h.set(fields)
	h.w.WriteHeader(status)
	clear(h.w.Header())
	return nil
}

// Head begins the final answer.
func (h *HTTP) Head(status int, fields []Field, length int64) error {
	h.set(fields)
	if h.duplex && !h.x.bodyEnded() {
		h.closeAfterwards()
	}
	header := h.w.Header()
	if _, ok := header["Content-Type"]; !ok {
		header["Content-Type"] = nil // what the upstream does not say is not guessed
	}
	h.w.WriteHeader(status)
	return nil
}

// set puts the fields into net/http's header. The slices that it wants for
// the values are cut from one array that is used again and again.
func (h *HTTP) set(fields []Field) {
	header := h.w.Header()
	for _, f := range fields {
		name, value := f.Name, f.Value
		if !h.Keep {
			name, value = http.CanonicalHeaderKey(string([]byte(name))), string([]byte(value))
		}
		if already := header[name]; already != nil {
			header[name] = append(already, value)
			continue
		}
		h.values = append(h.values, value)
		n := len(h.values)
		header[name] = h.values[n-1 : n : n]
	}
}

// Room does not know: net/http does not say.
func (h *HTTP) Room() (int, error) { return math.MaxInt, nil }

// Write writes a part of the body.
func (h *HTTP) Write(p []byte) (int, error) { return h.w.Write(p) }

// Flush sends what was written.
func (h *HTTP) Flush() error {
	if f, ok := h.w.(interface{ FlushError() error }); ok {
		return f.FlushError()
	}
	return http.NewResponseController(h.w).Flush()
}

// Trailer adds fields behind the body, announced or not.
func (h *HTTP) Trailer(fields []Field) {
	for _, f := range fields {
		h.w.Header().Add(http.TrailerPrefix+string([]byte(f.Name)), string([]byte(f.Value)))
	}
}

// Duplex keeps net/http from reading the rest of the body by itself. It is not
// needed, and not to be had, for HTTP/2.
func (h *HTTP) Duplex() {
	if h.r.ProtoMajor == 1 {
		h.duplex = true
		http.NewResponseController(h.w).EnableFullDuplex()
	}
}

// closeAfterwards has net/http close the connection behind the answer. In full
// duplex it does not see to that by itself, and would take what is left of the
// body for the next request. MaxBytesReader is the way to it that also waits
// before it closes: a client that is still sending would otherwise be reset,
// and lose the answer.
func (h *HTTP) closeAfterwards() {
	tooLong := io.NopCloser(strings.NewReader("..."))
	http.MaxBytesReader(h.w, tooLong, 1).Read(make([]byte, 3))
	h.w.Header().Set("Connection", "close") // where h.w is not net/http's own
}

// StopReading makes reads of the body fail.
func (h *HTTP) StopReading() {
	http.NewResponseController(h.w).SetReadDeadline(past)
}

// Tunnel hijacks the connection. Its fields are those of the ResponseWriter,
// where middleware has set them.
func (h *HTTP) Tunnel() (Tunnel, []Field, error) {
	var fields []Field
	for name, values := range h.w.Header() {
		for _, value := range values {
			fields = append(fields, Field{name, value})
		}
	}
	nc, rw, err := http.NewResponseController(h.w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &hijacked{Conn: nc, buffered: rw.Reader}, fields, nil
}

// hijacked is a connection that net/http has let go of, with what it had read.
type hijacked struct {
	net.Conn
	buffered *bufio.Reader
}

func (c *hijacked) Read(p []byte) (int, error) {
	if c.buffered.Buffered() > 0 {
		return c.buffered.Read(p)
	}
	return c.Conn.Read(p)
}

func (c *hijacked) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// faces keeps exchanges with their face for ServeHTTP.
var handlerPool = sync.Pool{New: func() any { return new(pooledExchange) }}

type pooledExchange struct {
	Exchange
	HTTP
}

// ServeHTTP serves one request. It panics with http.ErrAbortHandler, as
// net/http wants it, when the answer cannot be finished.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := handlerPool.Get().(*pooledExchange)
	f.Bind(&f.Exchange, w, r)
	if r.Method != http.MethodConnect {
		f.Exchange.Target = r.URL.RequestURI() // which handlers in front may have changed
	}
	f.Exchange.Timeout = p.Timeout
	if f.Exchange.Upgrade = p.Upgrade; p.Upgrade == nil {
		f.Exchange.Upgrade = defaultUpgrade
	}
	release := CancelWith(r.Context(), &f.Exchange)
	p.Serve(&f.Exchange)
	release()
	cut := f.Exchange.Cut
	f.Exchange.Reset()
	f.HTTP.Release()
	handlerPool.Put(f)
	if cut {
		Abort(w, r)
	}
}

var defaultUpgrade = []string{"websocket"}

// CancelWith cancels the exchange when ctx is done, until the function that it
// returns was called: afterwards the exchange is not touched.
func CancelWith(ctx context.Context, x *Exchange) (release func()) {
	var mu sync.Mutex
	over := false
	stop := context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			x.Cancel()
		}
	})
	return func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// Abort breaks the connection, or the HTTP/2 stream, that r came on. It does
// not return: it panics with http.ErrAbortHandler. An answer to HTTP/1.0 may
// end where its connection does, so there the connection is reset: closed, the
// answer would look whole.
func Abort(w http.ResponseWriter, r *http.Request) {
	if !r.ProtoAtLeast(1, 1) {
		if nc, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if tcp, ok := nc.(interface{ SetLinger(sec int) error }); ok {
				tcp.SetLinger(0)
			}
			nc.Close()
		}
	}
	panic(http.ErrAbortHandler)
}
