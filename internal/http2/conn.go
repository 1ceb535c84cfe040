package http2

import (
	"sync"
	"time"

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

// lingerTimeout is how long a peer may take to close a connection.
const lingerTimeout = 500 * time.Millisecond

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
// for it, including exchanges of streams that it has reset.
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
	opening   bool        // a header block that opens stream last is not complete
	turnTaken bool        // a stream that was blocked continues, until it has sent a frame
	blocked   []*Stream   // wait for the output or the window of the connection
	out       []byte      // frames that are not being written, in array unless it is too long
	array     *outputPage // memory of out
	pending   []byte      // is being written
	page      *outputPage // memory of pending

	writing   bool // pending is being written
	slow      bool // by a task, because the socket has not taken all of it
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

// A client is the state of a connection that only the client's side has. The connection's lock
// guards it.
type client struct {
	maxStreams uint32    // of the server
	goAway     bool      // the server accepts no more streams
	heard      time.Time // when bytes have arrived last
	pinged     bool      // a PING was sent since then because nothing has arrived
	cause      error     // why the connection has ended; nil before that

	waits []*waiter // tasks that wait for the first SETTINGS or for bytes
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
