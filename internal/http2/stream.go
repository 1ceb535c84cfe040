package http2

import (
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/httphead"
	"github.com/weirhq/weir/internal/transport"
)

// A Stream is one exchange. One task may read from it and one may write to it. All methods
// must be called by tasks of the connection's driver. The stream is
// released with Close, and must not be used afterwards.
type Stream struct {
	conn *Conn
	id   uint32

	// Request is the head that the peer has sent. It does not change.
	Request httphead.Request

	fields  []hpack.HeaderField // of Request, as received
	cookies []byte              // the joined cookies of Request

	// The fields below are guarded by conn.mu.

	user     Canceller
	body     body
	trailers []hpack.HeaderField // set before recvEnded
	declared int64               // content-length; -1 for none
	received int64               // length of the data so far

	window     int // data that the peer may send at most before it is read
	recvWindow int // data that the peer may send
	consumed   int // bytes that were read, and that the peer may send again after a WINDOW_UPDATE
	sendWindow int

	recvEnded bool  // END_STREAM was received
	headSent  bool  // the head of the message of this side was sent
	sentEnded bool  // END_STREAM was sent
	err       error // after a reset or the end of the connection

	// Of the client's side:
	heads    []Response // that were received and not read
	answered bool       // a head was received, final or informational
	headRead bool       // the final head was received
	headOnly bool       // the response has no body
	stopped  bool       // the server does not need the rest of the request

	reader, writer waiter
	queued         bool // is in conn.blocked
	queuedData     bool // and waits for the window of the connection, too
	turn           bool // was taken from conn.blocked, and must pass the turn on
}

// A Canceller is the exchange of a stream. Cancel is called when the peer resets the stream, or the connection ends. It
// must not wait, and must not call methods of the stream.
type Canceller = interface{ Cancel() }

// A waiter is a task that waits, or will.
type waiter struct {
	signal   *transport.Signal
	waiting  bool
	deadline time.Time
}

// wake ends a wait. conn.mu is held.
func (w *waiter) wake() {
	if w.waiting {
		w.waiting = false
		w.signal.Send()
	}
}

var streams = sync.Pool{New: func() any {
	s := new(Stream)
	s.reader.signal, s.writer.signal = transport.NewSignal(), transport.NewSignal()
	return s
}}

// release makes the stream ready for the pool.
func (s *Stream) release() {
	s.Request.Reset()
	clear(s.fields)
	clear(s.trailers)
	s.fields, s.trailers, s.cookies = s.fields[:0], s.trailers[:0], s.cookies[:0]
	s.conn, s.user, s.id = nil, nil, 0
	s.received, s.consumed = 0, 0
	s.recvEnded, s.headSent, s.sentEnded, s.err = false, false, false, nil
	s.queued, s.turn = false, false
	clear(s.heads)
	s.heads, s.answered, s.headRead, s.headOnly, s.stopped = s.heads[:0], false, false, false, false
	for _, w := range []*waiter{&s.reader, &s.writer} {
		w.waiting, w.deadline = false, time.Time{}
		w.signal.Reset()
	}
	streams.Put(s)
}

// Carrier returns the connection that carries the stream.
func (s *Stream) Carrier() transport.Conn { return s.conn.conn }

// ID returns the number of the stream.
func (s *Stream) ID() uint32 { return s.id }
