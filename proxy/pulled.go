package proxy

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weirhq/weir/internal/proxying"
)

// A pulled is a Client whose response is read by another goroutine than that of the exchange.
type pulled struct {
	proxying.Client // gets all but the response
	x               *proxying.Exchange
	r               *http.Request
	begin           func()              // called before the response, if not nil
	resp            chan *http.Response // gets the response, or is closed without one
	body            pulledBody
	to              *io.PipeWriter
	once            sync.Once     // of finish
	over            chan struct{} // closed by finish

	mu      sync.Mutex // guards the fields below
	waiting bool       // the exchange waits for the server
	closed  bool       // the body is not read any more
}

// newPulled returns a client of x, for the request r.
func newPulled(x *proxying.Exchange, r *http.Request, client proxying.Client) *pulled {
	p := &pulled{Client: client, x: x, r: r, resp: make(chan *http.Response, 1), over: make(chan struct{})}
	p.body.PipeReader, p.to = io.Pipe()
	p.body.trailer = make(http.Header)
	return p
}

// serve serves the exchange with p as its client. The body of the response may end earlier than that of the request, for
// which the exchange waits.
func (p *pulled) serve(inner *proxying.Proxy) {
	defer p.finish(errPanicked) // has no effect after Responded
	p.x.Client = p
	inner.Responded = func(*proxying.Exchange) { p.finish(p.errorOf()) }
	inner.Serve(p.x)
}

// finish ends the body of the response with an error, or with io.EOF if it is nil. Only the first call has an effect.
func (p *pulled) finish(err error) {
	p.once.Do(func() {
		p.to.CloseWithError(err)
		close(p.over)
		close(p.resp)
	})
}

// errorOf returns why the exchange failed, or nil. If its context was over, that is the cause.
func (p *pulled) errorOf() error {
	err := errorOf(p.x.Err)
	var failure *Error
	cause := context.Cause(p.r.Context())
	switch {
	case !errors.As(err, &failure):
	case failure.Kind == Overdue:
		failure.Err = cmp.Or(cause, context.DeadlineExceeded) // the context may notice it a moment later
	case failure.Kind == ClientGone && cause != nil:
		failure.Err = cause
	}
	return err
}

var errPanicked = errors.New("the exchange has panicked")

// end ends the exchange if the body of its response was not read to the end, and waits for it. The caller may have read
// all bytes, but not io.EOF. So an exchange that does not wait for the server is not cancelled: its connection is kept if
// the response is complete, also for the next request of the caller.
func (p *pulled) end() {
	p.body.Close()
	if p.body.ended.Load() {
		return
	}
	p.mu.Lock()
	p.closed = true
	waiting := p.waiting
	p.mu.Unlock()
	if waiting {
		p.x.Cancel()
	}
	<-p.over
}

// noteWaiting records whether the exchange waits for the server. It reports whether the body is not read any more.
func (p *pulled) noteWaiting(waiting bool) (closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = waiting
	return p.closed
}

// A pulledBody is the body of a response.
type pulledBody struct {
	*io.PipeReader
	ended   atomic.Bool // it was read to its end, or there is none
	trailer http.Header // belongs to the exchange until the end of the body
	resp    *http.Response
}

func (b *pulledBody) Read(p []byte) (int, error) {
	n, err := b.PipeReader.Read(p)
	if err == nil || err == io.ErrClosedPipe {
		return n, err
	}
	b.ended.Store(true)
	if err == io.EOF && len(b.trailer) > 0 {
		if b.resp.Trailer == nil {
			b.resp.Trailer = make(http.Header)
		}
		maps.Copy(b.resp.Trailer, b.trailer)
	}
	return n, err
}

// Head implements proxying.Client.
func (p *pulled) Head(status int, fields []proxying.Field, length int64) error {
	if p.begin != nil {
		p.begin()
	}
	resp := &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, len(fields)), ContentLength: length, Body: &p.body, Request: p.r,
	}
	var http2 bool
	if resp.TLS, http2 = p.x.ServerConn(); http2 {
		resp.Proto, resp.ProtoMajor, resp.ProtoMinor = "HTTP/2.0", 2, 0
	}
	for _, f := range fields {
		resp.Header.Add(strings.Clone(f.Name), strings.Clone(f.Value))
	}
	for _, list := range resp.Header["Trailer"] {
		proxying.Elements(list, func(name string) bool {
			if resp.Trailer == nil {
				resp.Trailer = make(http.Header)
			}
			resp.Trailer[http.CanonicalHeaderKey(name)] = nil
			return true
		})
	}
	delete(resp.Header, "Trailer")
	if p.r.Method == http.MethodHead || status == 204 || status == 304 {
		resp.Body, resp.ContentLength = http.NoBody, 0
		p.body.ended.Store(true)
	}
	if p.r.Method == http.MethodHead {
		resp.ContentLength = -1
		if n, err := strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64); err == nil {
			resp.ContentLength = n
		}
	}
	p.body.resp = resp
	p.resp <- resp
	return nil
}

// Room implements proxying.Client.
func (p *pulled) Room() (int, error) { return math.MaxInt, nil }

// Write implements proxying.Client.
func (p *pulled) Write(b []byte) (int, error) {
	p.noteWaiting(false)
	return p.to.Write(b)
}

// Flush implements proxying.Client. The exchange calls it before it waits for more of the response, and once after the
// response.
func (p *pulled) Flush() error {
	select {
	case <-p.over:
	default:
		if p.noteWaiting(true) {
			return io.ErrClosedPipe
		}
	}
	return p.Client.Flush()
}

// Trailer implements proxying.Client.
func (p *pulled) Trailer(fields []proxying.Field) {
	for _, f := range fields {
		p.body.trailer.Add(strings.Clone(f.Name), strings.Clone(f.Value))
	}
}
