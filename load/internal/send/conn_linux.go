package send

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

	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/record"
	"github.com/weirhq/weir/load/internal/response"
)

// A conn is a slot for a connection, which may be closed and opened again.
type conn struct {
	fd         int // -1 if closed
	slot       int32
	generation int32 // counts the connections of the slot
	state      connState
	hungUp     bool // the server sends no more bytes than can be read now
	blocked    bool // the kernel takes no more bytes now
	queued     bool // is in the loop's queue of free connections
	again      bool // is in the loop's list of connections with more to read
	claimed    bool // has claimed a request of the closed loop
	failures   int  // consecutive
	began      time.Duration
	retry      time.Duration
	parser     response.Parser

	// The requests under way, in the order of their responses: a ring buffer with
	// flights entries, beginning at first.
	ring           []record.Flight
	first, flights int
	kept           []keptMessage // of the requests in ring; nil without a pipeline
	left           int           // the last requests, which have to be sent again

	broken  error  // the kernel takes no more bytes, but the server may have answered before
	unsent  []byte // to be sent; may be part of a fixed request
	own     []byte // buffer of unsent for requests that are not fixed
	file    io.ReaderAt
	at, end int64 // the part of file that is left
}

type connState uint8

const (
	closed connState = iota
	connecting
	ready
)

// A keptMessage is a message that may have to be sent again.
type keptMessage struct {
	program.Message
	own []byte // buffer of Head if the message is not fixed
}

func (k *keptMessage) keep(m *program.Message) {
	k.Message = *m
	if !m.Fixed {
		k.own = append(k.own[:0], m.Head...)
		k.Head = k.own
	}
}

// oldest returns the request whose response is next.
func (c *conn) oldest() *record.Flight { return &c.ring[c.first] }

// launch adds a request.
func (c *conn) launch(f record.Flight, m *program.Message) *record.Flight {
	i := c.index(c.flights)
	c.ring[i] = f
	if c.kept != nil {
		c.kept[i].keep(m)
	}
	c.flights++
	return &c.ring[i]
}

// index returns the index in ring of the request that has n before it.
func (c *conn) index(n int) int {
	i := c.first + n
	if i >= len(c.ring) {
		i -= len(c.ring)
	}
	return i
}

// land removes the oldest request.
func (c *conn) land() {
	c.flights--
	if c.first++; c.first == len(c.ring) {
		c.first = 0
	}
}

// canSend reports whether the connection can take a request.
func (c *conn) canSend() bool {
	return c.state == ready && !c.blocked && c.left == 0 && c.flights < len(c.ring)
}

func (l *loop) newConn() *conn {
	c := &conn{fd: -1, slot: int32(len(l.conns)), ring: make([]record.Flight, l.Run.Pipeline)}
	if len(c.ring) > 1 {
		c.kept = make([]keptMessage, len(c.ring))
	}
	c.parser.Memory = &l.memory
	l.conns = append(l.conns, c)
	return c
}

// closedConn returns a slot for another connection of the open loop, nil if there
// is none left.
func (l *loop) closedConn() *conn {
	if n := len(l.spare) - 1; n >= 0 {
		c := l.spare[n]
		l.spare = l.spare[:n]
		return c
	}
	if len(l.conns) < l.Most {
		return l.newConn()
	}
	return nil
}

// connect starts to connect.
func (l *loop) connect(c *conn) {
	c.began = l.Run.Now()
	fd, err := unix.Socket(l.family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		l.failConnect(c, failure.OfConnection(err), os.NewSyscallError("socket", err))
		return
	}
	c.fd, c.state, c.hungUp = fd, connecting, false
	c.generation++
	l.opening++
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err = unix.Connect(fd, l.addr); err != nil && err != unix.EINPROGRESS {
		l.failConnect(c, failure.OfConnection(err), os.NewSyscallError("connect", err))
		return
	}
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: c.slot,
		Pad: c.generation}
	if err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		l.failConnect(c, failure.OfConnection(err), os.NewSyscallError("epoll_ctl", err))
	}
}

