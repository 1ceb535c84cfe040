package proxying

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/proxying/internal/pool"
	"github.com/weirhq/weir/internal/proxying/internal/response"
	"github.com/weirhq/weir/internal/proxying/internal/upload"
	"github.com/weirhq/weir/internal/transport"
)

// DefaultTimeout applies to exchanges without a Timeout. It limits the time
// that an upstream may be silent, before its response and between two parts of
// it.
const DefaultTimeout = 30 * time.Second

// A Client receives the response of an exchange. Only one goroutine calls it.
// An error from any method means that the client is gone.
//
// The strings of the fields passed to it are views into the exchange's buffer.
// They are valid until [Exchange.Reset]; a Client that needs them longer must
// copy them.
type Client interface {
	// Informational writes a 1xx response other than 100 and 101.
	Informational(status int, fields []Field) error

	// Head begins the final response. fields contains no hop-by-hop field and
	// no Transfer-Encoding. length is the length of the body, or -1 if it is
	// unknown or the response has no body by definition.
	Head(status int, fields []Field, length int64) error

	// Room returns the approximate number of bytes of the body that Write takes
	// without blocking. If that is 0, Room waits for the client. A Client that
	// cannot know returns a large number.
	Room() (int, error)

	// Write writes a part of the body. The caller may reuse p afterwards.
	Write(p []byte) (int, error)

	// Flush sends the bytes written so far.
	Flush() error

	// Trailer adds trailer fields after a body of unknown length.
	Trailer(fields []Field)

	// Duplex is called before the response begins if the request body may not
	// have arrived completely: the body must stay readable after Head. If Head
	// is called before the body was read to its end, the Client must not use
	// the connection for another request, because the rest of the body would be
	// parsed as one.
	Duplex()

	// StopReading makes a blocked Read of the request body, and every later
	// one, return an error. It may be called from another goroutine.
	StopReading()

	// Tunnel takes over the connection. The caller closes t. Reading from t
	// first returns the bytes that the client has already sent. fields are
	// those that were set for the response outside of the exchange; the 101
	// response includes them. The Client is not used again.
	Tunnel() (t Tunnel, fields []Field, err error)
}

// A SpaceReader is a body that needs no memory while it waits for the client.
// ReadInto is that of [transport.Conn].
type SpaceReader interface {
	ReadInto(s transport.Space) (int, error)
}

// A Tunnel is a connection after an upgrade to another protocol.
type Tunnel interface {
	io.ReadWriteCloser
	CloseWrite() error
	SetDeadline(t time.Time) error
}

