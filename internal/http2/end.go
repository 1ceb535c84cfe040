package http2

import (
	"time"

	"golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/floodbudget"
)

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

// endBody records that the peer has sent END_STREAM. mu is held.
func (c *Conn) endBody(s *Stream) *Error {
	if s.declared >= 0 && s.received != s.declared {
		return c.streamFailed(s, bodyLength("the body is shorter than its content-length"))
	}
	s.recvEnded = true
	s.reader.wake()
	if s.sentEnded {
		c.forget(s, endedBoth)
	}
	return nil
}

// streamFailed ends a stream because of an error of the peer. Its exchange is cancelled, unless
// only its body is wrong. The result is an error of the connection, if there have been too many.
// mu is held.
func (c *Conn) streamFailed(s *Stream, e *Error) *Error {
	c.owner.Failed(e, false)
	c.resetStream(s, e.Code, e)
	if e.Reason != BodyLength && e.Reason != Trailers && s.user != nil {
		s.user.Cancel()
	}
	return c.spendReset()
}

// onClosed handles a frame on a stream that has ended. mu is held.
func (c *Conn) onClosed(id uint32) *Error {
	if c.client != nil || id > c.last || c.closed.ending(id) == endedByUs {
		return nil // sent before the peer knew
	}
	return c.refuseStream(id, &Error{http2.ErrCodeStreamClosed, ClosedStream, "a frame on a stream that has ended"})
}

// refuseStream resets a stream that does not exist. mu is held.
func (c *Conn) refuseStream(id uint32, e *Error) *Error {
	c.owner.Failed(e, false)
	c.closed.add(id, endedByUs)
	if e := c.respond(func(f *http2.Framer) { f.WriteRSTStream(id, e.Code) }); e != nil {
		return e
	}
	return c.spendReset()
}

// spendReset counts a stream that the peer has reset, or has caused to be reset. mu is
// held.
func (c *Conn) spendReset() *Error {
	if !c.budgets.resets.Spend(floodbudget.Resets, time.Now()) {
		return flood(Resets)
	}
	return nil
}

// isIdle reports whether a stream has not been opened. mu is held.
func (c *Conn) isIdle(id uint32) bool { return id%2 == 0 || id > c.last && c.state < closing }

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

// finish ends the streams, and the connection when the peer has read the output. mu is held.
func (c *Conn) finish() {
	c.state = failed
	c.due = time.Now().Add(lingerTimeout)
	c.abortAll()
	c.push()
	c.arm()
}

// abortAll ends all streams because the connection ends. mu is held.
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

// wakeWaits wakes the tasks that wait for bytes or for the end. mu is held.
func (c *Conn) wakeWaits() {
	for i, w := range c.client.waits {
		w.wake()
		c.client.waits[i] = nil
	}
	c.client.waits = c.client.waits[:0]
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

// endIfDrained ends a connection without streams that accepts no more, when the peer's socket has taken the output. The
// last GOAWAY has accepted a stream whose header block is not complete. mu is held.
func (c *Conn) endIfDrained() {
	switch {
	case c.running > 0 || c.opening:
	case c.state == closing && (c.writing || len(c.out) > 0):
		c.push() // written calls endIfDrained again
	case c.state == closing:
		c.finish()
	case c.client != nil && c.client.goAway:
		c.stopAccepting()
	}
}
