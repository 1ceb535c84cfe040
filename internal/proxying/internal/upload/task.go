package upload

import (
	"fmt"
	"io"
	"strconv"

	"github.com/weirhq/weir/internal/http2"
	"github.com/weirhq/weir/internal/proxying/internal/pool"
)

// Run implements transport.Task.
func (u *Upload) Run() {
	defer u.done.Send()
	defer u.discard()
	end := u.readFirst()
	u.begun.Send()
	u.driver.Wait(u.start, 0)
	for c := u.conn; ; end = u.read() {
		if c != nil && !u.send(c) {
			c = nil // the response may have arrived nevertheless; the reader will find out
		}
		u.discard()
		if end {
			if c != nil && !u.responded.Load() {
				u.end(c)
			}
			return
		}
	}
}

// readFirst reads once. If the upload gathers, it reads until the block is full, the body ends,
// or the exchange does not wait any longer.
func (u *Upload) readFirst() (end bool) {
	end = u.read()
	for u.gathers && !end && !u.full() && !u.start.Sent() {
		end = u.read()
	}
	return end
}

func (u *Upload) full() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.to == blockLength
}

// read reads once from the client. It reports whether the body has ended.
func (u *Upload) read() (end bool) {
	u.waiting.Store(true)
	n, err := u.readGuarded()
	u.waiting.Store(false)
	u.mu.Lock()
	u.reading = false
	u.to += n
	u.mu.Unlock()
	u.bytes += int64(n)
	switch {
	case err == nil && u.bytes == u.length, err == io.EOF && (u.length < 0 || u.bytes == u.length):
		u.ended.Store(true)
		return true
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		u.err = u.owner.Fault(err)
		u.failed.Store(true)
	}
	return err != nil
}

// readGuarded reads from a body of any implementation. It recovers from a
// panic, which would end the process because it happens in the upload's
// goroutine.
func (u *Upload) readGuarded() (n int, err error) {
	defer func() {
		if value := recover(); value != nil {
			n, err = 0, fmt.Errorf("the body panicked: %v", value)
		}
	}()
	return u.body.ReadInto(u)
}

// send sends the head, if it was not sent, and the block.
func (u *Upload) send(c *pool.Conn) bool {
	if u.responded.Load() {
		return false
	}
	b := u.encode()
	if len(b) == 0 {
		return true
	}
	u.owner.Arm(c)
	return c.SendPart(b) == nil
}

// encode returns the head, if it was not sent, and the block. The block is a
// chunk if the length of the body is unknown.
func (u *Upload) encode() []byte {
	head, n := u.head, u.to-u.from
	u.head = nil
	if n == 0 {
		return head
	}
	from, to := headRoom+u.from, headRoom+u.to
	if u.length < 0 && u.conn.Stream == nil {
		var size [16]byte
		line := appendChunkSize(size[:0], n)
		from -= copy(u.buffer[from-len(line):], line)
		to += copy(u.buffer[to:], "\r\n")
	}
	if len(head) > from {
		return append(head, u.buffer[from:to]...)
	}
	from -= copy(u.buffer[from-len(head):], head)
	return u.buffer[from:to]
}

// appendChunkSize appends the line before a chunk of n bytes.
func appendChunkSize(b []byte, n int) []byte {
	return append(strconv.AppendInt(b, int64(n), 16), "\r\n"...)
}

// end tells the upstream that the body is complete, or breaks the connection if
// it never will be.
func (u *Upload) end(c *pool.Conn) {
	if u.failed.Load() {
		c.Interrupt()
		return
	}
	var err error
	switch {
	case c.Stream != nil:
		err = u.endStream(c.Stream)
	case u.length < 0:
		b := append(make([]byte, 0, 64), "0\r\n"...)
		u.owner.EachTrailer(func(name, value string) {
			b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
		})
		_, err = c.Write(append(b, "\r\n"...))
	}
	u.complete = err == nil
}

// endStream ends a request over HTTP/2, with its trailers if it has any.
func (u *Upload) endStream(s *http2.Stream) error {
	var h *http2.Head
	if u.length < 0 {
		u.owner.EachTrailer(func(name, value string) {
			if h == nil {
				h = http2.NewHead()
			}
			h.Add(name, value)
		})
	}
	if h == nil {
		_, err := s.Write(nil, true)
		return err
	}
	return s.SendHead(h, true)
}
