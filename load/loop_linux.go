package load

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/load/internal/answer"
	"github.com/weirhq/weir/load/internal/program"
)

// A loop speaks plain HTTP/1.1 on many connections from one locked thread, with
// an epoll of its own. What it does for each answer is one recvfrom and one
// sendto: connections are registered once, edge-triggered, and the next request
// goes out from where the answer was read. The system calls are raw, so that
// the scheduler is not told of them: nobody waits for the thread's P, since Run
// adds one for it.
type loop struct {
	run    *run
	rec    *recorder
	flow   *flow
	script *program.Script
	addr   unix.Sockaddr
	family int

	epoll   int
	events  []unix.EpollEvent
	in, out []byte  // what was read, and what several requests are put together in
	again   []*conn // have more to read
	memory  answer.Memory

	conns    []*conn // by slot
	spare    []*conn // closed; open loop alone
	retrying []*conn // closed, and to be opened again; closed loop alone
	first    int     // as many are opened at the start
	most     int     // as many may be open
	opening  int     // are being connected
	inFlight int64
	paid     int  // connections that have a request before they are made
	roomy    ring // connections that a request may be sent on; open loop alone

	starved time.Duration // when a request last had no connection, -1 when none ever had
	demand  demand
	expiry  time.Duration   // no timeout ends before it
	patient context.Context // done when the first connections are not waited for any more
	usage   usageClock
	begun   bool
	arrived bool // is done with the run's opening
}

const (
	readSize    = 64 << 10
	readsAtOnce = 16               // of one connection, before it is another's turn
	checkEvery  = time.Millisecond // at most
	mostEvents  = 512
)

// newLoop makes the loop of a thread, which is to have part of the connections.
func newLoop(r *run, thread int) (*loop, error) {
	l := &loop{
		run:    r,
		rec:    r.recorders[thread],
		flow:   newFlow(&r.plan, thread, &r.tickets),
		script: r.program.Script(thread, r.plan.Threads, r.plan.Seed),
		events: make([]unix.EpollEvent, mostEvents),
		in:     make([]byte, readSize),
		first:  share(r.plan.Connections, thread, r.plan.Threads),
		most:   share(r.plan.MaxConnections, thread, r.plan.Threads),

		starved: -1,
	}
	if r.plan.NoKeepAlive {
		l.first = 0
	}
	addr, err := netip.ParseAddrPort(r.server)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	l.setAddress(addr)
	l.roomy.grow(l.most)
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
	l.addr, l.family = &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: zoneID(a.Addr().Zone())}, unix.AF_INET6
}

// serve implements thread.
func (l *loop) serve(opening context.Context) threadUsage {
	defer lockThread()()
	defer unix.Close(l.epoll)
	l.patient = opening
	l.usage = newUsageClock(threadTimes)
	for l.turn() {
	}
	return l.usage.end()
}

// turn waits for something to happen, handles it, and tells whether there is
// more to come.
func (l *loop) turn() bool {
	n := l.wait()
	l.rec.mu.Lock()
	defer l.rec.mu.Unlock()
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
	now := l.run.now() // which counts from the beginning
	if now >= l.expiry {
		l.expire(now)
	}
	l.retry(now)
	if l.flow.open() {
		l.dispatch(now)
	}
	return !l.over(now)
}

