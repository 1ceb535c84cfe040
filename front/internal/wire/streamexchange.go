package wire

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/front/internal/pacing"
	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/httphead"
	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/internal/transport"
)

// A messageStream is a stream of HTTP/2 or HTTP/3.
type messageStream interface {
	pacing.Conn
	NewHead() *httphead.Block
	Bind(interface{ Cancel() })
	ReadInto(transport.Space) (int, error)
	Trailers() []hpack.HeaderField
	SendInterim(*httphead.Block) error
	SendHead(h *httphead.Block, end bool) error
	Write(p []byte, end bool) (int, error)
	Room() (int, error)
	Flush() error
	Close()
}

// A streamExchange is an exchange over HTTP/2 or HTTP/3. It is the task that serves the request, and the
// [proxying.Client] of the exchange. Its strings belong to the stream.
type streamExchange struct {
	Exchange
	server   *shared
	listener *listenerState
	stream   messageStream
	http2    *http2.Conn // asks for another connection while the listener drains; nil over HTTP/3
	body     streamBody

	framed  responseBody // of the response
	left    int64        // bytes of the body that are to be written, if framed is sizedBody
	ended   bool         // the response is complete
	trailer []proxying.Field

	trailers func([]proxying.Field) []proxying.Field // appendTrailers, made once to save an allocation per request
}

// newStreamExchange returns an exchange of the server's pool.
func (s *shared) newStreamExchange() any {
	x := new(streamExchange)
	s.Attach(&x.Exchange)
	x.trailers = x.appendTrailers
	return x
}

// fill sets the request from the head of a stream.
func (x *streamExchange) fill(server *shared, l *listenerState, s messageStream, r *httphead.Request) {
	x.server, x.listener, x.stream = server, l, s
	x.Method, x.Target, x.Host = r.Method, r.Path, r.Authority
	if r.Method == http.MethodConnect {
		x.Target = r.Authority
	}
	for i := range r.Fields {
		x.Header = append(x.Header, proxying.Field{Name: r.Fields[i].Name, Value: r.Fields[i].Value})
	}
	if x.Length = r.Length; x.Length != 0 {
		x.Body, x.Trailers = &x.body, x.trailers
		x.body = streamBody{stream: s, mustContinue: r.Continue}
	}
	x.AltSvc = l.alt()
	x.Pacer.Begin(s, time.Time{}, time.Time{})
	x.Client = x
	s.Bind(x)
}

// Run implements transport.Task. It serves the request.
func (x *streamExchange) Run() {
	x.server.Serve(&x.Exchange)
	if !x.Cut {
		x.Pacer.AllowLastWrite()
		x.end()
	}
	x.release()
}

// release ends the use of the stream.
func (x *streamExchange) release() {
	x.stream.Close() // nothing cancels x afterwards
	x.Exchange.reset()
	pool := &x.server.streamExchanges
	x.server, x.listener, x.stream, x.http2 = nil, nil, nil, nil
	x.body, x.trailer = streamBody{}, nil
	x.framed, x.left, x.ended = noBody, 0, false
	pool.Put(x)
}

// end sends the end of a complete response. If bytes of the body are missing, the stream is
// reset when it is closed.
func (x *streamExchange) end() {
	switch {
	case x.ended || x.framed == sizedBody && x.left > 0:
	case len(x.trailer) > 0:
		h := x.stream.NewHead()
		addFieldsTo(h, x.trailer)
		x.stream.SendHead(h, true)
	default:
		x.stream.Write(nil, true)
	}
}

// Informational implements proxying.Client.
func (x *streamExchange) Informational(status int, fields []proxying.Field) error {
	h := x.stream.NewHead()
	h.Status(status)
	addFieldsTo(h, fields)
	return x.stream.SendInterim(h)
}

func addFieldsTo(h *httphead.Block, fields []proxying.Field) {
	for i := range fields {
		h.Add(fields[i].Name, fields[i].Value)
	}
}

// Head implements proxying.Client. While the listener drains, the client is asked to make another
// connection, except over HTTP/3.
func (x *streamExchange) Head(status int, fields []proxying.Field, length int64) error {
	if x.http2 != nil && x.listener.draining.Load() {
		x.http2.Drain()
	}
	x.framed, x.left = bodyOf(x.Method, status, length), max(length, 0)
	h := x.stream.NewHead()
	h.Status(status)
	head := responseHead{status: status}
	for i := range fields {
		if head.passes(&fields[i]) {
			h.Add(fields[i].Name, fields[i].Value)
		}
	}
	if !head.dated {
		h.Add("date", currentDate())
	}
	if x.framed == sizedBody && !head.sized && length > 0 {
		h.Add("content-length", strconv.FormatInt(length, 10))
	}
	x.ended = x.framed == noBody || x.framed == sizedBody && x.left == 0
	return x.stream.SendHead(h, x.ended)
}

// Room implements proxying.Client.
func (x *streamExchange) Room() (int, error) { return x.stream.Room() }

// Write implements proxying.Client.
func (x *streamExchange) Write(p []byte) (int, error) {
	switch {
	case len(p) == 0 || x.framed == noBody:
		return len(p), nil
	case x.framed == chunkedBody:
		return x.stream.Write(p, false)
	case int64(len(p)) > x.left:
		return 0, errBodyLength
	}
	last := int64(len(p)) == x.left
	n, err := x.stream.Write(p, last)
	x.left -= int64(n)
	x.ended = last && err == nil
	return n, err
}

// Flush implements proxying.Client.
func (x *streamExchange) Flush() error { return x.stream.Flush() }

// Trailer implements proxying.Client.
func (x *streamExchange) Trailer(fields []proxying.Field) { x.trailer = fields }

// Duplex implements proxying.Client. The directions of a stream are independent.
func (x *streamExchange) Duplex() {}

// StopReading implements proxying.Client.
func (x *streamExchange) StopReading() { x.stream.SetReadDeadline(past) }

// Tunnel implements proxying.Client.
func (x *streamExchange) Tunnel() (proxying.Tunnel, []proxying.Field, error) {
	return nil, nil, errStreamTunnel
}

var errStreamTunnel = errors.New("a stream of HTTP/2 or HTTP/3 cannot be upgraded")

// appendTrailers appends the trailers of the request, whose body was read to its end.
func (x *streamExchange) appendTrailers(dst []proxying.Field) []proxying.Field {
	for _, f := range x.stream.Trailers() {
		dst = append(dst, proxying.Field{Name: f.Name, Value: f.Value})
	}
	return dst
}

// A streamBody is the body of a request over HTTP/2 or HTTP/3. It is a [proxying.SpaceReader].
type streamBody struct {
	stream       messageStream
	mustContinue bool // the client waits for 100
	fixed        fixedSpace
}

// Read implements io.Reader.
func (b *streamBody) Read(p []byte) (int, error) { return b.fixed.read(b, p) }

// ReadInto implements proxying.SpaceReader. The first call sends 100 to a client that waits for it.
func (b *streamBody) ReadInto(s transport.Space) (int, error) {
	if b.mustContinue {
		b.mustContinue = false
		h := b.stream.NewHead()
		h.Status(http.StatusContinue)
		if err := b.stream.SendInterim(h); err != nil {
			return 0, err
		}
	}
	return b.stream.ReadInto(s)
}
