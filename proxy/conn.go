package proxy

import (
	"net"
	"sync"
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
	return c, nil
}

// receive is recvfrom(2) that never waits.
func receive(fd int, buf []byte, flags int) (int, error) {
	for {
		n, _, err := syscall.Recvfrom(fd, buf, flags|syscall.MSG_DONTWAIT)
		if err != syscall.EINTR {
			return n, err
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