// begin waits for the connections of all threads, and then lets go.
func (l *loop) begin() bool {
	if l.patient.Err() == nil {
		l.openUpTo(l.first)
		l.expireConnecting(l.run.now() - l.run.plan.Timeout)
	} else {
		l.expireConnecting(never)
	}
	if l.opening == 0 && !l.arrived {
		l.arrived = true
		l.run.opening.Done()
	}
	if !l.run.started.Load() {
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
	if l.run.plan.NoKeepAlive && !l.flow.open() {
		l.openUpTo(l.most)
	}
	return true
}

// dispatch sends what is due on the connections that have room.
func (l *loop) dispatch(now time.Duration) {
	end := time.Duration(l.run.end.Load())
	l.flow.ask(min(now, end-1))
	waited := l.flow.waiting() > 0
	for l.flow.waiting() > 0 {
		c := l.nextRoomy()
		if c == nil {
			l.openFor(l.growth(now))
			l.starved = now
			break
		}
		l.sendDue(c)
	}
	if waited && l.flow.waiting() == 0 {
		l.demand = demand{}
	}
	l.rec.skip(l.flow.skip())
	if l.run.cut.Load() {
		l.endUnsent(now)
	}
	l.rec.asked = l.flow.asked
}

// growth is how many connections may be opened now for requests that wait.
func (l *loop) growth(now time.Duration) int64 {
	if l.run.plan.NoKeepAlive {
		return l.flow.waiting() - int64(l.opening)
	}
	return l.demand.growth(now, l.flow.waiting(), l.open())
}

// open is how many connections the open loop has, or is making.
func (l *loop) open() int { return len(l.conns) - len(l.spare) }

// openFor opens n connections, as far as they may be.
func (l *loop) openFor(n int64) {
	for ; n > 0 && l.opening < mostOpening; n-- {
		c := l.closedConn()
		if c == nil {
			return
		}
		l.connect(c)
	}
}

// openUpTo opens connections until there are n, some at a time: the rest follow
// as these are made.
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

// over tells whether nothing is left to do, and ends what is.
func (l *loop) over(now time.Duration) bool {
	end := time.Duration(l.run.end.Load())
	if now < end && l.more() {
		return false
	}
	if now >= end || l.flow.waiting() == 0 {
		l.usage.stop()
	}
	if now < l.run.deadline() {
		if l.inFlight > 0 || l.paid > 0 && now < end || l.flow.open() && l.flow.waiting() > 0 {
			return false
		}
	}
	l.finish(now)
	return true
}

// more tells whether there are requests to send.
func (l *loop) more() bool {
	if l.flow.open() {
		return l.flow.next() != never
	}
	return l.flow.tickets == nil || l.flow.tickets.Load() > 0
}

// finish closes everything and counts what will not come any more.
func (l *loop) finish(now time.Duration) {
	if l.flow.open() {
		l.endUnsent(now)
		l.rec.asked = l.flow.asked
	}
	for _, c := range l.conns {
		for ; c.flights > 0; c.land() {
			l.rec.abandon(c.oldest(), now)
			l.inFlight--
		}
		if c.fd >= 0 {
			l.close(c)
		}
	}
}

// endUnsent counts the requests that are due and will not be sent.
func (l *loop) endUnsent(now time.Duration) {
	for l.flow.waiting() > 0 {
		l.rec.endUnsent(l.flow.take(), now)
	}
}

// expire fails the requests and the connects that have reached their timeout,
// and sets when to look again: at the next expiry of those that are left.
// Everything that begins later expires later.
func (l *loop) expire(now time.Duration) {
	limit := now - l.run.plan.Timeout
	oldest := min(l.expireConnecting(limit), now)
	for _, c := range l.conns {
		if c.flights > 0 && c.oldest().sent <= limit {
			l.fail(c, timeout, errTimeout)
		}
		if c.flights > 0 {
			oldest = min(oldest, c.oldest().sent)
		}
	}
	l.expiry = max(oldest+l.run.plan.Timeout, now+checkEvery)
}

// expireConnecting fails the connects that began at limit or before, and returns
// when the oldest of the others began.
func (l *loop) expireConnecting(limit time.Duration) (oldest time.Duration) {
	oldest = never
	if l.opening == 0 {
		return oldest
	}
	for _, c := range l.conns {
		if c.state == connecting && c.began <= limit {
			l.failConnect(c, timeout, fmt.Errorf("connecting: %w", os.ErrDeadlineExceeded))
		}
		if c.state == connecting {
			oldest = min(oldest, c.began)
		}
	}
	return oldest
}

// retry opens connections of the closed loop again whose pause is over.
func (l *loop) retry(now time.Duration) {
	if len(l.retrying) == 0 {
		return
	}
	waiting := l.retrying
	l.retrying = nil
	for _, c := range waiting {
		switch {
		case !l.sending(now):
		case c.retry <= now:
			l.connectAgain(c)
		default:
			l.retrying = append(l.retrying, c)
		}
	}
}

// sending tells whether requests of the closed loop are still to be sent.
func (l *loop) sending(now time.Duration) bool {
	return now < time.Duration(l.run.end.Load()) && l.more()
}

// wait returns how many events there are, at the latest when something is due.
func (l *loop) wait() int {
	timeout := l.timeout()
	ts := unix.NsecToTimespec(int64(timeout))
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])), mostEvents, uintptr(unsafe.Pointer(&ts)), 0, 0)
	if errno == unix.ENOSYS { // before Linux 5.11: to the millisecond
		n, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])), mostEvents, uintptr((timeout+time.Millisecond-1)/time.Millisecond), 0, 0)
	}
	if errno != 0 { // EINTR
		return 0
	}
	return int(n)
}

