package send

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/response"
)

// A slot is the place of a connection, which may be closed and opened again.
type slot struct {
	conn     *conn // nil if there is none
	opening  bool  // a task makes a connection
	blocked  bool  // a task sends the rest of a message
	queued   bool  // is in the queue of free slots
	claimed  bool  // has claimed a request of the closed loop
	failures int   // consecutive
	began    time.Duration
	retry    time.Duration
	parser   response.Parser
	exam     *exam // nil if nothing is expected of responses

	// The requests under way, in the order of their responses: a ring buffer with
	// flights entries, beginning at first.
	ring           []record.Flight
	first, flights int
	kept           []keptMessage // of the requests in ring; nil without a pipeline
	left           int           // the last requests, which have to be sent again

	broken  error  // no more can be sent, but the server may have answered before
	unsent  []byte // to be sent: a part of a fixed request, or of the connection's buffer
	file    io.ReaderAt
	at, end int64 // the part of file that is left
}

// A keptMessage is a message that may have to be sent again.
type keptMessage struct {
	program.Message
	own []byte // buffer of Head if the message is not fixed
}

func (k *keptMessage) keep(m *program.Message) {
	k.Message = *m
	if !m.Fixed {
		k.own = append(k.own[:0], m.Head...)
		k.Head = k.own
	}
}

// oldest returns the request whose response is next.
func (s *slot) oldest() *record.Flight { return &s.ring[s.first] }

// launch adds a request.
func (s *slot) launch(f record.Flight, m *program.Message) *record.Flight {
	i := s.index(s.flights)
	s.ring[i] = f
	if s.kept != nil {
		s.kept[i].keep(m)
	}
	s.flights++
	return &s.ring[i]
}

// index returns the index in ring of the request that has n before it.
func (s *slot) index(n int) int {
	i := s.first + n
	if i >= len(s.ring) {
		i -= len(s.ring)
	}
	return i
}

// land removes the oldest request.
func (s *slot) land() {
	s.flights--
	if s.first++; s.first == len(s.ring) {
		s.first = 0
	}
}

// canSend reports whether the slot can take a request.
func (s *slot) canSend() bool {
	return s.conn != nil && !s.blocked && s.left == 0 && s.flights < len(s.ring)
}

// A queue of slots: first in, first out, each at most once.
type queue struct {
	slots   []*slot // a ring buffer
	head, n int
}

func (q *queue) push(s *slot) {
	i := q.head + q.n
	if i >= len(q.slots) {
		i -= len(q.slots)
	}
	q.slots[i] = s
	q.n++
}

func (q *queue) first() *slot { return q.slots[q.head] }

func (q *queue) pop() *slot {
	s := q.first()
	q.n--
	if q.head++; q.head == len(q.slots) {
		q.head = 0
	}
	return s
}

// A conn is a connection of a slot. It begins as the task that makes it.
type conn struct {
	thread *http1
	slot   *slot
	wire   transport.Conn // a TLSConn with TLS
	own    []byte         // buffer for bytes to be sent

	ctx                context.Context // limits the task, with the run's timeout
	connect, handshake time.Duration
	err                error
}

// current reports whether the slot still has the connection.
func (c *conn) current() bool { return c.slot.conn == c }

// open starts to connect.
func (t *http1) open(s *slot, now time.Duration) {
	s.began, s.opening = now, true
	t.opening++
	t.driver.Go(&conn{thread: t, slot: s, ctx: t.opens})
}

// Run implements transport.Task. It connects.
func (c *conn) Run() {
	ctx, cancel := context.WithTimeout(c.ctx, c.thread.Run.Timeout)
	defer cancel()
	c.err = c.dial(ctx)
	c.thread.driver.finish(c)
}

func (c *conn) dial(ctx context.Context) (err error) {
	began := time.Now()
	c.wire, err = c.thread.driver.Dial(ctx, c.thread.Run.Server)
	c.connect = time.Since(began)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err // failOpen adds the address
	}
	if err != nil || c.thread.config == nil {
		return err
	}
	began = time.Now()
	secure := transport.NewTLSClient(c.wire.(transport.Carrier), c.thread.config)
	c.wire = secure
	stop := context.AfterFunc(ctx, func() { secure.SetDeadline(transport.Past) })
	err = secure.Handshake(c.thread.driver.Block)
	c.handshake = time.Since(began)
	if !stop() { // it may set the deadline later
		err = cmp.Or(err, ctx.Err())
	}
	if err != nil {
		secure.Close()
		return failure.New(failure.Handshake, fmt.Errorf("TLS handshake: %w", err))
	}
	return nil
}

// EndTurn implements transport.TurnEnder. It gives the connection to its slot.
func (c *conn) EndTurn() {
	t, s := c.thread, c.slot
	t.Rec.Lock()
	defer t.Rec.Unlock()
	t.opening--
	s.opening = false
	switch {
	case t.over:
		if c.err == nil {
			c.wire.Close()
		}
		return
	case c.err != nil:
		t.failOpen(s, failure.OfConnection(c.err), c.err)
		return
	}
	s.conn, s.failures = c, 0
	s.parser.Reset()
	s.exam.reset()
	t.Rec.Connected(c.connect, c.handshake, t.Run.Now())
	t.driver.attend(c)
	if !t.begun {
		return
	}
	if !t.Requests.Open() && t.Run.NoKeepAlive {
		t.openUpTo(t.Most)
	}
	t.refill(s)
	t.dispatchWaiting()
}

// failOpen handles a connection that was not made. The request that it was for is unsent. Requests
// that were to be sent again have failed.
func (t *http1) failOpen(s *slot, k failure.Kind, err error) {
	err = fmt.Errorf("%s: %w", t.Run.Server, err)
	t.Rec.Fault(k, err, t.Run.Now())
	s.failures++
	again := s.flights > 0
	t.abort(s, k, err)
	f := record.Flight{Due: s.began, Sent: s.began}
	switch {
	case !t.begun || again:
	case !t.Requests.Open():
		if t.claim(s, s.began) {
			t.Rec.Asked++
			t.Rec.FailUnsent(&f, k, t.Run.Now())
		}
	case t.Requests.Waiting() > 0:
		f.Due, _ = t.Requests.Take()
		t.Rec.FailUnsent(&f, k, t.Run.Now())
	}
	t.reopen(s, backoff(s.failures))
}

// close closes a slot's connection, if it has one.
func (t *http1) close(s *slot) {
	if s.conn != nil {
		t.Rec.Connections--
		s.conn.wire.Close()
	}
	s.conn, s.blocked, s.broken, s.unsent, s.file = nil, false, nil, nil, nil
	if t.Requests.Open() && s.flights == 0 && !s.opening {
		t.spare = append(t.spare, s)
	}
}

// abort closes a slot, and fails the requests on it.
func (t *http1) abort(s *slot, k failure.Kind, err error) {
	now := t.Run.Now()
	for s.left = 0; s.flights > 0; {
		t.Rec.Fail(s.oldest(), k, err, s.oldest().Sent, now)
		s.land()
		t.inFlight--
	}
	t.close(s)
}

// fail aborts a slot after an error, and reopens it after a backoff.
func (t *http1) fail(s *slot, k failure.Kind, err error) {
	t.abort(s, k, err)
	s.failures++
	t.reopen(s, backoff(s.failures))
}
