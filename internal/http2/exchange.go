package http2

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weirhq/weir/internal/transport"
)

// await waits until wake was called or the deadline passes. conn.mu is held, except for the
// wait.
func (s *Stream) await(w *waiter) error {
	limit := time.Duration(0)
	if !w.deadline.IsZero() {
		if limit = time.Until(w.deadline); limit <= 0 {
			return os.ErrDeadlineExceeded
		}
	}
	c := s.conn
	w.signal.Reset()
	w.waiting = true
	c.unlock()
	c.driver.Wait(w.signal, limit)
	c.mu.Lock()
	w.waiting = false
	return nil
}

// Bind sets the exchange that is cancelled when the peer resets the stream. If that has
// happened, Bind cancels it.
func (s *Stream) Bind(user Canceller) {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	if s.user = user; s.err != nil {
		user.Cancel()
	}
}

// SetReadDeadline sets the deadline of reads in progress and of later ones. The zero time is
// no deadline.
func (s *Stream) SetReadDeadline(t time.Time) error { return s.setDeadline(&s.reader, t) }

// SetWriteDeadline sets the deadline of writes in progress and of later ones. It applies only
// while they wait.
func (s *Stream) SetWriteDeadline(t time.Time) error { return s.setDeadline(&s.writer, t) }

func (s *Stream) setDeadline(w *waiter, t time.Time) error {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	w.deadline = t
	w.wake()
	return nil
}

// ReadInto reads data of the body, as [transport.Conn.ReadInto] does. At the end of the body
// it returns io.EOF.
func (s *Stream) ReadInto(space transport.Space) (int, error) {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	for {
		switch {
		case s.body.n > 0:
			n := s.body.read(space.Space())
			s.giveBack(n)
			return n, nil
		case s.err != nil:
			return 0, s.err
		case s.recvEnded:
			return 0, io.EOF
		}
		if err := s.await(&s.reader); err != nil {
			return 0, err
		}
	}
}

// TryRead reads data of the body that has arrived, as [transport.Conn.TryRead] does.
func (s *Stream) TryRead(p []byte) (n int, ok bool, err error) {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	switch {
	case s.body.n > 0:
		n = s.body.read(p)
		s.giveBack(n)
		return n, true, nil
	case s.err != nil:
		return 0, true, s.err
	}
	return 0, s.recvEnded, nil
}

// giveBack allows the peer to send as many bytes again as were read, and more if the window can
// grow. It collects them, because a WINDOW_UPDATE for each read would cost both sides.
func (s *Stream) giveBack(n int) {
	c := s.conn
	if s.consumed += n; s.consumed >= s.window/2 && !s.recvEnded && s.err == nil {
		more := min(s.window, streamWindow-s.window, c.growth)
		s.window += more
		c.growth -= more
		credit := s.consumed + more
		s.recvWindow += credit
		c.writeFrames(func(f *http2.Framer) { f.WriteWindowUpdate(s.id, uint32(credit)) })
		s.consumed = 0
		c.push()
	}
}

// Ended reports whether the peer has sent the end of the body, and all of it was read.
func (s *Stream) Ended() bool {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	return s.recvEnded && s.body.n == 0
}

// Trailers returns the trailers of the body, whose end was read. They are valid until Close.
func (s *Stream) Trailers() []hpack.HeaderField { return s.trailers }

// writeError returns why nothing can be written, or nil. conn.mu is held.
func (s *Stream) writeError() error {
	switch {
	case s.err != nil:
		return s.err
	case s.sentEnded:
		return errEnded
	case s.stopped:
		return ErrReset
	}
	return nil
}

var errEnded = errors.New("http/2: the stream was ended by this side")

// NewHead returns an empty header block.
func (s *Stream) NewHead() *Head { return NewHead() }

// SendInterim sends an informational response and releases it. After the final response it does
// nothing. It does not wait, and may be called by the task that reads.
func (s *Stream) SendInterim(h *Head) error {
	defer release(h)
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	if s.headSent || s.err != nil {
		return s.err
	}
	c.appendHead(s.id, h.Bytes, false)
	c.push()
	return nil
}

