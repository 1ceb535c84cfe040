package http2

import (
	"encoding/binary"
	"time"

	"golang.org/x/net/http2"

	"github.com/weirhq/weir/internal/floodbudget"
)

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
	case c.running == 0 && !c.opening && !c.slow && now.Sub(c.idle) >= limits.IdleTimeout:
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
		return 0, protocolError("the preface is not the preface of HTTP/2")
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

// giveBack allows the peer to send n bytes again on any stream. mu is held.
func (c *Conn) giveBack(n int) {
	if c.arrived += n; c.arrived >= connWindow/4 && c.state < failed {
		c.recvWindow += c.arrived
		c.writeFrames(func(f *http2.Framer) { f.WriteWindowUpdate(0, uint32(c.arrived)) })
		c.arrived = 0
		c.push()
	}
}

// A reading is a task that reads from a connection.
type reading Conn

// Run implements transport.Task.
func (r *reading) Run() { (*Conn)(r).Serve() }
