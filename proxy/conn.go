package proxy

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weirhq/weir/internal/lazydeadline"
)

// A conn is a connection to a server. At most one exchange uses it at a time.
type conn struct {
	*net.TCPConn
	server *Server

	ready time.Time // when it may be used again
	idle  time.Time // since when it is unused
	used  bool      // it has served an exchange before

	closed atomic.Bool

	mu       sync.Mutex // a request body and a response may be in transit at the same time
	deadline time.Time  // as set on the connection, guarded by mu

	// A non-blocking read and its result. The closure is made once per
	// connection, because one for each call would be an allocation.
	raw       syscall.RawConn
	try       func(fd uintptr) bool
	tryFlags  int
	tryBuf    []byte
	tryN      int
	tryErr    error
	peekSpace [1]byte

	// The same for writeAndRead and readAnswer, which read into the space of an
	// answer.
	writeAndReadFn func(fd uintptr) bool
	readFn         func(fd uintptr) bool
	into           *answer
	request        []byte // to be written
	written        int
	writeErr       error
}

func newConn(nc *net.TCPConn, s *Server) (*conn, error) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &conn{TCPConn: nc, server: s, raw: raw}
	c.try = func(fd uintptr) bool {
		c.tryN, c.tryErr = receive(int(fd), c.tryBuf, c.tryFlags)
		return true
	}
	c.writeAndReadFn = c.tryWriteAndRead
	c.readFn = c.tryRead
	return c, nil
}

// Close closes the connection. It may be called more than once.
func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	defer c.server.shared.leave()
	return c.TCPConn.Close()
}

// writeAndRead writes a request and reads the first bytes of the response. It
// saves one system call against Write and readAnswer, because it skips the
// first read, which would find no data. If the socket does not take the whole
// request immediately, writeAndRead returns the number of bytes written, with
// no bytes read and no error.
func (c *conn) writeAndRead(request []byte, a *answer) (written, n int, writeErr, readErr error) {
	c.request, c.written, c.writeErr = request, 0, nil
	c.into, c.tryN, c.tryErr = a, 0, nil
	err := c.raw.Read(c.writeAndReadFn)
	c.request, c.into = nil, nil
	switch {
	case c.writeErr != nil:
		return c.written, 0, c.writeErr, nil
	case err == nil && c.written < len(request):
		return c.written, 0, nil, nil
	}
	n, err = c.result(err)
	return c.written, n, nil, err
}

// readAnswer reads into the space of an answer, which holds no buffer while it
// waits.
func (c *conn) readAnswer(a *answer) (int, error) {
	c.into, c.tryN, c.tryErr = a, 0, nil
	err := c.raw.Read(c.readFn)
	c.into = nil
	return c.result(err)
}

// result converts the result of a read that ended with err into that of Read.
func (c *conn) result(err error) (int, error) {
	switch {
	case err != nil:
		return 0, err
	case c.tryErr == nil && c.tryN == 0:
		return 0, io.EOF
	}
	return c.tryN, c.tryErr
}

// tryWriteAndRead is called by the poller, which has cleared its readiness
// state of the socket before the first call. Data that arrives later is
// therefore never missed, and it is safe to wait without a first read.
func (c *conn) tryWriteAndRead(fd uintptr) (done bool) {
	if c.written == 0 {
		c.written, c.writeErr = send(int(fd), c.request)
		return c.written < len(c.request)
	}
	return c.tryRead(fd)
}

func (c *conn) tryRead(fd uintptr) (done bool) {
	c.tryN, c.tryErr = receive(int(fd), c.into.space(), 0)
	if c.tryErr == syscall.EAGAIN {
		c.into.giveBack()
		return false
	}
	return true
}

// send is a write(2) that does not wait.
func send(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Write(fd, p)
		switch err {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			return 0, nil
		}
		return max(n, 0), err
	}
}

// receive is a recvfrom(2) that does not wait.
func receive(fd int, buf []byte, flags int) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(fd, buf, flags|syscall.MSG_DONTWAIT)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// readNow reads the bytes that have arrived. ok is false if there are none. At
// the end of the stream ok is true and n is 0. After an expired deadline it
// fails with os.ErrDeadlineExceeded, which reveals nothing about the
// connection.
func (c *conn) readNow(buf []byte, flags int) (n int, ok bool, err error) {
	c.tryBuf, c.tryFlags = buf, flags
	err = c.raw.Read(c.try)
	c.tryBuf = nil
	switch {
	case err != nil:
		return 0, true, err
	case c.tryErr == syscall.EAGAIN:
		return 0, false, nil
	case c.tryErr != nil:
		return 0, true, c.tryErr
	}
	return c.tryN, true, nil
}

// quiet reports whether nothing has arrived: no bytes, no FIN and no error.
// Only then may the connection serve another exchange. surplus reports whether
// bytes have arrived.
func (c *conn) quiet(now time.Time) (quiet, surplus bool) {
	c.wake(now)
	n, ok, _ := c.readNow(c.peekSpace[:], syscall.MSG_PEEK)
	return !ok, ok && n > 0
}

// wake clears an expired deadline of the last exchange, because no read or peek
// works after it.
func (c *conn) wake(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.Before(c.deadline) {
		c.deadline = time.Time{}
		c.SetDeadline(c.deadline)
	}
}

// arm sets the deadline to timeout from now, or later as [lazydeadline.Next]
// allows.
func (c *conn) arm(now time.Time, timeout time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next, change := lazydeadline.Next(c.deadline, now.Add(timeout), timeout)
	if change {
		c.deadline = next
		c.SetDeadline(next) // an error appears in the next read or write
	}
}

// interrupt makes a blocked Read or Write return. Any goroutine may call it.
func (c *conn) interrupt() { c.SetDeadline(past) }
