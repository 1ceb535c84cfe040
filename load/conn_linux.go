package load

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/load/internal/answer"
	"github.com/weirhq/weir/load/internal/program"
)

// A conn is a place for a connection, which may be closed and opened again.
type conn struct {
	fd         int // -1 when closed
	slot       int32
	generation int32 // tells the connections of a place apart
	state      connState
	hungUp     bool // there is no more to come than what can be read now
	blocked    bool // the kernel takes no more of what is unsent
	roomy      bool // stands in the loop's ring
	again      bool // stands in the loop's list of those with more to read
	paid       bool // has a request of the closed loop that nobody else sends
	failures   int  // in a row
	began      time.Duration
	retry      time.Duration
	parser     answer.Parser

	// The requests under way, in the order of their answers: flights of them in
	// a ring from first on.
	ring           []flight
	first, flights int

	unsent  []byte // what the kernel has not taken; may be a part of a fixed request
	own     []byte // holds what unsent has of requests that are not fixed
	file    io.ReaderAt
	at, end int64 // of file
}

type connState uint8

const (
	closed connState = iota
	connecting
	ready
)

// oldest is the request whose answer is next.
func (c *conn) oldest() *flight { return &c.ring[c.first] }

func (c *conn) launch(f flight) *flight {
	i := c.first + c.flights
	if i >= len(c.ring) {
		i -= len(c.ring)
	}
	c.ring[i] = f
	c.flights++
	return &c.ring[i]
}

// land forgets the oldest request.
func (c *conn) land() {
	c.flights--
	if c.first++; c.first == len(c.ring) {
		c.first = 0
	}
}

func (c *conn) hasRoom() bool { return c.state == ready && !c.blocked && c.flights < len(c.ring) }

func (l *loop) newConn() *conn {
	c := &conn{fd: -1, slot: int32(len(l.conns)), ring: make([]flight, l.run.plan.Pipeline)}
	c.parser.Memory = &l.memory
	l.conns = append(l.conns, c)
	return c
}

// closedConn returns a place for one more connection of the open loop, or nil.
func (l *loop) closedConn() *conn {
	if n := len(l.spare) - 1; n >= 0 {
		c := l.spare[n]
		l.spare = l.spare[:n]
		return c
	}
	if len(l.conns) < l.most {
		return l.newConn()
	}
	return nil
}

// connect begins to connect.
func (l *loop) connect(c *conn) {
	c.began = l.run.now()
	fd, err := unix.Socket(l.family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		l.failConnect(c, connectKind(err), os.NewSyscallError("socket", err))
		return
	}
	c.fd, c.state, c.hungUp = fd, connecting, false
	c.generation++
	l.opening++
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err = unix.Connect(fd, l.addr); err != nil && err != unix.EINPROGRESS {
		l.failConnect(c, connectKind(err), os.NewSyscallError("connect", err))
		return
	}
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: c.slot, Pad: c.generation}
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		l.failConnect(c, connectKind(err), os.NewSyscallError("epoll_ctl", err))
	}
}

// connectAgain begins to connect for the closed loop, when there is a request to
// send: without keep-alive it is taken now, so that there are no more
// connections than requests.
func (l *loop) connectAgain(c *conn) {
	if l.run.plan.NoKeepAlive && !c.paid {
		if !l.flow.more() {
			return
		}
		c.paid = true
		l.paid++
	}
	l.connect(c)
}

// spend takes a request of the closed loop for a connection, and tells whether
// there was one.
func (l *loop) spend(c *conn) bool {
	if !c.paid {
		return l.flow.more()
	}
	c.paid = false
	l.paid--
	return true
}

// finishConnect handles the first event of a connection.
func (l *loop) finishConnect(c *conn) {
	errno, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	if err != nil {
		l.failConnect(c, connectKind(err), os.NewSyscallError("connect", err))
		return
	}
	l.opening--
	c.state, c.failures = ready, 0
	c.parser.Reset()
	l.rec.connected(l.run.now() - c.began)
	if !l.begun {
		return
	}
	if !l.flow.open() && l.run.plan.NoKeepAlive {
		l.openUpTo(l.most)
	}
	l.refill(c)
}

// failConnect gives a connection up that was not made, and with it a request
// that it was for.
func (l *loop) failConnect(c *conn, k kind, err error) {
	l.rec.failures.add(k, fmt.Errorf("%s: %w", l.run.server, err))
	c.failures++
	l.release(c)
	f := flight{due: c.began, sent: c.began}
	switch {
	case !l.begun:
	case !l.flow.open():
		if l.spend(c) {
			l.rec.asked++
			l.rec.failUnsent(&f, k, l.run.now())
		}
	case l.flow.waiting() > 0:
		f.due = l.flow.take()
		l.rec.failUnsent(&f, k, l.run.now())
	}
	l.reopen(c, pauseAfter(c.failures))
}

// close closes a connection on which nothing is under way.
func (l *loop) close(c *conn) {
	if c.state == ready {
		l.rec.connections--
	}
	c.blocked, c.unsent, c.file = false, nil, nil
	if cap(c.own) > readSize {
		c.own = nil
	}
	l.release(c)
}

// release gives the place of a connection back.
func (l *loop) release(c *conn) {
	if c.state == connecting {
		l.opening--
	}
	if c.fd >= 0 {
		unix.Close(c.fd) // which takes it out of the epoll, too
	}
	c.fd, c.state = -1, closed
	if l.flow.open() {
		l.spare = append(l.spare, c)
	}
}

