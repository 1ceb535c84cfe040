package proxy

import (
	"context"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// A Client is the side of an exchange that an answer is written to. One
// goroutine calls it; an error from any method means that the client is gone.
//
// The strings of the fields that it is handed live in the exchange's buffer:
// they are valid until [Exchange.Reset], and a Client that needs them for
// longer copies them.
type Client interface {
	// Informational writes a 1xx answer other than 100 and 101.
	Informational(status int, fields []Field) error

	// Head begins the final answer. fields holds no hop-by-hop field and no
	// Transfer-Encoding; length is that of the body, or -1 when it is not known
	// or the answer has none by definition.
	Head(status int, fields []Field, length int64) error

	// Room returns about how much of the body Write takes without waiting for
	// the client, and waits for it before that is nothing. A Client that cannot
	// know returns a large number at once.
	Room() (int, error)

	// Write writes a part of the body; p is the caller's again afterwards.
	Write(p []byte) (int, error)

	// Flush sends what was written on its way.
	Flush() error

	// Trailer adds fields behind a body of unknown length.
	Trailer(fields []Field)

	// Duplex is called before the answer begins while the request's body may
	// still be on its way: the body stays readable after Head. A Client whose
	// Head is called before the body was read to its end must not use the
	// connection for another request: what is left of the body would be taken
	// for one.
	Duplex()

	// StopReading makes a Read of the request's body that is waiting, and every
	// later one, return an error. It may be called by another goroutine.
	StopReading()

	// Tunnel takes the connection over: what it returns is the caller's to
	// close, and reads first what the client has already sent. fields were set
	// for the answer outside of the exchange; the 101 holds them too. The Client
	// is not used again.
	Tunnel() (t Tunnel, fields []Field, err error)
}

// A Tunnel is a connection that has left HTTP behind.
type Tunnel interface {
	io.ReadWriteCloser
	CloseWrite() error
	SetDeadline(t time.Time) error
}

// An Exchange is one request and what became of it. The zero value is ready to
// be filled; [Exchange.Reset] makes it ready again. It may be kept in a pool
// but must not be copied. Only [Exchange.Cancel] may be called by another
// goroutine while [Proxy.Serve] runs.
type Exchange struct {
	// The request, set by whoever received it. Header holds the fields as they
	// came, hop-by-hop ones included and Host excluded.
	Method   string
	Target   string // in origin form: the escaped path, "?" and the query
	Host     string // as the client named it, with the port if it did
	Scheme   string // of the client's connection: "http" or "https"
	HTTP10   bool   // the client speaks HTTP/1.0: no 1xx, no chunks
	HTTP2    bool   // the client speaks HTTP/2: no Upgrade
	Header   []Field
	Length   int64                     // of the body: 0 without one, -1 when it is not known
	Body     io.Reader                 // nil without a body; its first Read tells a client that waits for 100 to go on
	Trailers func(dst []Field) []Field // appends those of the body, once it was read; nil without any
	Peer     netip.Addr                // the other end of the client's connection
	Client   Client

	// How it is to be carried.
	Timeout time.Duration // how long the upstream may be silent; 0 means DefaultTimeout
	Upgrade []string      // upgrade tokens that may pass, in lower case
	Send    []Field       // set in the request, replacing what the client sent by these names
	Answer  []Field       // set in the answer, replacing what the upstream sent by these names

	// Context is the caller's own, for its Hook.
	Context any

	// What became of it, set by Serve.
	Server   *Server // the server it was sent to, the last one if there were several
	Status   int     // sent to the client; 499 when it left before there was one
	Began    bool    // the final answer's head was handed to the Client
	BodySent int64   // bytes of the answer's body handed to the Client
	BodyRead int64   // bytes of the request's body read from the Client
	Retried  bool    // sent a second time, on a new connection
	Upgraded bool    // the connection became a tunnel
	Cut      bool    // the answer had begun and could not be finished: the caller must break the connection

	// Waited is the time that Server has taken: from the choice of the server
	// to the head of its final response, plus each later wait for a part of the
	// body. It excludes the time that the client takes to read the response. It
	// is zero if the server sent no response, unless the wait for it ended with
	// the timeout or because the client left.
	Waited time.Duration

	Err error // why the exchange failed, an *Error; nil when the upstream's answer was carried whole

	mu        sync.Mutex
	conn      *conn // guarded by mu, as the next two: what Cancel interrupts
	tunnel    Tunnel
	stopDial  context.CancelFunc
	cancelled atomic.Bool

	transfer          transfer
	upload            *upload // carries a body that is not short
	head              []byte  // the request as sent upstream: its head, and its body when that is short
	headEnd           int     // where the head ends in head
	answer            answer
	framing           requestFraming
	connectionOptions []string // names listed by Connection, of the request and then of the answer
	fields            []Field  // the answer's fields as handed to the Client
}

// Reset forgets the exchange but keeps its buffers. The strings that a Client
// was given are not valid any more.
func (x *Exchange) Reset() {
	x.Method, x.Target, x.Host, x.Scheme = "", "", "", ""
	x.HTTP10, x.HTTP2 = false, false
	x.Header = keep(x.Header)
	x.Length, x.Body, x.Trailers = 0, nil, nil
	x.Peer, x.Client = netip.Addr{}, nil
	x.Timeout, x.Upgrade = 0, nil
	x.Send, x.Answer = keep(x.Send), keep(x.Answer)
	x.Server, x.Status = nil, 0
	x.Began, x.Retried, x.Upgraded, x.Cut = false, false, false, false
	x.BodySent, x.BodyRead, x.Waited = 0, 0, 0
	x.Err = nil
	x.conn, x.tunnel, x.upload = nil, nil, nil
	x.transfer = transfer{}
	x.cancelled.Store(false)
	x.head, x.headEnd = keepBytes(x.head), 0
	x.answer.reset()
	x.framing = requestFraming{}
	clear(x.connectionOptions)
	x.connectionOptions = x.connectionOptions[:0]
	x.fields = keep(x.fields)
}

// ResponseHeader returns the fields of the final response as the Client got
// them, or nil if none began. They are valid until Reset.
func (x *Exchange) ResponseHeader() []Field {
	if !x.Began && !x.Upgraded {
		return nil
	}
	return x.fields
}

// Cancel ends the exchange because its client is gone or will wait no longer:
// the upstream connection is given up, and Serve returns soon after. It may be
// called at any time, by any goroutine, more than once.
func (x *Exchange) Cancel() {
	x.cancelled.Store(true)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn != nil {
		x.conn.interrupt()
	}
	if x.tunnel != nil {
		x.tunnel.SetDeadline(past)
	}
	if x.stopDial != nil {
		x.stopDial()
	}
}

// attach makes c the connection that Cancel interrupts; nil detaches it.
func (x *Exchange) attach(c *conn) {
	x.mu.Lock()
	x.conn = c
	x.mu.Unlock()
}

// beginDial returns a context for dialling, which Cancel ends; so does the
// function that has to be called in the end.
func (x *Exchange) beginDial(timeout time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	x.mu.Lock()
	x.stopDial = cancel
	x.mu.Unlock()
	if x.cancelled.Load() {
		cancel()
	}
	return ctx, func() {
		x.mu.Lock()
		x.stopDial = nil
		x.mu.Unlock()
		cancel()
	}
}

// arm gives the connection timeout from now for its next reads and writes,
// unless somebody interrupted it for good, which arm must not undo. It returns
// the current time.
func (x *Exchange) arm(c *conn, timeout time.Duration) time.Time {
	now := time.Now()
	c.arm(now, timeout)
	if x.cancelled.Load() || x.upload.fault() != nil {
		c.interrupt()
	}
	return now
}

func (x *Exchange) timeout() time.Duration {
	if x.Timeout > 0 {
		return x.Timeout
	}
	return DefaultTimeout
}

// past is a deadline that has expired.
var past = time.Unix(1, 0)
