package front

import (
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/proxy"
)

// An http2Exchange is an exchange over HTTP/2. It is the task that serves the request, and the
// [proxy.Client] of the exchange. Its strings belong to the stream.
type http2Exchange struct {
	exchange
	client *http2Client
	stream *http2.Stream
	body   http2Body

	framed  responseBody // of the response
	left    int64        // bytes of the body that are to be written, if framed is sizedBody
	ended   bool         // the response is complete
	trailer []proxy.Field

	trailers func([]proxy.Field) []proxy.Field // appendTrailers, made once to save an allocation per request
}

var http2Exchanges = sync.Pool{New: func() any {
	x := new(http2Exchange)
	x.sampled = startSampling(eventsPerSample)
	x.Context = &x.exchange
	x.trailers = x.appendTrailers
	return x
}}

// fill sets the request from the head of a stream.
func (x *http2Exchange) fill(h *http2Client, s *http2.Stream) {
	r := &s.Request
	x.client, x.stream = h, s
	x.Driver = h.driver
	x.HTTP2 = true
	x.Method, x.Target, x.Host, x.Scheme = r.Method, r.Path, r.Authority, h.client.scheme
	if r.Method == http.MethodConnect {
		x.Target = r.Authority
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		x.Header = append(x.Header, proxy.Field{Name: f.Name, Value: f.Value})
	}
	if x.Length = r.Length; x.Length != 0 {
		x.Body, x.Trailers = &x.body, x.trailers
		x.body = http2Body{stream: s, mustContinue: r.Continue}
	}
	x.Peer, x.PeerPort, x.tls = h.client.peer, h.client.port, h.client.tls
	x.altSvc = h.client.listener.altSvc()
	x.pacer.conn = s
	x.Client = x
}

// Run implements transport.Task. It serves the request.
func (x *http2Exchange) Run() {
	x.client.client.server.door.serve(&x.exchange)
	if !x.Cut {
		x.pacer.allowLastWrite()
		x.end()
	}
	x.stream.Close() // nothing cancels x afterwards
	x.exchange.reset()
	x.client, x.stream, x.body, x.trailer = nil, nil, http2Body{}, nil
	x.framed, x.left, x.ended = noBody, 0, false
	http2Exchanges.Put(x)
}

// end sends the end of a complete response. If bytes of the body are missing, the stream is
// reset when it is closed.
func (x *http2Exchange) end() {
	switch {
	case x.ended || x.framed == sizedBody && x.left > 0:
	case len(x.trailer) > 0:
		h := http2.NewHead()
		addFieldsTo(h, x.trailer)
		x.stream.SendHead(h, true)
	default:
		x.stream.Write(nil, true)
	}
}

// Informational implements proxy.Client.
func (x *http2Exchange) Informational(status int, fields []proxy.Field) error {
	h := http2.NewHead()
	h.Status(status)
	addFieldsTo(h, fields)
	return x.stream.SendInterim(h)
}

func addFieldsTo(h *http2.Head, fields []proxy.Field) {
	for i := range fields {
		h.Add(fields[i].Name, fields[i].Value)
	}
}

// Head implements proxy.Client. While the listener drains, the client is asked to make another
// connection.
func (x *http2Exchange) Head(status int, fields []proxy.Field, length int64) error {
	if x.client.client.listener.draining.Load() {
		x.client.conn.Drain()
	}
	x.framed, x.left = bodyOf(x.Method, status, length), max(length, 0)
	h := http2.NewHead()
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

// Room implements proxy.Client.
func (x *http2Exchange) Room() (int, error) { return x.stream.Room() }

// Write implements proxy.Client.
func (x *http2Exchange) Write(p []byte) (int, error) {
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

// Flush implements proxy.Client.
func (x *http2Exchange) Flush() error { return x.stream.Flush() }

// Trailer implements proxy.Client.
func (x *http2Exchange) Trailer(fields []proxy.Field) { x.trailer = fields }

// Duplex implements proxy.Client. The directions of a stream are independent.
func (x *http2Exchange) Duplex() {}

// StopReading implements proxy.Client.
func (x *http2Exchange) StopReading() { x.stream.SetReadDeadline(past) }

// Tunnel implements proxy.Client.
func (x *http2Exchange) Tunnel() (proxy.Tunnel, []proxy.Field, error) {
	return nil, nil, errStreamTunnel
}

var errStreamTunnel = errors.New("a stream of HTTP/2 cannot be upgraded")

// appendTrailers appends the trailers of the request, whose body was read to its end.
func (x *http2Exchange) appendTrailers(dst []proxy.Field) []proxy.Field {
	for _, f := range x.stream.Trailers() {
		dst = append(dst, proxy.Field{Name: f.Name, Value: f.Value})
	}
	return dst
}

// An http2Body is the body of a request over HTTP/2. It is a [proxy.SpaceReader].
type http2Body struct {
	stream       *http2.Stream
	mustContinue bool // the client waits for 100
	fixed        fixedSpace
}

// Read implements io.Reader.
func (b *http2Body) Read(p []byte) (int, error) { return b.fixed.read(b, p) }

// ReadInto implements proxy.SpaceReader. The first call sends 100 to a client that waits for it.
func (b *http2Body) ReadInto(s transport.Space) (int, error) {
	if b.mustContinue {
		b.mustContinue = false
		h := http2.NewHead()
		h.Status(http.StatusContinue)
		if err := b.stream.SendInterim(h); err != nil {
			return 0, err
		}
	}
	return b.stream.ReadInto(s)
}