// An Exchange is one request and its result. The zero value is ready to be
// filled, and [Exchange.Reset] makes an Exchange ready again. It may be kept in
// a pool but must not be copied. While [Proxy.Serve] runs, other goroutines may
// only call [Exchange.Cancel].
type Exchange struct {
	// The request, set by the server that received it. Header contains the
	// fields as received, with hop-by-hop fields but without Host.
	Method   string
	Target   string // in origin form: the escaped path, "?" and the query
	Host     string // as the client sent it, with the port if there was one
	Scheme   string // of the client's connection: "http" or "https"
	HTTP10   bool   // the client speaks HTTP/1.0: no 1xx, no chunks
	HTTP2    bool   // the client speaks HTTP/2: no Upgrade
	HTTP3    bool   // the client speaks HTTP/3: no Upgrade
	Header   []Field
	Length   int64                     // of the body: 0 without one, -1 if unknown
	Body     io.Reader                 // nil without one, or a SpaceReader; a client may get 100 at its first read
	Trailers func(dst []Field) []Field // appends the trailer fields after the body was read; nil if there are none
	Own      bool                      // this process makes the request: its fields about its way are sent as they are
	Peer     netip.Addr                // the remote end of the client's connection
	PeerPort uint16                    // its port, for Options.ProxyProtocol; 0 if it is not known
	Client   Client

	// How to send it.
	Timeout time.Duration // for which the upstream may be silent; 0 means DefaultTimeout

	// TryTimeout limits the time from the choice of a server to the head of its response. Then
	// the request is sent to another server, or fails with kind Timeout; see [Retry]. 0 means no
	// limit. A request whose body is still being sent has none: its time depends on the client.
	TryTimeout time.Duration

	// Deadline is when the exchange must be over. Later it fails with kind Overdue. The zero
	// time means none. It does not apply to an upgraded connection, and not to waits for the
	// Client and the Body, which need deadlines of their own.
	Deadline time.Time

	Upgrade  []string // upgrade tokens that are passed on, in lower case
	Send     []Field  // set in the request, replacing the client's fields of these names
	Response []Field  // set in the response, replacing the upstream's fields of these names

	// More edits of the fields. They also apply to trailers, and those of the response to
	// responses of Respond and RespondWith. 1xx responses only lose fields. The caller keeps
	// the two lists of names, which may be in any case.
	SendHost       string   // the Host for the upstream; "" means Host. X-Forwarded-Host is always Host
	SendAdd        []Field  // added to the request, after Send
	SendRemove     []string // names of the client's fields that are not sent
	ResponseAdd    []Field  // added to the response, after Response
	ResponseRemove []string // names of the upstream's fields that the client does not get
	SetCookie      string   // value of a field that is added to the upstream's response only, after ResponseAdd

	// Driver makes the connections to the upstream and waits for them. It must
	// be the driver that runs the calling goroutine; nil means
	// [transport.Goroutines]. A loop must only run exchanges without the fields
	// Expect and Upgrade: others wait in ways that would block the loop. On a
	// loop, Body, Client and Hook may wait only in a [transport.Conn] or in
	// Driver.Block.
	Driver transport.Driver

	// Context belongs to the caller, for its Hook.
	Context any

	// The result, set by Serve.
	Server   *Server // that the request was sent to; the last one of several
	Status   int     // sent to the client; 499 if it disconnected before that
	Began    bool    // the head of the final response was passed to the Client
	BodySent int64   // bytes of the response body passed to the Client
	BodyRead int64   // bytes of the request body read from the Client
	Upgraded bool    // the connection became a tunnel
	Cut      bool    // the response has begun and could not be completed: the caller must break the connection

	Retried     RetryReason // why the request was sent again the last time; "" if it was not
	RetryDenied RetryReason // why it would have been sent again if the budget had not been used up

	Chosen time.Time // when Server was chosen

	// Waited is the time spent waiting for Server: from the choice of the
	// server to the head of its final response, plus each later wait for a part
	// of the body. It excludes the time that the client takes to read the
	// response. It is zero if the server sent no response, unless the wait for
	// it ended with the timeout or because the client disconnected.
	Waited time.Duration

	Err error // why the exchange failed, an *Error; nil if the upstream's response was passed on completely

	mu        sync.Mutex
	conn      *pool.Conn // guarded by mu, like tunnel and stopDial; Cancel interrupts all three
	tunnel    Tunnel
	stopDial  context.CancelFunc
	cancelled atomic.Bool
	expired   atomic.Bool // cancelled because the deadline of the request's context has passed

	checked           *Server // of a health check; nil for other exchanges
	transfer          transfer
	announced         announcer      // without a driver if the upstream has no ProxyProtocol
	upload            *upload.Upload // sends a body that is not short
	head              []byte         // the request as sent upstream: the head, followed by the body if it is short
	headEnd           int            // length of the request's head in head
	base              string         // the base path in head, unless the target is "*"
	response          response.Reader
	framing           requestFraming
	connectionOptions []string // names listed by Connection, of the request and then of the response
	fields            []Field  // response fields as passed to the Client
	trailer           []Field  // and trailers
}

// requestFraming holds the facts from the request's fields that determine how
// it is sent.
type requestFraming struct {
	hasLength bool   // Content-Length was set, so "0" is sent too
	upgrade   string // the token to pass on, in lower case
	expect    bool   // the client waits for 100 before it sends the body
	trailers  bool   // the client accepts trailers
	trailer   string // the names of the request's own trailers
	options   int    // number of names in Connection, including empty ones
}

// Reset clears the exchange but keeps its buffers. It invalidates the strings
// that a Client received.
func (x *Exchange) Reset() {
	x.Method, x.Target, x.Host, x.Scheme = "", "", "", ""
	x.HTTP10, x.HTTP2, x.HTTP3 = false, false, false
	x.Header = keep(x.Header)
	x.Length, x.Body, x.Trailers, x.Own = 0, nil, nil, false
	x.Peer, x.PeerPort, x.Client = netip.Addr{}, 0, nil
	x.Timeout, x.TryTimeout, x.Deadline = 0, 0, time.Time{}
	x.Upgrade, x.Driver = nil, nil
	x.Send, x.Response = keep(x.Send), keep(x.Response)
	x.SendHost, x.SetCookie = "", ""
	x.SendAdd, x.ResponseAdd = keep(x.SendAdd), keep(x.ResponseAdd)
	x.SendRemove, x.ResponseRemove = nil, nil
	x.Server, x.Status = nil, 0
	x.Began, x.Upgraded, x.Cut = false, false, false
	x.Retried, x.RetryDenied = "", ""
	x.BodySent, x.BodyRead, x.Chosen, x.Waited = 0, 0, time.Time{}, 0
	x.Err = nil
	x.conn, x.tunnel, x.upload = nil, nil, nil
	x.transfer, x.announced = transfer{}, announcer{}
	x.cancelled.Store(false)
	x.expired.Store(false)
	x.head, x.headEnd, x.base = keepBytes(x.head), 0, ""
	x.response.Reset()
	x.framing = requestFraming{}
	clear(x.connectionOptions)
	x.connectionOptions = x.connectionOptions[:0]
	x.fields, x.trailer = keep(x.fields), keep(x.trailer)
}