// refill has a connection that has room send, or wait for what is due.
func (l *loop) refill(c *conn) {
	switch {
	case !l.begun || !c.hasRoom():
	case l.flow.open():
		if !c.roomy {
			c.roomy = true
			l.roomy.push(c)
		}
	case l.run.plan.Pipeline == 1:
		if now := l.run.now(); now < time.Duration(l.run.end.Load()) && l.spend(c) {
			l.rec.asked++
			l.send(c, now, now, false)
		}
	default:
		l.fill(c)
	}
}

// nextRoomy returns the connection that has had room for longest, or nil.
func (l *loop) nextRoomy() *conn {
	for {
		c := l.roomy.pop()
		if c == nil {
			return nil
		}
		c.roomy = false
		if c.hasRoom() {
			return c
		}
	}
}

// sendDue sends the request that has been due for longest.
func (l *loop) sendDue(c *conn) {
	due := l.flow.take()
	l.send(c, due, l.run.now(), due <= l.starved)
	l.refill(c) // it may have room for more
}

// send sends one request.
func (l *loop) send(c *conn, due, now time.Duration, forConnection bool) {
	m := l.script.Next()
	l.launch(c, m, due, now, forConnection)
	l.write(c, m.Head, m.Fixed)
	if m.File != nil && c.state == ready {
		c.file, c.at, c.end = m.File, 0, m.Size
		l.flush(c)
	}
}

// launch counts a request that is about to be sent.
func (l *loop) launch(c *conn, m *program.Message, due, now time.Duration, forConnection bool) {
	if l.run.plan.NoKeepAlive {
		now = c.began // its connection is part of it
		if l.flow.open() {
			now = max(now, due) // it may have been made for a request before
		}
	}
	f := c.launch(flight{due: due, sent: now, endpoint: m.Endpoint, noBody: m.NoBody})
	l.inFlight++
	l.rec.send(f, forConnection)
}

// fill sends as many requests as the pipeline takes, put together.
func (l *loop) fill(c *conn) {
	now := l.run.now()
	if now >= time.Duration(l.run.end.Load()) {
		return
	}
	l.out = l.out[:0]
	for c.hasRoom() && l.flow.more() {
		l.rec.asked++
		m := l.script.Next()
		l.launch(c, m, now, now, false)
		l.out = append(l.out, m.Head...)
		if m.File != nil {
			l.write(c, l.out, false)
			l.out = l.out[:0]
			if c.state != ready {
				return
			}
			c.file, c.at, c.end = m.File, 0, m.Size
			l.flush(c) // which refills it when all is sent
			return
		} else if len(l.out) >= readSize {
			l.write(c, l.out, false)
			l.out = l.out[:0]
		}
	}
	if len(l.out) > 0 && c.state == ready {
		l.write(c, l.out, false)
	}
}

// write sends b, or keeps what the kernel does not take. A fixed b stays as it
// is for ever and is not copied.
func (l *loop) write(c *conn, b []byte, fixed bool) {
	if c.blocked {
		c.unsent = append(c.unsent, b...) // which has no room of another's
		return
	}
	n, errno := send(c.fd, b)
	if errno == unix.EAGAIN {
		n, errno = 0, 0
	}
	if errno != 0 {
		l.fail(c, exchangeKind(errno), fmt.Errorf("sending the request: %w", errno))
		return
	}
	l.rec.written += int64(n)
	if n == len(b) {
		return
	}
	c.blocked = true
	if fixed {
		c.unsent = b[n:len(b):len(b)]
		return
	}
	c.own = append(c.own[:0], b[n:]...)
	c.unsent = c.own[:len(c.own):len(c.own)]
}

// flush sends what the kernel takes of what is unsent.
func (l *loop) flush(c *conn) {
	for {
		if len(c.unsent) == 0 && !l.load(c) {
			c.blocked = false
			l.refill(c)
			return
		}
		c.blocked = true
		n, errno := send(c.fd, c.unsent)
		switch {
		case errno == unix.EAGAIN:
			return
		case errno != 0:
			l.fail(c, exchangeKind(errno), fmt.Errorf("sending the request: %w", errno))
			return
		}
		l.rec.written += int64(n)
		c.unsent = c.unsent[n:]
	}
}

// load puts the next piece of a body from a file into unsent, and tells whether
// there was one.
func (l *loop) load(c *conn) bool {
	if c.file == nil {
		return false
	}
	if c.at == c.end {
		c.file = nil
		return false
	}
	size := min(int64(readSize), c.end-c.at)
	if int64(cap(c.own)) < size {
		c.own = make([]byte, size)
	}
	c.own = c.own[:size]
	if n, err := c.file.ReadAt(c.own, c.at); n < len(c.own) {
		l.fail(c, badRequest, fmt.Errorf("reading the body at byte %d: %w", c.at+int64(n), err))
		return false
	}
	c.at += size
	c.unsent = c.own[:size:size]
	return true
}

func send(fd int, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
		if errno != unix.EINTR { // of which no event would tell that there is room
			return int(n), errno
		}
	}
}

func recv(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	return int(n), errno
}

// zoneID returns the number of an IPv6 zone.
func zoneID(zone string) uint32 {
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n)
	}
	if i, err := net.InterfaceByName(zone); err == nil {
		return uint32(i.Index)
	}
	return 0
}

// A ring holds connections, first in first out, each at most once.
type ring struct {
	places   []*conn
	first, n int
}

// grow makes room for n.
func (r *ring) grow(n int) { r.places = make([]*conn, n) }

func (r *ring) push(c *conn) {
	i := r.first + r.n
	if i >= len(r.places) {
		i -= len(r.places)
	}
	r.places[i] = c
	r.n++
}

func (r *ring) pop() *conn {
	if r.n == 0 {
		return nil
	}
	c := r.places[r.first]
	r.n--
	if r.first++; r.first == len(r.places) {
		r.first = 0
	}
	return c
}
