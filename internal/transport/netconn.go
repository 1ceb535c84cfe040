package transport

import (
	"cmp"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A NetConn is a [Conn] over a connection of package net.
type NetConn struct {
	socket socket
	raw    syscall.RawConn
	remote netip.AddrPort
	closed atomic.Bool

	mu           sync.Mutex // guards the deadlines as they are set
	readDeadline time.Time

	reading reading
	writing writing
	file    fileWriting
	room    room
}

// A socket is a *net.TCPConn or a *net.UnixConn.
type socket interface {
	net.Conn
	syscall.Conn
	CloseWrite() error
}

// A reading holds the arguments and results of the read in progress. Its functions are
// made once for each connection, because a closure for each call would be an allocation.
type reading struct {
	try  func(fd uintptr) bool
	buf  []byte
	flag int

	readInto      func(fd uintptr) bool
	writeReadInto func(fd uintptr) bool
	space         Space
	request       []byte // to be written first
	written       int
	writeErr      error

	n   int
	err error

	peeked [1]byte
}

// A writing holds the argument and results of a TryWrite.
type writing struct {
	try func(fd uintptr) bool
	buf []byte
	n   int
	err error
}

func (w *writing) once(fd uintptr) (done bool) {
	w.n, w.err = send(int(fd), w.buf)
	return true
}

// NewConn returns a connection that uses nc, and owns it.
func NewConn(nc *net.TCPConn) (*NetConn, error) {
	remote := nc.RemoteAddr().(*net.TCPAddr).AddrPort()
	return newConn(nc, netip.AddrPortFrom(remote.Addr().Unmap(), remote.Port()))
}

// newConn is NewConn with the address of the peer, which the kernel does not know any more
// after a reset. It is the zero value for a Unix socket.
func newConn(nc socket, remote netip.AddrPort) (*NetConn, error) {
	raw, err := nc.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &NetConn{socket: nc, raw: raw, remote: remote}
	c.reading.try, c.reading.readInto, c.reading.writeReadInto = c.tryOnce, c.readIntoOnce, c.writeReadIntoOnce
	c.writing.try = c.writing.once
	c.room.look = c.room.lookOnce
	return c, nil
}

// TCP returns the TCP connection that c uses. The caller owns it from now on, and must not use
// c any more. It panics if c uses a Unix socket.
func (c *NetConn) TCP() *net.TCPConn { return c.socket.(*net.TCPConn) }

// Remote implements Conn.
func (c *NetConn) Remote() netip.AddrPort { return c.remote }

// Read implements Conn.
func (c *NetConn) Read(p []byte) (int, error) { return c.socket.Read(p) }

// Write implements Conn.
func (c *NetConn) Write(p []byte) (int, error) { return c.socket.Write(p) }

// TryWrite implements Conn.
func (c *NetConn) TryWrite(p []byte) (int, error) {
	w := &c.writing
	w.buf, w.n, w.err = p, 0, nil
	err := c.raw.Write(w.try)
	w.buf = nil
	return w.n, cmp.Or(err, w.err)
}

// ReadInto implements Conn.
func (c *NetConn) ReadInto(s Space) (int, error) {
	r := &c.reading
	r.space, r.n, r.err = s, 0, nil
	err := c.raw.Read(r.readInto)
	r.space = nil
	return r.result(err)
}

// WriteReadInto implements Conn.
func (c *NetConn) WriteReadInto(p []byte, s Space) (written, n int, writeErr, readErr error) {
	r := &c.reading
	r.request, r.written, r.writeErr = p, 0, nil
	r.space, r.n, r.err = s, 0, nil
	err := c.raw.Read(r.writeReadInto)
	r.request, r.space = nil, nil
	switch {
	case r.writeErr != nil:
		return r.written, 0, r.writeErr, nil
	case err == nil && r.written < len(p):
		return r.written, 0, nil, nil
	}
	n, err = r.result(err)
	return r.written, n, nil, err
}

// result converts the result of a read that ended with err into that of Read.
func (r *reading) result(err error) (int, error) {
	switch {
	case err != nil:
		return 0, err
	case r.err == nil && r.n == 0:
		return 0, io.EOF
	}
	return r.n, r.err
}

// writeReadIntoOnce is called by the poller, which has cleared its readiness state of the
// socket before the first call. Data that arrives later is therefore never missed, and it
// is safe to wait without a first read.
func (c *NetConn) writeReadIntoOnce(fd uintptr) (done bool) {
	r := &c.reading
	if r.written == 0 {
		r.written, r.writeErr = send(int(fd), r.request)
		return r.written < len(r.request)
	}
	return c.readIntoOnce(fd)
}

func (c *NetConn) readIntoOnce(fd uintptr) (done bool) {
	r := &c.reading
	r.n, r.err = receive(int(fd), r.space.Space(), 0)
	if r.err == syscall.EAGAIN {
		r.space.GiveBack()
		return false
	}
	return true
}

func (c *NetConn) tryOnce(fd uintptr) (done bool) {
	r := &c.reading
	r.n, r.err = receive(int(fd), r.buf, r.flag)
	return true
}

// TryRead implements Conn.
func (c *NetConn) TryRead(p []byte) (n int, ok bool, err error) { return c.readNow(p, 0) }

// readNow reads the bytes that have arrived. After an expired deadline it fails with
// os.ErrDeadlineExceeded, which reveals nothing about the connection.
func (c *NetConn) readNow(p []byte, flag int) (n int, ok bool, err error) {
	r := &c.reading
	r.buf, r.flag = p, flag
	err = c.raw.Read(r.try)
	r.buf = nil
	switch {
	case err != nil:
		return 0, true, err
	case r.err == syscall.EAGAIN:
		return 0, false, nil
	case r.err != nil:
		return 0, true, r.err
	}
	return r.n, true, nil
}

// Quiet implements Conn.
func (c *NetConn) Quiet() (quiet, surplus bool) {
	n, ok, err := c.readNow(c.reading.peeked[:], syscall.MSG_PEEK)
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		c.wake()
		n, ok, _ = c.readNow(c.reading.peeked[:], syscall.MSG_PEEK)
	}
	return !ok, ok && n > 0
}

