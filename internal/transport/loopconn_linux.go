package transport

import (
	"io"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A LoopConn is a [Conn] of a loop. Its methods must be called on the loop, except for
// the methods that set deadlines, Close and Abort. Methods that have to wait must be
// called in a task.
//
// It is registered with epoll once, edge-triggered, and remembers whether the socket can be
// read and written: an operation calls the kernel only if it can succeed.
type LoopConn struct {
	loop       *Loop
	fd         int32 // -1 after it was closed
	slot       int32
	generation uint32 // distinguishes the connections of a slot

	mayRead  bool // a read may find something
	mayWrite bool
	ended    bool // the peer has sent the end of the stream
	reset    bool // the connection has failed
	endSent  bool // by CloseWrite
	urgent   bool // has had urgent data, before which a read ends
	queued   bool // is in the loop's queue, for its handler
	pending  bool // the handler is called even if a read would find nothing
	closed   atomic.Bool

	remote netip.AddrPort

	timer                       timer
	readDeadline, writeDeadline atomic.Int64 // as in Loop.at
	reader, writer              *coroutine   // those that wait

	handler Handler
	watcher Watcher
}

// Add takes over the descriptor of a connected socket that does not block. If it fails, it
// has closed the descriptor. It must be called on the loop.
func (l *Loop) Add(fd int, remote netip.AddrPort) (*LoopConn, error) {
	if l.closing {
		unix.Close(fd)
		return nil, net.ErrClosed
	}
	slot := int32(len(l.conns))
	if n := len(l.freeSlots) - 1; n >= 0 {
		slot, l.freeSlots = l.freeSlots[n], l.freeSlots[:n]
	} else {
		l.conns = append(l.conns, nil)
	}
	l.generation++
	c := &LoopConn{loop: l, fd: int32(fd), slot: slot, generation: l.generation, mayWrite: true, remote: remote}
	c.timer.owner = c
	l.conns[slot] = c
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLPRI | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET,
		Fd: slot, Pad: int32(c.generation)}
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		c.Close()
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	return c, nil
}

// Remote implements Conn.
func (c *LoopConn) Remote() netip.AddrPort { return c.remote }

// handle handles an event.
func (c *LoopConn) handle(events uint32) {
	failed := events&unix.EPOLLERR != 0 || events&unix.EPOLLHUP != 0 && !c.endSent
	resets, ends := failed && !c.reset, events&unix.EPOLLRDHUP != 0 && !c.ended
	c.reset, c.ended = c.reset || resets, c.ended || ends
	c.urgent = c.urgent || events&unix.EPOLLPRI != 0
	if events&(unix.EPOLLIN|unix.EPOLLPRI|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		c.mayRead = true
		if c.loop.pacer != nil && c.handler != nil && !c.queued {
			c.run() // its data is in the cache
		} else {
			c.wakeReader()
		}
	}
	if events&(unix.EPOLLOUT|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		c.mayWrite = true
		c.wakeWriter()
	}
	if (resets || ends) && c.watcher != nil {
		c.hungUp(c.watcher)
	}
}

// wakeReader wakes the reader, or queues the connection for its handler.
func (c *LoopConn) wakeReader() {
	switch {
	case c.reader != nil:
		c.reader.wake()
	case c.handler != nil:
		c.queue()
	}
}

func (c *LoopConn) wakeWriter() {
	if c.writer != nil {
		c.writer.wake()
	}
}

func (c *LoopConn) waitToRead() {
	c.reader = c.loop.current()
	c.reader.wait()
	c.reader = nil
}

func (c *LoopConn) waitToWrite() {
	c.writer = c.loop.current()
	c.writer.wait()
	c.writer = nil
}

// readError returns the reason why a read fails without a look at the socket.
func (c *LoopConn) readError() error { return c.failure(c.readDeadline.Load()) }

// writeError is readError for a write.
func (c *LoopConn) writeError() error { return c.failure(c.writeDeadline.Load()) }

