package send

import (
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
)

// refill sends on a free connection. In the open loop it queues the slot for
// the requests that will be due.
func (t *http1) refill(s *slot) {
	t.sendAgain(s)
	switch {
	case !t.begun || !s.canSend():
	case t.Requests.Open():
		if !s.queued {
			s.queued = true
			t.free.push(s)
		}
	case t.Run.Pipeline == 1:
		if now := t.Run.Now(); now < t.Run.End() && t.claim(s, now) {
			t.Rec.Asked++
			t.send(s, now, now, false)
		}
	default:
		t.fill(s)
	}
}

// send sends one request.
func (t *http1) send(s *slot, due, now time.Duration, starved bool) {
	m := t.Script.Next()
	t.launch(s, m, due, now, starved)
	t.write(s, m.Head, m.Fixed, m)
}

// launch counts a request that is about to be sent.
func (t *http1) launch(s *slot, m *program.Message, due, now time.Duration, starved bool) {
	if t.Run.NoKeepAlive {
		now = s.began // the connection is part of the request
		if t.Requests.Open() {
			now = max(now, due) // the connection may have been made for an earlier request
		} else {
			due = now
		}
	}
	f := s.launch(record.Flight{Due: due, Sent: now, Endpoint: m.Endpoint, NoBody: m.NoBody, Target: m.Target}, m)
	t.inFlight++
	t.Rec.Send(f, starved)
}

// sendAgain sends the requests that are left of the connection before, which the server has
// closed.
func (t *http1) sendAgain(s *slot) {
	for s.left > 0 && s.conn != nil && !s.blocked {
		m := &s.kept[s.index(s.flights-s.left)].Message
		s.left--
		t.write(s, m.Head, m.Fixed, m)
	}
}

// fill sends as many requests as the pipeline takes, with few writes.
func (t *http1) fill(s *slot) {
	now := t.Run.Now()
	if now >= t.Run.End() {
		return
	}
	t.out = t.out[:0]
	for s.canSend() && t.claim(s, now) {
		t.Rec.Asked++
		m := t.Script.Next()
		t.launch(s, m, now, now, false)
		t.out = append(t.out, m.Head...)
		if m.File != nil || len(t.out) >= readSize {
			t.write(s, t.out, false, m)
			t.out = t.out[:0]
		}
	}
	if len(t.out) > 0 {
		t.write(s, t.out, false, nil)
	}
}

// write sends b, and then the file of m, if it has one. A task sends what the kernel does not
// take now. A fixed b never changes and is not copied.
func (t *http1) write(s *slot, b []byte, fixed bool, m *program.Message) {
	n, err := s.conn.wire.TryWrite(b)
	t.Rec.Written += int64(n)
	if m != nil {
		s.file, s.at, s.end = m.File, 0, m.Size
	}
	switch {
	case err != nil:
		s.breakOff(err)
	case n < len(b) && fixed:
		s.unsent = b[n:]
	case n < len(b):
		s.conn.own = append(s.conn.own[:0], b[n:]...)
		s.unsent = s.conn.own
	case s.file == nil:
		return
	}
	s.blocked = true
	if err == nil {
		t.driver.Go(&rest{conn: s.conn})
	}
}

// breakOff handles an error of sending. Nothing more is sent, but the connection fails only
// when the responses are read that the server sent before it closed.
func (s *slot) breakOff(err error) { s.broken = fmt.Errorf("sending the request: %w", err) }

// A rest is the task that sends the rest of a message, and waits meanwhile.
type rest struct{ *conn }

// Run implements transport.Task.
func (r *rest) Run() {
	for b := r.next(); len(b) > 0; b = r.next() {
		n, err := r.wire.Write(b)
		r.sent(n, err)
	}
	r.thread.driver.finish(r)
}

// next returns the bytes to send next, and nil if there are none.
func (r *rest) next() []byte {
	t, s := r.thread, r.slot
	t.Rec.Lock()
	defer t.Rec.Unlock()
	if !r.current() || s.broken != nil {
		return nil
	}
	b := s.unsent
	s.unsent = nil
	if len(b) > 0 || s.file == nil || s.at == s.end {
		return b
	}
	size := min(int64(readSize), s.end-s.at)
	if int64(cap(r.own)) < size {
		r.own = make([]byte, size)
	}
	b = r.own[:size]
	if n, err := s.file.ReadAt(b, s.at); n < len(b) {
		t.fail(s, failure.BadRequest, fmt.Errorf("reading the body at byte %d: %w", s.at+int64(n), err))
		return nil
	}
	s.at += size
	return b
}

