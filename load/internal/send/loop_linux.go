package send

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/load/internal/dispatch"
	"github.com/weirhq/weir/load/internal/failure"
	"github.com/weirhq/weir/load/internal/response"
	"github.com/weirhq/weir/load/pace"
)

// A loop speaks plain HTTP/1.1 on many connections from one locked thread, with
// its own epoll. Each response costs one recvfrom and one sendto: connections are
// registered once, edge-triggered, and the next request is sent right after the
// response was read. The system calls are raw, so that the scheduler does not see
// them. The thread may keep its P during them, since Run adds a P for it.
type loop struct {
	Part
	usage  usageClock
	addr   unix.Sockaddr
	family int

	epoll   int
	events  []unix.EpollEvent
	in, out []byte  // buffers: for reading, and for several requests in one write
	again   []*conn // with more to read
	memory  response.Memory

	conns    []*conn // by slot
	spare    []*conn // closed; open loop only
	retrying []*conn // closed, to be opened again; closed loop only
	opening  int     // connections that are being opened
	inFlight int64
	claimed  int   // connections that have claimed a request before they are open
	free     queue // connections that can take a request; open loop only

	expiry  time.Duration   // no timeout ends before it
	openCtx context.Context // while it is not done, the run waits for the first connections
	begun   bool
	arrived bool // has finished the run's opening
}

const (
	readSize    = 64 << 10
	readsAtOnce = 16               // from one connection, before the others are read
	checkEvery  = time.Millisecond // the shortest interval between checks for timeouts
	mostEvents  = 512
)

// HasLoops reports whether the system has epoll.
const HasLoops = true

// NewLoops returns a loop for each part of a run.
func NewLoops(parts []Part) ([]Thread, error) {
	threads := make([]Thread, len(parts))
	for i, p := range parts {
		l, err := newLoop(p)
		if err != nil {
			for _, t := range threads[:i] {
				unix.Close(t.(*loop).epoll)
			}
			return nil, err
		}
		threads[i] = l
	}
	return threads, nil
}

func newLoop(p Part) (*loop, error) {
	l := &loop{Part: p, events: make([]unix.EpollEvent, mostEvents), in: make([]byte, readSize)}
	if p.Run.NoKeepAlive {
		l.First = 0
	}
	addr, err := netip.ParseAddrPort(p.Run.Server)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	l.setAddress(addr)
	l.free.conns = make([]*conn, l.Most)
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	return l, nil
}

func (l *loop) setAddress(a netip.AddrPort) {
	if a.Addr().Unmap().Is4() {
		l.addr, l.family = &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().Unmap().As4()}, unix.AF_INET
		return
	}
	l.addr, l.family = &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(),
		ZoneId: zoneID(a.Addr().Zone())}, unix.AF_INET6
}

// serve implements Thread.
func (l *loop) serve(opening context.Context) Usage {
	defer lockThread()()
	defer unix.Close(l.epoll)
	l.openCtx = opening
	l.usage = newUsageClock(threadTimes)
	for l.turn() {
	}
	return l.usage.end()
}

// turn waits for events or for the next due time, and handles them. It returns
// false after the last turn.
func (l *loop) turn() bool {
	n := l.wait()
	l.Rec.Lock()
	defer l.Rec.Unlock()
	again := l.again
	l.again = nil
	for _, c := range again {
		c.again = false
		l.read(c)
	}
	for i := range n {
		l.handle(&l.events[i])
	}
	if !l.begun && !l.begin() {
		return true
	}
	now := l.Run.Now() // after begin, which sets the start of the clock
	if now >= l.expiry {
		l.expire(now)
	}
	l.retry(now)
	if l.Requests.Open() {
		l.dispatch(now, l)
	}
	if !l.Requests.Over(now, l.Run.End()) {
		return true
	}
	if now >= l.Run.End() || l.Requests.Waiting() == 0 {
		l.usage.stop()
	}
	if l.unfinished(now) {
		return true
	}
	l.finish(now)
	return false
}

// begin waits for the connections of all threads, and then starts sending. It
// returns false while it has to wait.
func (l *loop) begin() bool {
	if l.openCtx.Err() == nil {
		l.openUpTo(l.First)
		l.expireConnecting(l.Run.Now() - l.Run.Timeout)
	} else {
		l.expireConnecting(pace.Never)
	}
	if l.opening == 0 && !l.arrived {
		l.arrived = true
		l.Run.opening.Done()
	}
	if !l.Run.started.Load() {
		return false
	}
	l.begun = true
	l.usage.begin()
	for _, c := range l.conns {
		if c.state == ready {
			l.refill(c)
		} else {
			l.reopen(c, 0)
		}
	}
	if l.Run.NoKeepAlive && !l.Requests.Open() {
		l.openUpTo(l.Most)
	}
	return true
}

