package http2

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/transport"
)

const (
	// streamWindow is how much data a peer may send at most on a stream that was not read. A server has it from the
	// beginning. A client begins with startWindow, because its streams are not trusted: their windows grow when they are
	// read, by growth for all streams of the connection together.
	streamWindow = 256 << 10
	growth       = 1 << 20
	// connWindow is how much data may be on its way. It is given back when data arrives: streams that are not read must
	// not hold up the others.
	connWindow = 1 << 20
	// startWindow is the window of both sides before any setting, RFC 9113 section 6.9.2.
	startWindow = 65535
	// maxWindow is the largest window.
	maxWindow = 1<<31 - 1
	// maxFrame is the largest frame that is accepted and sent: the smallest limit that RFC
	// 9113 allows.
	maxFrame = 16 << 10
	// tableSize is the size of the dynamic table for received header blocks.
	tableSize = 4 << 10
)

// Limits are the limits of a connection.
type Limits struct {
	// HeaderList is the maximum size of a header list, as in RFC 9113, section 10.5.1.
	HeaderList int
	// HeaderTimeout is how long a frame or a header block may take to become complete.
	HeaderTimeout time.Duration
	// IdleTimeout is how long a connection may be without a stream.
	IdleTimeout time.Duration
	// WriteTimeout is how long a peer may read nothing. 0 is no limit.
	WriteTimeout time.Duration

	// A client sends a PING if nothing has arrived for PingAfter while there are streams, and
	// ends the connection if the server then sends nothing for PingTimeout. 0 sends none.
	PingAfter, PingTimeout time.Duration
}

// MaxStreams is the maximum number of streams of a peer, and of exchanges that are in progress
// for it, including those of streams that it has reset.
const MaxStreams = 250

// An Owner is the user of a connection. Except for Opened, its methods may be called with
// the connection's lock held. They must not wait, and must not call methods of the connection
// or of a stream.
type Owner interface {
	// Limits returns the limits that apply now.
	Limits() Limits

	// Opened is called when the peer has opened a stream with a valid head. It starts a task
	// with Driver.Go, which calls [Stream.Close] at its end.
	Opened(s *Stream)

	// Failed is called when this side ends the connection, or one of its streams, because of
	// an error of the peer.
	Failed(e *Error, connection bool)

	// Ended is called once, after the end of the connection. Exchanges may not have ended.
	Ended()
}

// A Conn is a connection.
type Conn struct {
	conn   transport.Conn
	driver transport.Driver
	owner  Owner
	ender  turnEnder // of a loop; nil for goroutines

	in     input // used by the reader
	decode *hpack.Decoder
	block  headerBlock // used by the reader
	client *client     // nil for the connection of a server

	mu        sync.Mutex // guards the fields below
	streams   map[uint32]*Stream
	last      uint32      // the highest stream that the peer has opened
	closed    closedRing  // the last streams that have ended
	running   int         // exchanges in progress
	turnTaken bool        // a stream that was blocked continues, until it has sent a frame
	blocked   []*Stream   // wait for the output or the window of the connection
	out       []byte      // frames that are not being written, in array unless it is too long
	array     *outputPage // memory of out
	pending   []byte      // is being written
	page      *outputPage // memory of pending

	writing   bool // pending is being written
	ending    bool // EndTurn will be called
	unflushed bool // unlock has to write the output
	endSent   bool // the end of the stream of bytes was sent, or will be
	tableSent bool // the peer was informed that the dynamic table is not used
	control   int  // responses to control frames in out

	recvWindow    int
	arrived       int // bytes that the peer may send again after a WINDOW_UPDATE
	recvInitial   int // window of new streams
	growth        int // by which the windows of streams may still grow
	sendWindow    int
	initialWindow int // sendWindow of new streams

	budgets budgets
	state   state
	readBy  time.Time // the deadline that is set
	due     time.Time // the end of the time for a frame, a header block or a state
	idle    time.Time // when the last exchange has ended
	partial time.Time // when an incomplete frame or header block has begun; zero if there is none
	seen    bool      // the first SETTINGS frame has arrived
}

// A state is how far the end of a connection has come.
type state uint8

