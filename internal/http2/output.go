package http2

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

const (
	// outputSize is the capacity of the output of a connection.
	outputSize = 64 << 10
	// outputLimit is the length from which streams have to wait. Only control frames and the
	// end of a frame are appended beyond it.
	outputLimit = 48 << 10
	// flushSize is the length from which the output is written during a turn.
	flushSize = 32 << 10
	// maxControl is how many responses to control frames may wait in the output.
	maxControl = 1000
	// writeBlock is how much a slow peer has to read within the timeout of writes.
	writeBlock = 4 << 10
)

type outputPage [outputSize]byte

var outputPages = sync.Pool{New: func() any { return new(outputPage) }}

// output returns the output, which has memory. mu is held, here and below.
func (c *Conn) output() []byte {
	if c.array == nil {
		c.array = outputPages.Get().(*outputPage)
		c.out = c.array[:0]
	}
	return c.out
}

func (c *Conn) releaseOutput() {
	if c.array != nil {
		outputPages.Put(c.array)
		c.array, c.out = nil, nil
	}
}

// room returns how many bytes streams may append.
func (c *Conn) room() int { return outputLimit - len(c.out) }

const frameHeader = 9 // bytes

func appendFrameHeader(b []byte, length int, t http2.FrameType, flags http2.Flags, stream uint32) []byte {
	b = append(b, byte(length>>16), byte(length>>8), byte(length), byte(t), byte(flags))
	return binary.BigEndian.AppendUint32(b, stream)
}

// appendData appends a DATA frame, reduces the windows and counts the frame for the budgets of the peer.
func (c *Conn) appendData(s *Stream, p []byte, end bool) {
	flags := http2.Flags(0)
	if end {
		flags = http2.FlagDataEndStream
	}
	b := appendFrameHeader(c.output(), len(p), http2.FrameData, flags, s.id)
	c.out = append(b, p...)
	s.sendWindow -= len(p)
	c.sendWindow -= len(p)
	c.budgets.sentData(len(p), min(s.sendWindow, c.sendWindow) <= 0)
	if len(c.out) >= flushSize {
		c.flush()
	}
}

// appendHead appends a header block.
func (c *Conn) appendHead(stream uint32, block []byte, end bool) {
	var announce [1]byte
	if !c.tableSent {
		c.tableSent = true
		announce[0] = 0x20 // RFC 7541, section 6.3: the size of the table is 0
	}
	flags := http2.Flags(0)
	if end {
		flags = http2.FlagHeadersEndStream
	}
	b := c.output()
	for t := http2.FrameHeaders; ; t = http2.FrameContinuation {
		size := len(block)
		if announce[0] != 0 {
			size++
		}
		n := min(size, maxFrame)
		if n == size {
			flags |= http2.FlagHeadersEndHeaders
		}
		b = appendFrameHeader(b, n, t, flags, stream)
		if announce[0] != 0 {
			b = append(b, announce[0])
			announce[0] = 0
			n--
		}
		b = append(b, block[:n]...)
		if block = block[n:]; len(block) == 0 {
			break
		}
		flags = 0
	}
	c.out = b
}

// A framer is a Framer of golang.org/x/net/http2 that reads from bytes and writes to the output
// of a connection.
type framer struct {
	*http2.Framer
	in   []byte
	conn *Conn
}

var framers = sync.Pool{New: func() any {
	f := new(framer)
	f.Framer = http2.NewFramer(f, f)
	f.AllowIllegalReads = true // the order of frames is checked here
	f.SetMaxReadFrameSize(maxFrame)
	return f
}}

// Read implements io.Reader.
func (f *framer) Read(p []byte) (int, error) {
	n := copy(p, f.in)
	f.in = f.in[n:]
	return n, nil
}

// Write implements io.Writer.
func (f *framer) Write(p []byte) (int, error) {
	f.conn.out = append(f.conn.output(), p...)
	return len(p), nil
}