// Connections implements dispatch.Sender.
func (l *loop) Connections() (open, opening int) { return len(l.conns) - len(l.spare), l.opening }

// Grow implements dispatch.Sender.
func (l *loop) Grow(n int64) {
	for ; n > 0 && l.opening < mostOpening; n-- {
		c := l.closedConn()
		if c == nil {
			return
		}
		l.connect(c)
	}
}

// openUpTo opens connections until there are n, with at most mostOpening at the
// same time: more follow as these are made.
func (l *loop) openUpTo(n int) {
	for len(l.conns) < n && l.opening < mostOpening {
		c := l.newConn()
		if l.begun {
			l.connectAgain(c)
		} else {
			l.connect(c)
		}
	}
}

// unfinished reports whether requests are still under way or waiting, and the run
// waits for them.
func (l *loop) unfinished(now time.Duration) bool {
	return now < l.Run.deadline() && (l.inFlight > 0 || l.claimed > 0 && now < l.Run.End() || l.Requests.Waiting() > 0)
}

// finish closes everything and counts the requests without a response.
func (l *loop) finish(now time.Duration) {
	l.endUnsent(now)
	for _, c := range l.conns {
		for ; c.flights > 0; c.land() {
			l.Rec.Abandon(c.oldest(), now)
			l.inFlight--
		}
		if c.fd >= 0 {
			l.close(c)
		}
	}
}

// expire fails requests and connects that have reached their timeout, and sets
// when to check again: at the next expiry of those that are left. Everything that
// begins later expires later.
func (l *loop) expire(now time.Duration) {
	limit := now - l.Run.Timeout
	oldest := min(l.expireConnecting(limit), now)
	for _, c := range l.conns {
		if c.flights > 0 && c.oldest().Sent <= limit {
			l.fail(c, failure.Timeout, failure.ErrTimeout)
		}
		if c.flights > 0 {
			oldest = min(oldest, c.oldest().Sent)
		}
	}
	l.expiry = max(oldest+l.Run.Timeout, now+checkEvery)
}

// expireConnecting fails the connects that began at limit or before, and returns
// when the oldest of the others began.
func (l *loop) expireConnecting(limit time.Duration) (oldest time.Duration) {
	oldest = pace.Never
	if l.opening == 0 {
		return oldest
	}
	for _, c := range l.conns {
		if c.state == connecting && c.began <= limit {
			l.failConnect(c, failure.Timeout, fmt.Errorf("connecting: %w", os.ErrDeadlineExceeded))
		}
		if c.state == connecting {
			oldest = min(oldest, c.began)
		}
	}
	return oldest
}

// retry reopens the closed loop's connections whose backoff is over.
func (l *loop) retry(now time.Duration) {
	if len(l.retrying) == 0 {
		return
	}
	waiting := l.retrying
	l.retrying = nil
	for _, c := range waiting {
		switch {
		case l.Requests.Over(now, l.Run.End()):
		case c.retry <= now:
			l.connectAgain(c)
		default:
			l.retrying = append(l.retrying, c)
		}
	}
}

// wait waits for events, at most until something else is due, and returns their
// number.
func (l *loop) wait() int {
	timeout := l.timeout()
	ts := unix.NsecToTimespec(int64(timeout))
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])),
		mostEvents, uintptr(unsafe.Pointer(&ts)), 0, 0)
	if errno == unix.ENOSYS { // before Linux 5.11: with milliseconds
		n, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])),
			mostEvents, uintptr((timeout+time.Millisecond-1)/time.Millisecond), 0, 0)
	}
	if errno != 0 { // EINTR
		return 0
	}
	return int(n)
}

// timeout returns how long the thread may sleep.
func (l *loop) timeout() time.Duration {
	switch {
	case len(l.again) > 0:
		return 0
	case !l.begun:
		return time.Millisecond
	}
	now, end := l.Run.Now(), l.Run.End()
	longest := min(dispatch.Tick, max(0, l.expiry-now))
	switch {
	case !l.Requests.Open():
		return min(longest, max(end-now, time.Millisecond))
	case l.Requests.Waiting() > 0:
		longest = min(longest, dispatch.GrowEvery)
	}
	return min(longest, l.Requests.UntilDue(now, end))
}