const (
	open     state = iota
	unused         // Drain was called before the first stream, which is awaited
	draining       // GOAWAY was sent, and streams are still accepted
	closing        // no stream is accepted any more; those that are open end
	failed         // nothing is read any more; the peer may read until due
	gone           // the connection is closed
)

type turnEnder interface {
	AtTurnEnd(e transport.TurnEnder)
}

// NewServer returns the connection of a client, which has sent the beginning of the preface of
// HTTP/2. The caller then calls Serve or Attend.
func NewServer(conn transport.Conn, d transport.Driver, owner Owner) *Conn {
	c := newConn(conn, d, owner)
	c.writeFrames(func(f *http2.Framer) {
		f.WriteSettings(
			http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: MaxStreams},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: uint32(owner.Limits().HeaderList)})
		f.WriteWindowUpdate(0, connWindow-startWindow)
	})
	return c
}

// newConn returns the connection of either side.
func newConn(conn transport.Conn, d transport.Driver, owner Owner) *Conn {
	now := time.Now()
	limits := owner.Limits()
	c := &Conn{conn: conn, driver: d, owner: owner, streams: make(map[uint32]*Stream), recvWindow: connWindow,
		recvInitial: startWindow, growth: growth, sendWindow: startWindow, initialWindow: startWindow, idle: now, due: now.Add(limits.HeaderTimeout)}
	conn.SetReadDeadline(time.Time{}) // that of what was read before, which readBy does not have
	c.ender, _ = d.(turnEnder)
	c.decode = hpack.NewDecoder(tableSize, c.emit)
	return c
}

// Begin handles the bytes that were received before. It must be called once.
func (c *Conn) Begin(received []byte) {
	c.mu.Lock()
	c.push()
	c.unlock()
	for len(received) > 0 {
		n := copy(c.Space(), received)
		c.received(n)
		received = received[n:]
	}
}

// nextTurn lets the first of the blocked streams that can send continue, unless another one has
// the turn: that one could lose its place to those that run sooner. mu is held.
func (c *Conn) nextTurn() {
	if c.turnTaken || c.room() <= 0 {
		return
	}
	for i, s := range c.blocked {
		if !s.queuedData || c.sendWindow > 0 {
			c.blocked = slices.Delete(c.blocked, i, i+1)
			s.queued, s.turn, c.turnTaken = false, true, true
			s.writer.wake()
			return
		}
	}
}

// unblock removes a stream from the blocked ones.
func (c *Conn) unblock(s *Stream) {
	if s.queued {
		s.queued = false
		i := slices.Index(c.blocked, s)
		c.blocked = slices.Delete(c.blocked, i, i+1)
	}
}

// giveBack allows the peer to send n bytes again on any stream. mu is held.
func (c *Conn) giveBack(n int) {
	if c.arrived += n; c.arrived >= connWindow/4 && c.state < failed {
		c.recvWindow += c.arrived
		c.writeFrames(func(f *http2.Framer) { f.WriteWindowUpdate(0, uint32(c.arrived)) })
		c.arrived = 0
		c.push()
	}
}

// forget removes a stream that has ended. mu is held.
func (c *Conn) forget(s *Stream, how ending) {
	if c.streams[s.id] == s {
		delete(c.streams, s.id)
		c.closed.add(s.id, how)
	}
}

// ended is called when the exchange of a stream has ended. mu is held.
func (c *Conn) ended() {
	if c.running--; c.running == 0 {
		c.idle = time.Now()
		c.arm()
	}
	c.endIfDrained()
}

// resetStream ends a stream with a reset, unless it has ended. err is the error of its later
// operations. mu is held.
func (c *Conn) resetStream(s *Stream, code http2.ErrCode, err error) {
	if s.err != nil || s.recvEnded && (s.sentEnded || s.stopped) {
		return
	}
	c.abort(s, err, endedByUs)
	if c.state < failed {
		c.writeFrames(func(f *http2.Framer) { f.WriteRSTStream(s.id, code) })
		c.push()
	}
}

// abort ends the operations of a stream with an error. mu is held.
func (c *Conn) abort(s *Stream, err error, how ending) {
	s.err = err
	c.forget(s, how)
	s.reader.wake()
	s.writer.wake()
}