// connectAgain starts to connect for the closed loop, if there is a request to send.
// Without keep-alive it claims the request now, so that there are no more
// connections than requests.
func (l *loop) connectAgain(c *conn) {
	if l.Run.NoKeepAlive && !c.claimed {
		if !l.Requests.Claim() {
			return
		}
		c.claimed = true
		l.claimed++
	}
	l.connect(c)
}

// claim claims a request of the closed loop for a connection, unless it has done
// so before, and reports whether one was left.
func (l *loop) claim(c *conn) bool {
	if !c.claimed {
		return l.Requests.Claim()
	}
	c.claimed = false
	l.claimed--
	return true
}

// finishConnect handles the first event of a connection.
func (l *loop) finishConnect(c *conn) {
	errno, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = syscall.Errno(errno)
	}
	if err != nil {
		l.failConnect(c, failure.OfConnection(err), os.NewSyscallError("connect", err))
		return
	}
	l.opening--
	c.state, c.failures = ready, 0
	c.parser.Reset()
	l.Rec.Connected(l.Run.Now() - c.began)
	if !l.begun {
		return
	}
	if !l.Requests.Open() && l.Run.NoKeepAlive {
		l.openUpTo(l.Most)
	}
	l.refill(c)
}

// failConnect handles a failed connect. The request that it was for is unsent. Requests that
// were to be sent again have failed.
func (l *loop) failConnect(c *conn, k failure.Kind, err error) {
	err = fmt.Errorf("%s: %w", l.Run.Server, err)
	l.Rec.Fault(k, err, l.Run.Now())
	c.failures++
	again := c.flights > 0
	l.abort(c, k, err)
	f := record.Flight{Due: c.began, Sent: c.began}
	switch {
	case !l.begun || again:
	case !l.Requests.Open():
		if l.claim(c) {
			l.Rec.Asked++
			l.Rec.FailUnsent(&f, k, l.Run.Now())
		}
	case l.Requests.Waiting() > 0:
		f.Due, _ = l.Requests.Take()
		l.Rec.FailUnsent(&f, k, l.Run.Now())
	}
	l.reopen(c, backoff(c.failures))
}

// close closes a connection.
func (l *loop) close(c *conn) {
	if c.state == ready {
		l.Rec.Connections--
	}
	c.blocked, c.broken, c.unsent, c.file = false, nil, nil, nil
	if cap(c.own) > readSize {
		c.own = nil
	}
	l.release(c)
}

// release frees the slot of a connection.
func (l *loop) release(c *conn) {
	if c.state == connecting {
		l.opening--
	}
	if c.fd >= 0 {
		unix.Close(c.fd) // which also removes it from the epoll
	}
	c.fd, c.state = -1, closed
	if l.Requests.Open() && c.flights == 0 {
		l.spare = append(l.spare, c)
	}
}

// refill sends on a free connection. In the open loop it queues the connection for
// the requests that will be due.
func (l *loop) refill(c *conn) {
	l.sendAgain(c)
	switch {
	case !l.begun || !c.canSend():
	case l.Requests.Open():
		if !c.queued {
			c.queued = true
			l.free.push(c)
		}
	case l.Run.Pipeline == 1:
		if now := l.Run.Now(); now < l.Run.End() && l.claim(c) {
			l.Rec.Asked++
			l.send(c, now, now, false)
		}
	default:
		l.fill(c)
	}
}

// NextFree implements dispatch.Sender. It selects the connection that has been free longest, and
// removes connections from the queue that have failed since.
func (l *loop) NextFree() bool {
	for l.free.n > 0 && !l.free.first().canSend() {
		l.free.pop().queued = false
	}
	return l.free.n > 0
}

// SendDue implements dispatch.Sender.
func (l *loop) SendDue(due time.Duration, starved bool) {
	c := l.free.pop()
	c.queued = false
	l.send(c, due, l.Run.Now(), starved)
	l.refill(c) // it may take more
}

// send sends one request.
func (l *loop) send(c *conn, due, now time.Duration, starved bool) {
	m := l.Script.Next()
	l.launch(c, m, due, now, starved)
	l.write(c, m.Head, m.Fixed)
	if m.File != nil && c.state == ready {
		c.file, c.at, c.end = m.File, 0, m.Size
		l.flush(c)
	}
}