// handle handles an event.
func (l *loop) handle(e *unix.EpollEvent) {
	c := l.conns[e.Fd]
	if e.Pad != c.generation { // an event of an earlier connection in this slot
		return
	}
	c.hungUp = e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	if c.state == connecting {
		l.finishConnect(c)
	}
	if c.blocked && e.Events&unix.EPOLLOUT != 0 {
		l.flush(c)
	}
	if e.Events&^uint32(unix.EPOLLOUT) != 0 { // read checks the state
		l.read(c)
	}
}

// read reads from a connection, and refills it.
func (l *loop) read(c *conn) {
	for range readsAtOnce {
		if c.state != ready {
			return
		}
		n, errno := recv(c.fd, l.in)
		switch {
		case errno == unix.EINTR:
			continue
		case n <= 0 && c.broken != nil:
			l.fail(c, failure.OfExchange(c.broken), c.broken)
			return
		case errno == unix.EAGAIN:
			l.refill(c)
			return
		case errno != 0:
			l.fail(c, failure.OfExchange(errno), fmt.Errorf("reading the response: %w", errno))
			return
		case n == 0:
			l.ended(c)
			return
		}
		l.took(c, l.in[:n])
		if n < len(l.in) && !c.hungUp { // all is read, or another event follows
			l.refill(c)
			return
		}
	}
	l.readLater(c)
}

// readLater has the next turn read from a connection.
func (l *loop) readLater(c *conn) {
	if !c.again {
		c.again = true
		l.again = append(l.again, c)
	}
}

var errUnasked = errors.New("bytes that no request has asked for")

// took handles bytes of responses.
func (l *loop) took(c *conn, b []byte) {
	now := l.Run.Now()
	l.Rec.Bytes(len(b), now)
	for len(b) > 0 && c.state == ready {
		if c.flights == c.left {
			l.Rec.Fault(failure.BadResponse, errUnasked, now)
			l.fail(c, failure.BadResponse, errUnasked)
			return
		}
		f := c.oldest()
		if f.First == 0 {
			f.First = now
		}
		n, done, err := c.parser.Feed(b, f.NoBody)
		b = b[n:]
		if err != nil {
			l.fail(c, failure.BadResponse, err)
			return
		}
		if done {
			l.answered(c, now)
		}
	}
}

// answered counts a whole response.
func (l *loop) answered(c *conn, now time.Duration) {
	l.Rec.Response(c.oldest(), c.parser.Status(), now)
	c.land()
	l.inFlight--
	c.failures = 0
	switch {
	case c.parser.Close() && c.flights > 0:
		// The server does not process the requests behind it (RFC 9112, section 9.6).
		c.left = c.flights
		l.close(c)
		l.connect(c)
	case c.parser.Close() || l.Run.NoKeepAlive:
		l.close(c)
		l.reopen(c, 0)
		l.replace(now)
	case c.blocked && c.flights == 0: // the response came before its request was sent completely
		l.close(c)
		l.reopen(c, 0)
	}
}

// ended handles the end of the stream.
func (l *loop) ended(c *conn) {
	whole, err := c.parser.EOF()
	if whole && c.flights > 0 {
		l.answered(c, l.Run.Now())
	}
	switch {
	case c.state != ready:
	case c.flights > 0:
		l.fail(c, failure.EOF, failure.ClosedEarly(err))
	default: // an idle connection
		l.close(c)
		l.reopen(c, 0)
	}
}

// abort closes a connection, and fails the requests on it.
func (l *loop) abort(c *conn, k failure.Kind, err error) {
	now := l.Run.Now()
	for c.left = 0; c.flights > 0; {
		l.Rec.Fail(c.oldest(), k, err, c.oldest().Sent, now)
		c.land()
		l.inFlight--
	}
	l.close(c)
}

// fail aborts a connection after an error, and reopens it after a backoff.
func (l *loop) fail(c *conn, k failure.Kind, err error) {
	l.abort(c, k, err)
	c.failures++
	l.reopen(c, backoff(c.failures))
}

// replace opens a connection for one that has ended with its response, if fewer are
// open than at the start. So the open loop's next request need not wait for a new
// connection if the server closes one now and then.
func (l *loop) replace(now time.Duration) {
	open, _ := l.Connections()
	if l.Requests.Open() && !l.Run.NoKeepAlive && open < l.First && now < l.Run.End() {
		l.Grow(1)
	}
}

// reopen makes the closed loop connect again after a pause. The open loop connects
// when it needs to.
func (l *loop) reopen(c *conn, pause time.Duration) {
	if l.Requests.Open() || !l.begun {
		return
	}
	now := l.Run.Now()
	c.retry = now + pause
	if pause > 0 {
		l.retrying = append(l.retrying, c)
	} else if !l.Requests.Over(now, l.Run.End()) {
		l.connectAgain(c)
	}
}
