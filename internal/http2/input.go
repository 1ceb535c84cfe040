package http2

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/floodbudget"
	"github.com/weirhq/weir/internal/lazydeadline"
)

// inputSize is the size of an input. It holds the longest frame.
const inputSize = 32 << 10

type inputPage [inputSize]byte

var inputPages = sync.Pool{New: func() any { return new(inputPage) }}

// An input holds the bytes that were received and not handled. A connection has memory for
// them only while there are any.
type input struct {
	page *inputPage
	n    int

	prefaced bool      // the preface was read
	data     dataFrame // in progress
}

// A dataFrame is a DATA frame whose payload is arriving.
type dataFrame struct {
	id      uint32
	left    int // bytes of data
	padding int // bytes that follow the data
	end     bool
}

// take returns space for received bytes, at least n.
func (in *input) take(n int) []byte {
	if in.page == nil {
		in.page = inputPages.Get().(*inputPage)
	}
	return in.page[in.n:]
}

func (in *input) release() {
	if in.page != nil {
		inputPages.Put(in.page)
		in.page, in.n = nil, 0
	}
}

// Space implements transport.Space, for the reader.
func (c *Conn) Space() []byte { return c.in.take(0) }

// GiveBack implements transport.Space.
func (c *Conn) GiveBack() {
	if c.in.n == 0 {
		c.in.release()
	}
}

// received handles n bytes that were read into Space.
func (c *Conn) received(n int) {
	in := &c.in
	b := in.page[:in.n+n]
	used := c.feed(b)
	in.n = copy(in.page[:], b[used:])
	c.GiveBack()
	c.mu.Lock()
	defer c.unlock()
	if c.client != nil {
		c.client.heard, c.client.pinged = time.Now(), false
		c.wakeWaits()
	}
	switch {
	case in.n == 0 && c.block.stream == 0:
		c.partial = time.Time{}
	case c.partial.IsZero():
		c.partial = time.Now()
	}
	c.arm()
}

// arm sets the deadline of the reader. mu is held.
func (c *Conn) arm() {
	want, slack := c.due, time.Duration(0)
	limits := c.owner.Limits()
	if c.state < failed {
		if !c.partial.IsZero() {
			want = earlier(want, c.partial.Add(limits.HeaderTimeout))
		}
		if c.running == 0 && want.IsZero() {
			want, slack = c.idle.Add(limits.IdleTimeout), limits.IdleTimeout
		}
		if ping := c.pingDue(&limits); want.IsZero() && !ping.IsZero() {
			want, slack = ping, limits.PingAfter
		}
	}
	if next, change := lazydeadline.Next(c.readBy, want, slack); change {
		c.readBy = next
		c.conn.SetReadDeadline(next)
	}
}

// earlier returns the earlier of two times. The zero time is no time.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// expired is called by the reader when its deadline has passed. It reports whether the
// connection continues.
func (c *Conn) expired() bool {
	c.mu.Lock()
	now, limits := time.Now(), c.owner.Limits()
	if c.keepAlive(now, &limits) {
		c.mu.Unlock()
		c.end()
		return false
	}
	isDue := !c.due.IsZero() && !now.Before(c.due)
	switch {
	case c.state >= failed:
		if isDue || c.state == gone {
			c.unlock()
			c.end()
			return false
		}
	case isDue && !c.seen, !c.partial.IsZero() && now.Sub(c.partial) >= limits.HeaderTimeout:
		c.fail(&Error{http2.ErrCodeEnhanceYourCalm, SlowHead, "a frame took too long"})
	case isDue && c.state == unused:
		c.announce()
	case isDue:
		c.stopAccepting()
	case c.running == 0 && now.Sub(c.idle) >= limits.IdleTimeout:
		c.stopAccepting()
	}
	c.arm()
	c.unlock()
	return true
}