// wake removes an expired deadline, because no read or peek works after it.
func (c *NetConn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.readDeadline.IsZero() && !time.Now().Before(c.readDeadline) {
		c.readDeadline = time.Time{}
		c.socket.SetReadDeadline(c.readDeadline)
	}
}

// Room implements Conn.
func (c *NetConn) Room() (int, error) { return c.room.wait(c.raw) }

// SetDeadline implements Conn.
func (c *NetConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements Conn.
func (c *NetConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline = t
	return c.socket.SetReadDeadline(t)
}

// SetWriteDeadline implements Conn.
func (c *NetConn) SetWriteDeadline(t time.Time) error { return c.socket.SetWriteDeadline(t) }

// CloseWrite implements Conn.
func (c *NetConn) CloseWrite() error { return c.socket.CloseWrite() }

// Close implements Conn.
func (c *NetConn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.socket.Close()
}

// closeAfter implements Carrier.
func (c *NetConn) closeAfter(last []byte) error {
	if len(last) > 0 {
		c.raw.Control(func(fd uintptr) { send(int(fd), last) })
	}
	return c.Close()
}

// Abort implements Conn.
func (c *NetConn) Abort() error {
	if tcp, ok := c.socket.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	return c.Close()
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

// Await waits until bytes have arrived, and leaves them in the socket. end reports that
// the stream has ended instead. If hasEnded is true, Await ignores the end and waits for
// an error. It counts as a read: no other one may be in progress.
func (c *NetConn) Await(hasEnded bool) (end bool, err error) {
	var peeked [1]byte
	var failed error
	err = c.raw.Read(func(fd uintptr) bool {
		n := 0
		n, failed = receive(int(fd), peeked[:], syscall.MSG_PEEK)
		if end = n == 0 && failed == nil; end && hasEnded {
			failed = errorOf(int(fd)) // a read does not return the error of a reset after the end
			return failed != nil
		}
		return failed != syscall.EAGAIN
	})
	return end, cmp.Or(err, failed)
}

// errorOf returns the error of a socket.
func errorOf(fd int) error {
	number, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	if err == nil && number != 0 {
		err = syscall.Errno(number)
	}
	return err
}