// timeout is how long the thread may sleep.
func (l *loop) timeout() time.Duration {
	switch {
	case len(l.again) > 0:
		return 0
	case !l.begun:
		return time.Millisecond
	}
	now, end := l.run.now(), time.Duration(l.run.end.Load())
	longest := min(tick, max(0, l.expiry-now))
	if !l.flow.open() {
		return min(longest, max(end-now, time.Millisecond))
	}
	next := l.flow.next()
	if next >= end { // it is not asked for
		next = never
	}
	if l.flow.waiting() > 0 {
		longest = min(longest, time.Millisecond)
	}
	return max(0, min(longest, next-now))
}

// handle does what an event asks for.
func (l *loop) handle(e *unix.EpollEvent) {
	c := l.conns[e.Fd]
	if e.Pad != c.generation { // an event of the connection that had this place before
		return
	}
	c.hungUp = e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	if c.state == connecting {
		l.finishConnect(c)
	}
	if c.blocked && e.Events&unix.EPOLLOUT != 0 {
		l.flush(c)
	}
	if e.Events&^uint32(unix.EPOLLOUT) != 0 { // read looks at the state
		l.read(c)
	}
}

// read takes what has come, and refills the connection.
func (l *loop) read(c *conn) {
	for range readsAtOnce {
		if c.state != ready {
			return
		}
		n, errno := recv(c.fd, l.in)
		switch {
		case errno == unix.EAGAIN:
			l.refill(c)
			return
		case errno == unix.EINTR:
			continue
		case errno != 0:
			l.fail(c, exchangeKind(errno), fmt.Errorf("reading the answer: %w", errno))
			return
		case n == 0:
			l.ended(c)
			return
		}
		l.took(c, l.in[:n])
		if n < len(l.in) && !c.hungUp { // there was no more, or an event is still to come
			l.refill(c)
			return
		}
	}
	if !c.again {
		c.again = true
		l.again = append(l.again, c)
	}
}

// took handles bytes of answers.
func (l *loop) took(c *conn, b []byte) {
	now := l.run.now()
	l.rec.bytes(len(b), now)
	for len(b) > 0 && c.state == ready {
		if c.flights == 0 {
			l.rec.failures.add(badAnswer, errUnasked)
			l.fail(c, badAnswer, errUnasked) // which no request is charged with
			return
		}
		f := c.oldest()
		if f.first == 0 {
			f.first = now
		}
		n, done, err := c.parser.Feed(b, f.noBody)
		b = b[n:]
		if err != nil {
			l.fail(c, badAnswer, err)
			return
		}
		if done {
			l.answered(c, now)
		}
	}
}

// answered counts a whole answer.
func (l *loop) answered(c *conn, now time.Duration) {
	l.rec.answer(c.oldest(), c.parser.Status(), now)
	c.land()
	l.inFlight--
	c.failures = 0
	switch {
	case c.parser.Close() || l.run.plan.NoKeepAlive:
		l.drop(c, eof, errClosed) // those behind it in the pipeline get no answer
		l.reopen(c, 0)
		l.replace(now)
	case c.blocked && c.flights == 0: // the answer came before its request was sent whole
		l.close(c)
		l.reopen(c, 0)
	}
}

// ended handles the end of the stream.
func (l *loop) ended(c *conn) {
	whole, err := c.parser.EOF()
	if whole && c.flights > 0 {
		l.answered(c, l.run.now())
	}
	switch {
	case c.state != ready:
	case c.flights > 0:
		l.fail(c, eof, closedEarly(err))
	default: // nobody waits for it
		l.close(c)
		l.reopen(c, 0)
	}
}

// drop closes a connection; the requests on it fail.
func (l *loop) drop(c *conn, k kind, err error) {
	now := l.run.now()
	for c.flights > 0 {
		l.rec.fail(c.oldest(), k, err, c.oldest().sent, now)
		c.land()
		l.inFlight--
	}
	l.close(c)
}

// fail closes a connection for something that went wrong.
func (l *loop) fail(c *conn, k kind, err error) {
	l.drop(c, k, err)
	c.failures++
	l.reopen(c, pauseAfter(c.failures))
}

// replace keeps as many connections of the open loop as there were at the start,
// when one has ended with its answer: the next request is not to wait for a new
// one because the server asks for them now and then.
func (l *loop) replace(now time.Duration) {
	if l.flow.open() && !l.run.plan.NoKeepAlive && l.open() < l.first && now < time.Duration(l.run.end.Load()) {
		l.openFor(1)
	}
}

// reopen has the closed loop connect again, after a pause. The open loop does
// when it needs to.
func (l *loop) reopen(c *conn, pause time.Duration) {
	if l.flow.open() || !l.begun {
		return
	}
	now := l.run.now()
	c.retry = now + pause
	if pause > 0 {
		l.retrying = append(l.retrying, c)
	} else if l.sending(now) {
		l.connectAgain(c)
	}
}