// Serve reads until the end of the connection, with the driver of goroutines.
func (c *Conn) Serve() {
	for {
		n, err := c.conn.ReadInto(c)
		switch {
		case n > 0:
			c.received(n)
		case isTimeout(err):
			if !c.expired() {
				return
			}
		default:
			c.end()
			return
		}
	}
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// feed handles bytes, and returns how many. The others begin a frame. After a failure, all are
// discarded.
func (c *Conn) feed(b []byte) (used int) {
	for !c.hasFailed() {
		n, err := c.next(b[used:])
		if err != nil {
			c.mu.Lock()
			c.fail(err)
			c.unlock()
		} else if n == 0 {
			return used
		}
		used += n
	}
	return len(b)
}

func (c *Conn) hasFailed() bool {
	c.mu.Lock()
	defer c.unlock()
	return c.state >= failed
}

// next handles the preface, a frame or a part of a DATA frame at the beginning of b. It returns
// its length, or 0 if more bytes are needed.
func (c *Conn) next(b []byte) (n int, err *Error) {
	in := &c.in
	switch {
	case !in.prefaced:
		return c.preface(b)
	case in.data.left > 0 || in.data.padding > 0:
		return c.moreData(b), nil
	case len(b) < frameHeader:
		return 0, nil
	}
	length := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
	t, flags := http2.FrameType(b[3]), http2.Flags(b[4])
	id := binary.BigEndian.Uint32(b[5:]) & (1<<31 - 1)
	switch {
	case c.client != nil && !c.seen && string(b[:5]) == "HTTP/":
		return 0, protocolError("the server responds with HTTP/1")
	case length > maxFrame:
		return 0, &Error{http2.ErrCodeFrameSize, FrameSize, "a frame is longer than allowed"}
	case c.block.stream != 0 && (t != http2.FrameContinuation || id != c.block.stream):
		return 0, protocolError("a header block is interrupted")
	case !c.seen && t != http2.FrameSettings:
		return 0, protocolError("the first frame is not SETTINGS")
	case t == http2.FrameData:
		return c.beginData(b[frameHeader:], length, flags, id)
	case len(b) < frameHeader+length:
		return 0, nil
	}
	n = frameHeader + length
	switch t {
	case http2.FrameHeaders:
		return n, c.headers(b[frameHeader:n], flags, id)
	case http2.FrameContinuation:
		return n, c.continuation(b[frameHeader:n], flags, id)
	}
	return n, c.parse(b[:n])
}

func (c *Conn) preface(b []byte) (n int, err *Error) {
	n = min(len(b), len(http2.ClientPreface))
	switch {
	case string(b[:n]) != http2.ClientPreface[:n]:
		return 0, protocolError("the preface is not that of HTTP/2")
	case n < len(http2.ClientPreface):
		return 0, nil
	}
	c.in.prefaced = true
	return n, nil
}

// beginData handles the header of a DATA frame and the length of its padding.
func (c *Conn) beginData(b []byte, length int, flags http2.Flags, id uint32) (n int, err *Error) {
	d := dataFrame{id: id, left: length, end: flags.Has(http2.FlagDataEndStream)}
	n = frameHeader
	if flags.Has(http2.FlagDataPadded) {
		switch {
		case length == 0:
			return 0, &Error{http2.ErrCodeFrameSize, FrameSize, "a padded frame has no length of padding"}
		case len(b) == 0:
			return 0, nil
		}
		if d.padding = int(b[0]); d.padding >= length {
			return 0, protocolError("the padding is longer than the frame")
		}
		d.left -= 1 + d.padding
		n++
	}
	if id == 0 {
		return 0, protocolError("DATA without a stream")
	}
	c.mu.Lock()
	defer c.unlock()
	if err := c.acceptData(&d, length); err != nil {
		return 0, err
	}
	c.in.data = d
	if d.left == 0 && d.padding == 0 {
		c.endData()
	}
	return n, nil
}

// acceptData checks whether a DATA frame is allowed, and takes its length from the windows. mu
// is held.
func (c *Conn) acceptData(d *dataFrame, length int) *Error {
	if length > c.recvWindow {
		return &Error{http2.ErrCodeFlowControl, FlowControl, "more data than the window of the connection"}
	}
	if length == 0 && !d.end && !c.budgets.empty.Spend(floodbudget.Empty, time.Now()) {
		return flood(EmptyFrames)
	}
	c.recvWindow -= length
	c.giveBack(length)
	s := c.streams[d.id]
	var failure *Error
	switch {
	case s == nil && c.isIdle(d.id):
		return protocolError("DATA on a stream that is not open")
	case s == nil:
		failure = c.onClosed(d.id)
	case s.recvEnded:
		failure = c.streamFailed(s, &Error{http2.ErrCodeStreamClosed, ClosedStream, "DATA after the end of the stream"})
	case c.client != nil && !s.headRead:
		failure = c.streamFailed(s, malformed("DATA before the head of a response"))
	case length > s.recvWindow:
		failure = c.streamFailed(s, &Error{http2.ErrCodeFlowControl, FlowControl, "more data than the window of the stream"})
	default:
		s.recvWindow -= length
		s.giveBack(length - d.left) // the padding
		if s.received += int64(d.left); s.declared >= 0 && s.received > s.declared {
			failure = c.streamFailed(s, bodyLength("the body is longer than its content-length"))
		}
	}
	if c.streams[d.id] == nil {
		d.left, d.padding = 0, d.padding+d.left
	}
	return failure
}

// moreData handles a part of a DATA frame, and returns its length.
func (c *Conn) moreData(b []byte) (n int) {
	c.mu.Lock()
	defer c.unlock()
	d := &c.in.data
	if n = min(len(b), d.left); n > 0 {
		d.left -= n
		if s := c.streams[d.id]; s != nil {
			s.body.write(b[:n])
			s.reader.wake()
		}
	}
	skipped := min(len(b)-n, d.padding)
	d.padding -= skipped
	if d.left == 0 && d.padding == 0 {
		c.endData()
	}
	return n + skipped
}

// endData handles the end of a DATA frame. mu is held.
func (c *Conn) endData() {
	if s := c.streams[c.in.data.id]; s != nil && c.in.data.end {
		c.endBody(s)
	}
	c.in.data = dataFrame{}
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

// isIdle reports whether a stream has not been opened. mu is held.
func (c *Conn) isIdle(id uint32) bool { return id%2 == 0 || id > c.last && c.state < closing }

// onClosed handles a frame on a stream that has ended. mu is held.
func (c *Conn) onClosed(id uint32) *Error {
	if c.client != nil || id > c.last || c.closed.ending(id) == endedByUs {
		return nil // sent before the peer knew
	}
	return c.refuseStream(id, &Error{http2.ErrCodeStreamClosed, ClosedStream, "a frame on a stream that has ended"})
}

// streamFailed ends a stream because of an error of the peer. Its exchange is cancelled, unless
// only its body is wrong. mu is held, here and below. The result is an error of the
// connection, if there have been too many.
func (c *Conn) streamFailed(s *Stream, e *Error) *Error {
	c.owner.Failed(e, false)
	c.resetStream(s, e.Code, e)
	if e.Reason != BodyLength && e.Reason != Trailers && s.user != nil {
		s.user.Cancel()
	}
	return c.spendReset()
}

// refuseStream resets a stream that does not exist.
func (c *Conn) refuseStream(id uint32, e *Error) *Error {
	c.owner.Failed(e, false)
	c.closed.add(id, endedByUs)
	if e := c.respond(func(f *http2.Framer) { f.WriteRSTStream(id, e.Code) }); e != nil {
		return e
	}
	return c.spendReset()
}

// spendReset counts a stream that the peer has reset, or has caused to be reset.
func (c *Conn) spendReset() *Error {
	if !c.budgets.resets.Spend(floodbudget.Resets, time.Now()) {
		return flood(Resets)
	}
	return nil
}