// ResponseHeader returns the fields of the final response as passed to the
// Client, or nil if no response began. They are valid until Reset.
func (x *Exchange) ResponseHeader() []Field {
	if !x.Began && !x.Upgraded {
		return nil
	}
	return x.fields
}

// BufferedBody returns the body of the request if Serve has read it whole before it chose a
// server, as it does up to [ShortBody]. whole is false for a longer one, one of unknown length
// and one that waits for 100. Only a Hook may call it. The bytes are valid until Reset.
func (x *Exchange) BufferedBody() (body []byte, whole bool) {
	if x.upload != nil || x.framing.expect {
		return nil, false
	}
	return x.head[x.headEnd:], true
}

// ReplaceSent replaces a text in the head of the request, if it is there, by another one of the same length. It applies
// to this try and later ones. Only a Hook may call it, for the event [Trying].
func (x *Exchange) ReplaceSent(old, new []byte) {
	if i := bytes.Index(x.head[:x.headEnd], old); i >= 0 && len(old) == len(new) {
		copy(x.head[i:], new)
	}
}

// ServerStatus returns the status of the response of Server to its last try, or 0 without one. Only a Hook may call it.
func (x *Exchange) ServerStatus() int {
	status := x.response.Status
	if x.Upgraded || x.Waited > 0 && status >= 200 {
		return status
	}
	return 0
}

// ServerConn describes the connection that the response arrives on: the state of its TLS, nil without TLS, and whether it
// is one of HTTP/2. Only the Client may call it, in Head of a response of the upstream.
func (x *Exchange) ServerConn() (state *tls.ConnectionState, http2 bool) {
	c := x.transfer.c
	return c.TLS(), c.Stream != nil
}

// GiveBack returns the buffer of the response if all bytes in it were passed to the Client. A
// Client may call it in its methods, before it waits, and must not use the bytes any more.
func (x *Exchange) GiveBack() { x.response.GiveBack() }

// Cancel ends the exchange because its client is gone or waits no longer. The
// upstream connection is closed, and Serve returns soon after. Cancel may be
// called at any time, from any goroutine, more than once.
func (x *Exchange) Cancel() {
	x.cancelled.Store(true)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn != nil {
		x.conn.Interrupt()
	}
	if x.tunnel != nil {
		x.tunnel.SetDeadline(transport.Past)
	}
	if x.stopDial != nil {
		x.stopDial()
	}
}

// attach sets the connection that Cancel interrupts; nil detaches it.
func (x *Exchange) attach(c *pool.Conn) {
	x.mu.Lock()
	x.conn = c
	x.mu.Unlock()
}

// beginDial returns a context for dialling that Cancel ends. The caller must
// call the returned function.
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

// arm sets the deadline of c to timeout from now for its next reads and writes.
// It does not undo an interruption by Cancel or by a faulty request body.
func (x *Exchange) arm(c *pool.Conn, now time.Time, timeout time.Duration) {
	c.Arm(now, timeout)
	if x.cancelled.Load() || x.upload.Fault() != nil {
		c.Interrupt()
	}
}

// timeout returns how long the upstream may be silent now.
func (x *Exchange) timeout() time.Duration {
	timeout := DefaultTimeout
	if x.Timeout > 0 {
		timeout = x.Timeout
	}
	if !x.Deadline.IsZero() {
		timeout = min(timeout, max(0, time.Until(x.Deadline)))
	}
	return timeout
}

// overdue reports whether the deadline of the exchange has passed.
func (x *Exchange) overdue(now time.Time) bool {
	return !x.Deadline.IsZero() && !now.Before(x.Deadline)
}

func (x *Exchange) driver() transport.Driver {
	if x.Driver != nil {
		return x.Driver
	}
	return transport.Goroutines
}