// SendHead sends a header block and releases it: the head of a message, or its trailers, which
// end the stream.
func (s *Stream) SendHead(h *Head, end bool) error {
	defer release(h)
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	defer s.leaveQueue()
	for {
		if err := s.writeError(); err != nil {
			return err
		}
		if c.room() > 0 {
			break
		}
		if err := s.block(false); err != nil {
			return err
		}
	}
	s.headSent = true
	c.appendHead(s.id, h.Bytes, end)
	if end {
		s.endSent()
	}
	return nil
}

// Write sends data. With end, it ends the stream after p, which may then be empty. The frames
// are sent when the stream ends, by Flush, when the output is full, or together with the
// frames of another stream.
func (s *Stream) Write(p []byte, end bool) (written int, err error) {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	defer s.leaveQueue()
	for {
		if err := s.writeError(); err != nil {
			return written, err
		}
		rest := p[written:]
		n := min(len(rest), s.sendable())
		if len(rest) == 0 && !end {
			return written, nil
		}
		if n > 0 && (s.turn || len(c.blocked) == 0) || len(rest) == 0 && c.room() > 0 {
			last := end && n == len(rest)
			c.appendData(s, rest[:n], last)
			if written += n; last {
				s.endSent()
				return written, nil
			}
			s.passTurn()
			continue
		}
		if err := s.block(len(rest) > 0); err != nil {
			return written, err
		}
	}
}

// sendable returns how many bytes of data may be appended now.
func (s *Stream) sendable() int {
	c := s.conn
	return max(min(s.sendWindow, c.sendWindow, c.room(), maxFrame), 0)
}

// block waits until the stream may be able to send: data, which needs a window, or only other
// frames. conn.mu is held.
func (s *Stream) block(data bool) error {
	c := s.conn
	s.passTurn()
	if !c.writing && c.room() <= 0 {
		c.flush() // releases conn.mu, so that the state may have changed
		return nil
	}
	if !s.queued && (!data || s.sendWindow > 0) {
		s.queued, s.queuedData = true, data
		c.blocked = append(c.blocked, s)
	}
	c.push() // the peer may need the buffered frames to open its window
	return s.await(&s.writer)
}

// leaveQueue ends an operation that may have waited. The stream must not stay in conn.blocked: nextTurn would give it the
// turn, and no other stream could send until this one sends again or is closed.
func (s *Stream) leaveQueue() {
	s.conn.unblock(s)
	s.passTurn()
}

// passTurn lets the next stream of conn.blocked send.
func (s *Stream) passTurn() {
	if s.turn {
		s.turn, s.conn.turnTaken = false, false
		s.conn.nextTurn()
	}
}

// Room waits until data can be sent, and returns about how much.
func (s *Stream) Room() (int, error) {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	defer s.leaveQueue()
	for {
		if err := s.writeError(); err != nil {
			return 0, err
		}
		if n := max(min(s.sendWindow, c.sendWindow, c.room()), 0); n > 0 && (s.turn || len(c.blocked) == 0) {
			return n, nil
		}
		if err := s.block(true); err != nil {
			return 0, err
		}
	}
}

// Flush has the frames sent that were appended.
func (s *Stream) Flush() error {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	c.push()
	return s.err
}

// endSent records that END_STREAM was appended. conn.mu is held.
func (s *Stream) endSent() {
	s.sentEnded = true
	if s.recvEnded {
		s.conn.forget(s, endedBoth)
	}
	s.conn.push()
}

// Reset ends the stream with an error code, if it has not ended in both directions.
func (s *Stream) Reset(code http2.ErrCode) {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	c.resetStream(s, code, ErrClosed)
}

// Close ends the use of the stream. If the message of this side is not complete, the peer gets
// a reset with INTERNAL_ERROR. If the message of the peer is not, it gets one with NO_ERROR,
// and stops sending it.
func (s *Stream) Close() {
	c := s.conn
	c.mu.Lock()
	defer c.unlock()
	if s.err == nil && (s.sentEnded || c.client != nil && s.recvEnded) { // a server may respond before the end of a request
		c.budgets.resets.Earn()
	}
	switch {
	case c.client != nil:
		c.resetStream(s, http2.ErrCodeCancel, ErrClosed)
	case !s.sentEnded:
		c.resetStream(s, http2.ErrCodeInternal, ErrClosed)
	case !s.recvEnded:
		c.resetStream(s, http2.ErrCodeNo, ErrClosed)
	}
	s.body.discard()
	c.growth += s.window - c.recvInitial
	s.user = nil
	c.unblock(s)
	s.passTurn()
	c.ended()
	s.release()
}