func (c *LoopConn) failure(deadline int64) error {
	switch {
	case c.closed.Load():
		return net.ErrClosed
	case deadline != 0 && deadline <= c.loop.elapsed:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// Read implements Conn.
func (c *LoopConn) Read(p []byte) (int, error) {
	c.loop.share()
	for {
		if err := c.readError(); err != nil || len(p) == 0 {
			return 0, err
		}
		if !c.mayRead {
			c.waitToRead()
			continue
		}
		if n, err := c.receive(p); err != unix.EAGAIN {
			return readResult(n, err)
		}
	}
}

// ReadInto implements Conn.
func (c *LoopConn) ReadInto(s Space) (int, error) {
	c.loop.share()
	return c.readInto(s)
}

func (c *LoopConn) readInto(s Space) (int, error) {
	for {
		if err := c.readError(); err != nil {
			return 0, err
		}
		if !c.mayRead {
			c.waitToRead()
			continue
		}
		n, err := c.receive(s.Space())
		if err != unix.EAGAIN {
			return readResult(n, err)
		}
		s.GiveBack()
	}
}

// readResult converts the result of recvfrom(2) into that of Read.
func readResult(n int, err error) (int, error) {
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// WriteReadInto implements Conn.
func (c *LoopConn) WriteReadInto(p []byte, s Space) (written, n int, writeErr, readErr error) {
	c.loop.share()
	if readErr = c.readError(); readErr != nil {
		return 0, 0, nil, readErr
	}
	written, writeErr = c.send(p)
	if writeErr != nil || written < len(p) {
		return written, 0, writeErr, nil
	}
	n, readErr = c.readInto(s)
	return written, n, nil, readErr
}

// TryRead implements Conn.
func (c *LoopConn) TryRead(p []byte) (n int, ok bool, err error) {
	if err := c.readError(); err != nil {
		return 0, true, err
	}
	if !c.mayRead {
		return 0, false, nil
	}
	n, err = c.receive(p)
	if err == unix.EAGAIN {
		return 0, false, nil
	}
	return n, true, err
}

// Quiet implements Conn. It rarely calls the kernel: an idle connection stays registered,
// and the loop knows of everything that had arrived at its last poll. If that was more
// than freshFor ago, or did not fetch all events, Quiet peeks at the socket instead.
//
// So Quiet may miss bytes of the last freshFor, as a peek misses the bytes of the next
// moment. The protection from surplus bytes is the time for which a connection rests
// before its reuse, and freshFor is a small part of it.
func (c *LoopConn) Quiet() (quiet, surplus bool) {
	if c.failure(c.readDeadline.Load()) == os.ErrDeadlineExceeded {
		c.readDeadline.Store(0)
	}
	if c.closed.Load() {
		return false, false
	}
	if !c.mayRead && c.loop.fetchedAll && time.Since(c.loop.now) < freshFor {
		return true, false
	}
	var peeked [1]byte
	n, err := receiveRaw(int(c.fd), peeked[:], unix.MSG_PEEK)
	if err == unix.EAGAIN {
		c.mayRead = false
		return true, false
	}
	return false, n > 0
}

// TryWrite implements Conn.
func (c *LoopConn) TryWrite(p []byte) (int, error) {
	c.loop.share()
	if err := c.writeError(); err != nil || !c.mayWrite {
		return 0, err
	}
	return c.send(p)
}

// Write implements Conn.
func (c *LoopConn) Write(p []byte) (written int, err error) {
	for {
		c.loop.share()
		for err = c.writeError(); err == nil && !c.mayWrite; err = c.writeError() {
			c.waitToWrite()
		}
		if err != nil {
			return written, err
		}
		n, err := c.send(p[written:min(len(p), written+maxBytes)])
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// Room implements Conn.
func (c *LoopConn) Room() (int, error) {
	for {
		if err := c.writeError(); err != nil {
			return 0, err
		}
		if n, ok := roomOf(int(c.fd)); ok {
			return n, nil
		}
		c.mayWrite = false
		c.waitToWrite()
	}
}

// receive reads once. After EAGAIN, and after a read that did not fill p, an event follows
// when there is more to read. If the end of the stream is known, it is read without an
// event.
func (c *LoopConn) receive(p []byte) (int, error) {
	n, err := receiveRaw(int(c.fd), p, 0)
	if err == unix.EAGAIN || n > 0 && n < len(p) && !c.ended && !c.reset && !c.urgent {
		c.mayRead = false
	}
	c.loop.spend(n)
	return n, err
}

// send writes once. After a write that did not take all of p, an event follows when the
// socket is writable again.
func (c *LoopConn) send(p []byte) (int, error) {
	n, err := sendRaw(int(c.fd), p, 0)
	if err == unix.EAGAIN {
		n, err = 0, nil
	}
	if err == nil && n < len(p) {
		c.mayWrite = false
	}
	c.loop.spend(n)
	return n, err
}

// SetDeadline implements Conn.
func (c *LoopConn) SetDeadline(t time.Time) error {
	at := c.loop.at(t)
	c.readDeadline.Store(at)
	c.writeDeadline.Store(at)
	return c.arm(at)
}

// SetReadDeadline implements Conn.
func (c *LoopConn) SetReadDeadline(t time.Time) error {
	at := c.loop.at(t)
	c.readDeadline.Store(at)
	return c.arm(at)
}

// SetWriteDeadline implements Conn.
func (c *LoopConn) SetWriteDeadline(t time.Time) error {
	at := c.loop.at(t)
	c.writeDeadline.Store(at)
	return c.arm(at)
}

// arm makes sure that the timer fires for a deadline that was stored.
func (c *LoopConn) arm(at int64) error {
	switch {
	case c.closed.Load():
		return net.ErrClosed
	case at == 0 || c.timer.covers(at):
	case c.loop.onThread():
		c.rearm()
	default:
		c.loop.Post(c.rearm)
	}
	return nil
}

func (c *LoopConn) rearm() {
	if next := c.elapse(c.loop.elapsed); next != 0 && c.fd >= 0 {
		c.loop.wheel.set(&c.timer, next)
	}
}

// elapse implements timed.
func (c *LoopConn) elapse(now int64) (next int64) {
	read, write := c.readDeadline.Load(), c.writeDeadline.Load()
	if read > now {
		next = read
	} else if read != 0 {
		c.wakeReader()
	}
	if write > now && (next == 0 || write < next) {
		next = write
	} else if write != 0 && write <= now {
		c.wakeWriter()
	}
	return next
}

// CloseWrite implements Conn.
func (c *LoopConn) CloseWrite() error {
	if c.closed.Load() {
		return net.ErrClosed
	}
	c.endSent = true
	return os.NewSyscallError("shutdown", unix.Shutdown(int(c.fd), unix.SHUT_WR))
}

// Close implements Conn. The handler of an idle connection is called.
func (c *LoopConn) Close() error {
	c.closeBy(c.release)
	return nil
}

// closeAfter implements Carrier.
func (c *LoopConn) closeAfter(last []byte) error {
	if len(last) == 0 {
		return c.Close()
	}
	c.closeBy(func() {
		if c.fd >= 0 {
			sendRaw(int(c.fd), last, 0)
		}
		c.release()
	})
	return nil
}

// Abort implements Conn.
func (c *LoopConn) Abort() error {
	c.closeBy(c.abort)
	return nil
}

// closeBy calls f on the loop, unless the connection was closed before.
func (c *LoopConn) closeBy(f func()) {
	switch {
	case c.closed.Swap(true):
	case c.loop.onThread():
		f()
	default:
		c.loop.Post(f) // a loop that has ended has closed the connection
	}
}

func (c *LoopConn) abort() {
	if c.fd >= 0 {
		unix.SetsockoptLinger(int(c.fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	c.release()
}

// release closes the socket and removes it from the loop. Operations that wait fail.
func (c *LoopConn) release() {
	if c.fd < 0 {
		return
	}
	unix.Close(int(c.fd)) // which also removes it from the epoll
	c.fd, c.watcher = -1, nil
	c.loop.conns[c.slot] = nil
	c.loop.freeSlots = append(c.loop.freeSlots, c.slot)
	c.loop.wheel.stop(&c.timer)
	c.wakeReader()
	c.wakeWriter()
}