// launch counts a request that is about to be sent.
func (l *loop) launch(c *conn, m *program.Message, due, now time.Duration, starved bool) {
	if l.Run.NoKeepAlive {
		now = c.began // the connection is part of the request
		if l.Requests.Open() {
			now = max(now, due) // the connection may have been made for an earlier request
		}
	}
	f := c.launch(record.Flight{Due: due, Sent: now, Endpoint: m.Endpoint, NoBody: m.NoBody}, m)
	l.inFlight++
	l.Rec.Send(f, starved)
}

// sendAgain sends the requests that are left of the connection before, which the server has
// closed.
func (l *loop) sendAgain(c *conn) {
	for c.left > 0 && c.state == ready && !c.blocked {
		m := &c.kept[c.index(c.flights-c.left)]
		c.left--
		l.write(c, m.Head, true) // the message is kept until its response
		if m.File != nil && c.state == ready {
			c.file, c.at, c.end = m.File, 0, m.Size
			l.flush(c)
		}
	}
}

// fill sends as many requests as the pipeline takes, with few writes.
func (l *loop) fill(c *conn) {
	now := l.Run.Now()
	if now >= l.Run.End() {
		return
	}
	l.out = l.out[:0]
	for c.canSend() && l.Requests.Claim() {
		l.Rec.Asked++
		m := l.Script.Next()
		l.launch(c, m, now, now, false)
		l.out = append(l.out, m.Head...)
		if m.File != nil {
			l.write(c, l.out, false)
			l.out = l.out[:0]
			if c.state != ready {
				return
			}
			c.file, c.at, c.end = m.File, 0, m.Size
			l.flush(c) // which refills it after the file
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

// write sends b, and keeps the bytes that the kernel does not take. A fixed b never
// changes and is not copied.
func (l *loop) write(c *conn, b []byte, fixed bool) {
	if c.blocked {
		c.unsent = append(c.unsent, b...) // its capacity is its length
		return
	}
	n, errno := send(c.fd, b)
	if errno == unix.EAGAIN {
		n, errno = 0, 0
	}
	if errno != 0 {
		l.breakOff(c, errno)
		return
	}
	l.Rec.Written += int64(n)
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

// flush sends as many of the unsent bytes as the kernel takes.
func (l *loop) flush(c *conn) {
	for c.broken == nil {
		if len(c.unsent) == 0 && !l.loadPiece(c) {
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
			l.breakOff(c, errno)
			return
		}
		l.Rec.Written += int64(n)
		c.unsent = c.unsent[n:]
	}
}

// breakOff handles an error of sending. It sends nothing more, but the connection fails only
// when the responses are read that the server sent before it closed.
func (l *loop) breakOff(c *conn, errno syscall.Errno) {
	c.broken, c.blocked = fmt.Errorf("sending the request: %w", errno), true
	l.readLater(c)
}

// loadPiece reads the next piece of a body from a file into unsent, and reports
// whether there was one. If the file cannot be read the connection fails.
func (l *loop) loadPiece(c *conn) bool {
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
		l.fail(c, failure.BadRequest, fmt.Errorf("reading the body at byte %d: %w", c.at+int64(n), err))
		return false
	}
	c.at += size
	c.unsent = c.own[:size:size]
	return true
}

func send(fd int, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
			uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
		if errno != unix.EINTR { // after which no event would follow
			return int(n), errno
		}
	}
}

func recv(fd int, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), 0, 0, 0)
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

// A queue of connections: first in, first out, each at most once.
type queue struct {
	conns   []*conn // a ring buffer
	head, n int
}

func (q *queue) push(c *conn) {
	i := q.head + q.n
	if i >= len(q.conns) {
		i -= len(q.conns)
	}
	q.conns[i] = c
	q.n++
}

func (q *queue) first() *conn { return q.conns[q.head] }

func (q *queue) pop() *conn {
	c := q.first()
	q.n--
	if q.head++; q.head == len(q.conns) {
		q.head = 0
	}
	return c
}