// sent counts bytes.
func (r *rest) sent(n int, err error) {
	r.thread.Rec.Lock()
	defer r.thread.Rec.Unlock()
	r.thread.Rec.Written += int64(n)
	if err != nil && r.current() {
		r.slot.breakOff(err)
	}
}

// EndTurn implements transport.TurnEnder. It continues with the requests behind the message.
func (r *rest) EndTurn() {
	t, s := r.thread, r.slot
	t.Rec.Lock()
	defer t.Rec.Unlock()
	if r.current() && s.broken == nil {
		s.blocked, s.file = false, nil
		t.refill(s)
		t.dispatchWaiting()
	}
}

// received handles the result of a read: bytes, or the end of the stream without an error.
func (t *http1) received(s *slot, b []byte, err error) {
	switch {
	case len(b) > 0:
		t.took(s, b)
	case s.broken != nil:
		t.fail(s, failure.OfExchange(s.broken), s.broken)
	case err != nil:
		t.fail(s, failure.OfExchange(err), fmt.Errorf("reading the response: %w", err))
	default:
		t.ended(s)
	}
}

var errUnasked = errors.New("bytes that no request has asked for")

// took handles bytes of responses.
func (t *http1) took(s *slot, b []byte) {
	now, c := t.Run.Now(), s.conn
	t.Rec.Bytes(len(b), now)
	for len(b) > 0 && c.current() {
		if s.flights == s.left {
			t.Rec.Fault(failure.BadResponse, errUnasked, now)
			t.fail(s, failure.BadResponse, errUnasked)
			return
		}
		f := s.oldest()
		if f.First == 0 {
			f.First = now
		}
		n, done, err := s.parser.Feed(b, f.NoBody)
		part := b[:n]
		b = b[n:]
		switch {
		case err != nil:
			t.fail(s, failure.BadResponse, err)
			return
		case s.exam != nil:
			t.examine(s, part, done, now)
		case done:
			t.answered(s, now)
		}
	}
}

// answered counts a whole response.
func (t *http1) answered(s *slot, now time.Duration) {
	f := s.oldest()
	f.Bytes = s.parser.BodyBytes()
	t.Rec.Response(f, s.parser.Status(), now)
	t.landed(s, now)
}

// examine takes bytes of the oldest request's response. After the last ones it counts the response as answered, or as
// failed if it is not as expected.
func (t *http1) examine(s *slot, b []byte, done bool, now time.Duration) {
	f := s.oldest()
	s.exam.content.Feed(b, f.NoBody, s.exam)
	if !done {
		return
	}
	s.exam.reset()
	f.Bytes = s.parser.BodyBytes()
	if wrong, mistake := s.exam.End(); wrong >= 0 {
		t.Rec.Reject(f, s.parser.Status(), wrong, mistake, now)
		t.landed(s, now)
		return
	}
	t.answered(s, now)
}

// landed continues after a whole response, which was counted.
func (t *http1) landed(s *slot, now time.Duration) {
	s.land()
	t.inFlight--
	s.failures = 0
	switch {
	case s.parser.Close() && s.flights > 0:
		// The server does not process the requests behind it (RFC 9112, section 9.6).
		s.left = s.flights
		t.close(s)
		t.open(s, now)
	case s.parser.Close() || t.Run.NoKeepAlive:
		t.close(s)
		t.reopen(s, 0)
		t.replace(now)
	case s.blocked && s.flights == 0: // the response came before its request was sent completely
		t.close(s)
		t.reopen(s, 0)
	}
}

// ended handles the end of the stream.
func (t *http1) ended(s *slot) {
	whole, err := s.parser.EOF()
	if whole && s.flights > 0 {
		c := s.conn
		if s.exam != nil {
			t.examine(s, nil, true, t.Run.Now())
		} else {
			t.answered(s, t.Run.Now())
		}
		if !c.current() {
			return
		}
	}
	if s.flights > 0 {
		t.fail(s, failure.EOF, failure.ClosedEarly(err))
		return
	}
	t.close(s) // an idle connection
	t.reopen(s, 0)
}