// writeFrames appends the frames that write writes.
func (c *Conn) writeFrames(write func(*http2.Framer)) {
	f := framers.Get().(*framer)
	f.conn = c
	write(f.Framer)
	f.conn = nil
	framers.Put(f)
}

// respond appends the response to a control frame. The peer must read such responses before it
// causes many more.
func (c *Conn) respond(write func(*http2.Framer)) *Error {
	if c.control++; c.control > maxControl && !c.writing {
		c.flush()
	}
	if c.control > maxControl {
		return &Error{http2.ErrCodeEnhanceYourCalm, Output, "the responses to control frames are not read"}
	}
	c.writeFrames(write)
	c.push()
	return nil
}

// push has the output written: on a loop at the end of the turn, otherwise by unlock.
func (c *Conn) push() {
	switch {
	case c.ender == nil:
		c.unflushed = true
	case !c.ending:
		c.ending = true
		c.ender.AtTurnEnd(c)
	}
}

// unlock releases mu, after it has written the output if that is due.
func (c *Conn) unlock() {
	if c.unflushed {
		c.unflushed = false
		c.flush()
	}
	c.mu.Unlock()
}

// EndTurn implements transport.TurnEnder.
func (c *Conn) EndTurn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = false
	c.flush()
}

// flush writes the output as far as that is possible without a wait. A task writes the rest.
// mu is released meanwhile.
func (c *Conn) flush() {
	for !c.writing && len(c.out) > 0 && c.state != gone {
		c.swap()
		c.mu.Unlock()
		n, err := c.conn.TryWrite(c.pending)
		c.mu.Lock()
		if c.pending = c.pending[n:]; err == nil && len(c.pending) > 0 {
			c.slow = true
			c.driver.Go((*flusher)(c))
			return
		}
		c.written(err)
	}
	if c.state == failed && !c.writing && !c.endSent {
		c.endSent = true
		c.driver.Go((*endSender)(c))
	}
}

// An endSender is a task that sends the end of the stream of bytes. With TLS, it may wait.
type endSender Conn

// Run implements transport.Task.
func (e *endSender) Run() { e.conn.CloseWrite() }

// swap begins to write the output.
func (c *Conn) swap() {
	c.writing, c.control = true, 0
	c.pending, c.page = c.out, c.array
	c.out, c.array = nil, nil
	c.nextTurn()
}

// written ends a write.
func (c *Conn) written(err error) {
	c.writing = false
	if outputPages.Put(c.page); c.state == gone {
		c.releaseOutput()
	}
	c.pending, c.page = nil, nil
	if err != nil {
		c.conn.Close() // the reader ends the connection
		return
	}
	if c.slow && len(c.out) == 0 {
		c.slow, c.idle = false, time.Now()
		c.arm()
	}
	c.endIfDrained()
}

// A flusher is a task that writes the bytes that the socket has not accepted.
type flusher Conn

// Run implements transport.Task.
func (f *flusher) Run() {
	c := (*Conn)(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		timeout, began := c.owner.Limits().WriteTimeout, time.Now()
		if c.state == failed {
			timeout = lingerTimeout
		}
		by := time.Time{}
		if timeout > 0 {
			by = began.Add(timeout)
		}
		c.mu.Unlock()
		c.conn.SetWriteDeadline(by)
		n, err := c.conn.Write(c.pending[:min(len(c.pending), writeBlock)])
		c.mu.Lock()
		c.pending = c.pending[n:]
		switch {
		case err != nil:
			if isTimeout(err) && c.state < failed {
				c.owner.Failed(&Error{http2.ErrCodeNo, SlowReader, "nothing was read"}, true)
			}
			c.written(err)
			return
		case len(c.pending) > 0:
		case len(c.out) == 0:
			c.written(nil)
			c.flush()
			return
		default:
			c.written(nil)
			c.swap()
		}
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