// fail ends the connection because of an error of the peer. mu is held.
func (c *Conn) fail(e *Error) {
	if c.state >= failed {
		return
	}
	c.owner.Failed(e, true)
	if c.client != nil {
		c.client.cause = e
	}
	c.writeFrames(func(f *http2.Framer) { f.WriteGoAway(c.accepted(), e.Code, []byte(e.Detail)) })
	c.finish()
}

// accepted returns the highest stream of the peer that is processed. Servers open none.
func (c *Conn) accepted() uint32 {
	if c.client != nil {
		return 0
	}
	return c.last
}

// lingerTimeout is how long a peer may take to close a connection.
const lingerTimeout = 500 * time.Millisecond

// finish ends the streams, and the connection when the peer has read the output. mu is held.
func (c *Conn) finish() {
	c.state = failed
	c.due = time.Now().Add(lingerTimeout)
	c.abortAll()
	c.push()
	c.arm()
}

// abortAll ends all streams because the connection ends.
func (c *Conn) abortAll() {
	err := ErrClosed
	if c.client != nil {
		if c.client.cause == nil {
			c.client.cause = ErrClosed
		}
		err = c.client.cause
		c.wakeWaits()
	}
	for _, s := range c.streams {
		c.abort(s, err, endedByUs)
		if s.user != nil {
			s.user.Cancel()
		}
	}
}

// end closes the connection. mu is not held.
func (c *Conn) end() {
	c.mu.Lock()
	if c.state == gone {
		c.unlock()
		return
	}
	c.state = gone
	c.abortAll()
	c.out = c.out[:0]
	if !c.writing {
		c.releaseOutput()
	}
	c.unlock()
	c.conn.Close()
	c.in.release()
	c.owner.Ended()
}

// Abort resets the connection if exchanges are in progress, so that no response looks
// complete, and closes it otherwise. Any goroutine may call it.
func (c *Conn) Abort() {
	c.mu.Lock()
	defer c.unlock()
	if c.running > 0 {
		c.conn.Abort()
	} else {
		c.conn.Close()
	}
}

// Drain ends the connection after its streams (RFC 9113, section 6.8). The first GOAWAY
// accepts all streams that the peer opens before it arrives; the second one none. It may be
// called more than once.
//
// A peer without a stream may have connected for a request that it is about to send. After
// GOAWAY, clients such as Go's send that request on another connection, which a server that
// ends refuses. The GOAWAY therefore follows the first stream, or firstStreamWait.
func (c *Conn) Drain() {
	c.mu.Lock()
	defer c.unlock()
	switch {
	case c.state != open:
	case c.last > 0:
		c.announce()
	default:
		c.state = unused
		if c.seen {
			c.due = time.Now().Add(firstStreamWait)
		}
		c.arm()
	}
}

// firstStreamWait is how long the first stream may take after the first SETTINGS frame.
const firstStreamWait = 250 * time.Millisecond

// announce sends the first GOAWAY. mu is held.
func (c *Conn) announce() {
	c.state = draining
	c.due = time.Now().Add(drainPing)
	c.writeFrames(func(f *http2.Framer) {
		f.WriteGoAway(maxWindow, http2.ErrCodeNo, nil)
		f.WritePing(false, drainPayload)
	})
	c.push()
	c.arm()
}

// drainPing is how long a peer may take to respond to the PING after the first GOAWAY.
const drainPing = 250 * time.Millisecond

// drainPayload distinguishes the PING of Drain.
var drainPayload = [8]byte{'d', 'r', 'a', 'i', 'n'}

// stopAccepting sends the second GOAWAY. mu is held.
func (c *Conn) stopAccepting() {
	if c.state > draining {
		return
	}
	c.state, c.due = closing, time.Time{}
	c.writeFrames(func(f *http2.Framer) { f.WriteGoAway(c.accepted(), http2.ErrCodeNo, nil) })
	c.push()
	c.arm()
	c.endIfDrained()
}

// endIfDrained ends a connection without streams that accepts no more. mu is held.
func (c *Conn) endIfDrained() {
	switch {
	case c.running > 0:
	case c.state == closing:
		c.finish()
	case c.client != nil && c.client.goAway:
		c.stopAccepting()
	}
}
