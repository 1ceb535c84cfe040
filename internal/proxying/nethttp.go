package proxying

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/weirhq/weir/internal/transport"
)

// HTTP connects an Exchange to net/http: a Client that responds through an
// http.ResponseWriter. It may be kept and reused together with its Exchange.
type HTTP struct {
	x      *Exchange
	w      http.ResponseWriter
	r      *http.Request
	duplex bool
	body   handlerBody

	trailers func([]Field) []Field // requestTrailers, made once to save an allocation per request
}

// bind fills x from a request that net/http received, and makes h its client.
// Neither may be used after the handler has returned.
func (h *HTTP) bind(x *Exchange, w http.ResponseWriter, r *http.Request) {
	h.x, h.w, h.r = x, w, r
	x.Client = h
	x.Method, x.Host = r.Method, r.Host
	x.Target = r.RequestURI
	x.Scheme = "http"
	if r.TLS != nil {
		x.Scheme = "https"
	}
	x.HTTP10 = !r.ProtoAtLeast(1, 1)
	x.HTTP2, x.HTTP3 = r.ProtoMajor == 2, r.ProtoMajor == 3
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
		x.Peer, x.PeerPort = ap.Addr().WithZone("").Unmap(), ap.Port()
	}
}

// release releases the request that h was bound to, for the next bind.
func (h *HTTP) release() {
	h.x, h.w, h.r, h.duplex = nil, nil, nil, false
	h.body = handlerBody{}
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

// requestTrailers appends the trailers of the request. Over HTTP/1, net/http
// adds trailers that were not announced to r.Trailer; over HTTP/2 it drops
// them.
func (h *HTTP) requestTrailers(dst []Field) []Field {
	for name, values := range h.r.Trailer {
		for _, value := range values {
			dst = append(dst, Field{name, value})
		}
	}
	return dst
}

// Informational writes a 1xx response. It keeps the fields that middleware has
// set for the final response.
func (h *HTTP) Informational(status int, fields []Field) error {
	header := h.w.Header()
	outside := maps.Clone(header)
	h.set(fields)
	h.w.WriteHeader(status)
	clear(header)
	maps.Copy(header, outside)
	return nil
}

// Head begins the final response.
func (h *HTTP) Head(status int, fields []Field, length int64) error {
	h.Prepare()
	h.Begin(status, fields)
	return nil
}

// Begin is Head after Prepare. It may be called in another goroutine than that of the exchange.
func (h *HTTP) Begin(status int, fields []Field) {
	h.set(fields)
	header := h.w.Header()
	if _, ok := header["Content-Type"]; !ok {
		header["Content-Type"] = nil // prevents net/http from guessing the type
	}
	h.w.WriteHeader(status)
}

// Prepare prepares the ResponseWriter for a response, also one that does not pass through h.
func (h *HTTP) Prepare() {
	if h.duplex && !h.x.bodyEnded() {
		h.closeAfterwards()
	}
	if h.x.expired.Load() && h.r.ProtoMajor == 1 {
		h.w.Header().Set("Connection", "close") // expire has stopped the reads of the connection
	}
}

// set sets the fields in net/http's header. The slices for their values are cut
// from one array. It is not used again: middleware may keep the header, or the
// values, after the request.
func (h *HTTP) set(fields []Field) {
	header := h.w.Header()
	values := make([]string, len(fields))
	for i, f := range fields {
		name, value := http.CanonicalHeaderKey(string([]byte(f.Name))), string([]byte(f.Value))
		if already := header[name]; already != nil {
			header[name] = append(slices.Clip(already), value)
			continue
		}
		values[i] = value
		header[name] = values[i : i+1 : i+1]
	}
}

// Room returns a large number, because net/http does not expose the real one.
func (h *HTTP) Room() (int, error) { return math.MaxInt, nil }

// Write writes a part of the body.
func (h *HTTP) Write(p []byte) (int, error) { return h.w.Write(p) }

// Flush sends the bytes written so far. A ResponseWriter that cannot do this
// sends them later.
func (h *HTTP) Flush() error {
	if f, ok := h.w.(interface{ FlushError() error }); ok {
		return f.FlushError()
	}
	if err := http.NewResponseController(h.w).Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// Trailer adds trailer fields, announced or not.
func (h *HTTP) Trailer(fields []Field) {
	for _, f := range fields {
		h.w.Header().Add(http.TrailerPrefix+string([]byte(f.Name)), string([]byte(f.Value)))
	}
}

// Duplex prevents net/http from reading the rest of the body itself. HTTP/2
// neither needs nor offers this.
func (h *HTTP) Duplex() {
	if h.r.ProtoMajor == 1 {
		h.duplex = true
		http.NewResponseController(h.w).EnableFullDuplex()
	}
}

// closeAfterwards makes net/http close the connection after the response. In
// full duplex mode it does not do so by itself and would parse the rest of the
// body as the next request. MaxBytesReader is used because it makes net/http
// wait before it closes: otherwise a client that is still sending would get a
// reset and lose the response.
func (h *HTTP) closeAfterwards() {
	tooLong := io.NopCloser(strings.NewReader("..."))
	http.MaxBytesReader(h.w, tooLong, 1).Read(make([]byte, 3))
	h.w.Header().Set("Connection", "close") // needed if h.w is not net/http's own
}

// StopReading makes reads of the body fail. It closes the body if h.w does not
// reach the connection.
func (h *HTTP) StopReading() {
	if http.NewResponseController(h.w).SetReadDeadline(transport.Past) != nil {
		h.r.Body.Close()
	}
}

// expire ends the exchange because the deadline of the request's context has
// passed. Reads of the body are only stopped before its end: afterwards a read of
// net/http's own would fail.
func (h *HTTP) expire() {
	h.x.expire()
	if h.x.Body != nil && !h.body.ended.Load() {
		h.StopReading()
	}
}

// Tunnel hijacks the connection. It returns the fields that middleware has set
// in the ResponseWriter.
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

// hijacked is a connection taken over from net/http, with the bytes that it had
// read.
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

// handlerPool holds exchanges for ServeHTTP.
var handlerPool = sync.Pool{New: func() any { return new(pooledExchange) }}

type pooledExchange struct {
	Exchange
	HTTP
}

// ServeHTTP serves one request. It panics with http.ErrAbortHandler if the
// response cannot be completed, as net/http requires. When it has returned, w and
// r belong to the caller, with the header and its values.
//
// A deadline in the context of r is one of the exchange, which then fails with
// kind Overdue. An *http.MaxBytesError of r.Body is kind TooLarge (413), and an
// error that wraps os.ErrDeadlineExceeded is ClientSlow (408). A body that is
// longer or shorter than its Content-Length is ClientBody (400).
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.Handle(w, r, p.Serve) }

// Handle is ServeHTTP with a function in place of Serve. The function calls Serve. Before, it may change the exchange,
// whose Client is an [HTTP].
func (p *Proxy) Handle(w http.ResponseWriter, r *http.Request, serve func(*Exchange)) {
	f := handlerPool.Get().(*pooledExchange)
	f.bind(&f.Exchange, w, r)
	if f.Exchange.Body != nil {
		f.HTTP.body.r, f.HTTP.body.left = r, r.ContentLength
		f.Exchange.Body = &f.HTTP.body
	}
	if r.Method != http.MethodConnect {
		f.Exchange.Target = r.URL.RequestURI() // handlers in front may have changed it
	}
	f.Exchange.Timeout, f.Exchange.TryTimeout = p.Timeout, p.TryTimeout
	if f.Exchange.Upgrade = p.Upgrade; p.Upgrade == nil {
		f.Exchange.Upgrade = defaultUpgrade
	}
	release := onDone(r.Context(), func() {
		switch {
		case r.Context().Err() == context.DeadlineExceeded:
			f.HTTP.expire()
		case !f.HTTP.body.isLate(): // otherwise the error of the read ends the exchange
			f.Exchange.Cancel()
		}
	})
	serve(&f.Exchange)
	release()
	cut := f.Exchange.Cut
	f.Exchange.Reset()
	f.HTTP.release()
	handlerPool.Put(f)
	if cut {
		abort(w, r)
	}
}

var defaultUpgrade = []string{"websocket"}

// CancelWith cancels the exchange when ctx is done. After the returned function
// was called it does not touch the exchange any more.
func CancelWith(ctx context.Context, x *Exchange) (release func()) { return onDone(ctx, x.Cancel) }

// EndWith is CancelWith for the context of the request itself: after its deadline, the exchange
// fails with kind Overdue.
func EndWith(ctx context.Context, x *Exchange) (release func()) {
	return onDone(ctx, func() {
		if ctx.Err() == context.DeadlineExceeded {
			x.expire()
		} else {
			x.Cancel()
		}
	})
}

// expire cancels the exchange because the deadline of the request's context has passed.
func (x *Exchange) expire() {
	x.expired.Store(true)
	x.Cancel()
}

// onDone calls f when ctx is done, unless the returned function was called, which
// waits for f.
func onDone(ctx context.Context, f func()) (release func()) {
	var mu sync.Mutex
	over := false
	stop := context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			f()
		}
	})
	return func() {
		stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// abort breaks the connection, or the HTTP/2 stream, of r. It does not return:
// it panics with http.ErrAbortHandler. A response to HTTP/1.0 may end with the
// connection, so there abort resets the connection: after a normal close the
// response would look complete.
func abort(w http.ResponseWriter, r *http.Request) {
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
