package proxy

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A conn is a connection to a server. One exchange at a time has it.
type conn struct {
	*net.TCPConn
	server *Server

	ready time.Time // it may be used again from here on
	idle  time.Time // since when nobody has it
	used  bool      // it carried an exchange before

	closed atomic.Bool

	mu       sync.Mutex // an answer and a body may be on their way at once
	deadline time.Time  // what is set on the connection, guarded by mu

	// A read that does not wait, and its result: made once for the
	// connection's life, since a closure for each call would be an allocation.
	raw       syscall.RawConn
	try       func(fd uintptr) bool
	tryFlags  int
	tryBuf    []byte
	tryN      int
	tryErr    error
	peekSpace [1]byte

	// The same for ask and hear, which read into the room of an answer.
	writeAndReadFn func(fd uintptr) bool
	readFn         func(fd uintptr) bool
	into           *answer
	request        []byte // what is still to be said
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

// Close closes the connection. It may be called again.
func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	defer c.server.shared.leave()
	return c.TCPConn.Close()
}

// ask writes a request and reads the first bytes of the answer, as Write and
// hear would, with a system call less: what a plain read does first, finding
// nothing, is left out. When the socket does not take the request at once, ask
// returns after what it took, with nothing read and no error.
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

// hear is Read into the room of an answer, which needs none as long as it waits.
func (c *conn) readAnswer(a *answer) (int, error) {
	c.into, c.tryN, c.tryErr = a, 0, nil
	err := c.raw.Read(c.readFn)
	c.into = nil
	return c.result(err)
}

// result is that of a read that ended with err, as Read returns it.
func (c *conn) result(err error) (int, error) {
	switch {
	case err != nil:
		return 0, err
	case c.tryErr == nil && c.tryN == 0:
		return 0, io.EOF
	}
	return c.tryN, c.tryErr
}

// sayAndListen is called by the poller, which has forgotten before the first
// call what it knew of the socket: that something has arrived afterwards is
// therefore never missed, and it is safe to wait for it without having looked.
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

// send is write(2) of what the socket takes at once.
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

// receive is recvfrom(2) that never waits.
func receive(fd int, buf []byte, flags int) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(fd, buf, flags|syscall.MSG_DONTWAIT)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// readNow reads what has arrived. ok is false when nothing has; at the end of
// the stream it is true and n is 0. Behind an expired deadline it fails with
// os.ErrDeadlineExceeded, which says nothing about the connection.
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

// quiet tells whether nothing has arrived, neither bytes nor a FIN nor an
// error: only then may the connection carry another exchange. surplus tells
// that it is bytes.
func (c *conn) quiet(now time.Time) (quiet, surplus bool) {
	c.wake(now)
	n, ok, _ := c.readNow(c.peekSpace[:], syscall.MSG_PEEK)
	return !ok, ok && n > 0
}

// wake forgets a deadline of the last exchange that has passed since: nothing
// can be read, not even looked at, behind it.
func (c *conn) wake(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.Before(c.deadline) {
		c.deadline = time.Time{}
		c.SetDeadline(c.deadline)
	}
}

// arm sets the deadline to about timeout from now. A deadline that is right to
// an eighth (a second at most) is left alone: setting one costs as much as a
// small read.
func (c *conn) arm(now time.Time, timeout time.Duration) {
	slack := min(timeout/8, time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.deadline.Sub(now); left >= timeout && left <= timeout+slack {
		return
	}
	c.deadline = now.Add(timeout + slack)
	c.SetDeadline(c.deadline) // an error shows in the next read or write
}

// interrupt makes a waiting Read or Write return. It may be called by another
// goroutine than the one that has the connection.
func (c *conn) interrupt() { c.SetDeadline(past) }
