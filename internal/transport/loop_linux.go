package transport

import (
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxEvents is how many events a turn fetches. Handling one only sets flags and
	// queues a coroutine, so that there may be many.
	maxEvents = 512
	// maxRuns is how many coroutines and connections of the queue a turn runs. Because
	// each is limited, too, a loop looks for events every millisecond even if it is busy.
	maxRuns = 64
	// freshFor is the age up to which the last poll of the loop still reveals whether
	// anything has arrived on a connection.
	freshFor = time.Millisecond

	wakeSlot = -1 // in epoll's data: the event descriptor
)

// A Loop is a [Driver] that runs many exchanges on one locked thread, each in a
// coroutine. "On the loop" means in that thread: in a task, a posted function, a
// [Handler] or a [Watcher]. Only Post and Close may be called by any goroutine.
//
// After a millisecond without anything to do, the thread waits as in any system call, and
// other goroutines use its P. Until then it gives its P away only every 10 ms, when the
// scheduler interrupts it. A program must therefore have more Ps than loops, or its other
// goroutines wait for that long: call machine.LeaseProcessors with the number of loops.
type Loop struct {
	index   int
	onPanic func(value any, stack []byte)

	epoll, wakeup int // file descriptors
	events        []unix.EpollEvent
	fetchedAll    bool         // the last poll left no event
	thread        atomic.Int32 // 0 before Run

	start   time.Time
	now     time.Time // of this turn
	elapsed int64     // the same, in nanoseconds since start, and at least 1
	wheel   *wheel

	conns      []*LoopConn // by slot
	freeSlots  []int32
	generation uint32 // of the newest connection

	queue        queue
	running      *coroutine // nil outside of tasks
	active       int        // coroutines with a task
	unused       []*coroutine
	fewestUnused int // since the last trim
	trim         trim
	closing      bool

	posted atomic.Bool // there are posts
	asleep atomic.Bool // a post must wake the loop

	called []func() // a slice for reuse by posts
	enders []TurnEnder
	pacer  Pacer         // nil without one
	rest   time.Duration // the result of its last Pace
	coarse bool          // the kernel counts timeouts only in milliseconds
	limit  unix.Timespec // of the wait in progress

	mu    sync.Mutex // guards the fields below
	posts []func()
	ended bool
}

// NewLoop returns a loop with the given index, which is at least 1. The caller must call
// Run. onPanic is called on the loop for each panic in a task, in a posted function or in
// a method of a Handler, Watcher or TurnEnder, which ends only that call.
func NewLoop(index int, onPanic func(value any, stack []byte)) (*Loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	wakeup, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, os.NewSyscallError("eventfd", err)
	}
	// Edge-triggered: each write is an event, and the counter need not be read.
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: wakeSlot}
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, wakeup, &e); err != nil {
		unix.Close(epoll)
		unix.Close(wakeup)
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	l := &Loop{index: index, onPanic: onPanic, epoll: epoll, wakeup: wakeup,
		events: make([]unix.EpollEvent, maxEvents), start: time.Now(), wheel: newWheel()}
	l.trim.loop, l.trim.owner = l, &l.trim
	l.readClock()
	return l, nil
}

// Index implements Driver.
func (l *Loop) Index() int { return l.index }

// Now implements Driver.
func (l *Loop) Now() time.Time { return l.now }

func (l *Loop) readClock() {
	l.now = time.Now()
	l.elapsed = max(int64(l.now.Sub(l.start)), 1)
}

// at converts a deadline into nanoseconds since start. The zero time is 0.
func (l *Loop) at(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(int64(t.Sub(l.start)), 1)
}

// onThread reports whether the caller is on the loop.
func (l *Loop) onThread() bool { return int32(unix.Gettid()) == l.thread.Load() }

// Run runs the loop until Close was called and all tasks have ended.
func (l *Loop) Run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l.thread.Store(int32(unix.Gettid()))
	for !l.closing || l.active > 0 || l.queue.n > 0 || !l.finish() {
		l.turn()
	}
	for len(l.unused) > 0 {
		l.endUnused()
	}
	unix.Close(l.epoll)
}

// finish ends the loop, unless functions were posted.
func (l *Loop) finish() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.posts) > 0 {
		return false
	}
	l.ended = true
	unix.Close(l.wakeup)
	return true
}

// Close ends the loop. It closes all its connections, so that the operations of tasks
// fail with net.ErrClosed and the handlers of idle connections are called. Close does not
// wait for the end, which is the return of Run.
func (l *Loop) Close() { l.Post(l.beginClosing) }

func (l *Loop) beginClosing() {
	l.closing = true
	for _, c := range l.conns {
		if c != nil {
			c.closed.Store(true)
			c.release()
		}
	}
}

// Post calls f on the loop, outside of a task. It returns false if the loop has ended, and
// f will not be called.
func (l *Loop) Post(f func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.posts = append(l.posts, f)
	l.posted.Store(true)
	if l.asleep.CompareAndSwap(true, false) {
		one := uint64(1)
		unix.Write(l.wakeup, (*[8]byte)(unsafe.Pointer(&one))[:]) // it fails only if the counter is not 0
	}
	return true
}

// runPosted calls the posted functions.
func (l *Loop) runPosted() {
	if !l.posted.Load() {
		return
	}
	l.mu.Lock()
	l.posted.Store(false)
	posts := l.posts
	l.posts = l.called[:0]
	l.mu.Unlock()
	for i, f := range posts {
		posts[i] = nil
		l.call(f)
	}
	l.called = posts
}

func (l *Loop) call(f func()) {
	defer l.recovered()
	f()
}

// AtTurnEnd has the loop call e at the end of the present turn, once for each call of
// AtTurnEnd. Many small writes of a turn can then be sent as one. It must be called on the
// loop.
func (l *Loop) AtTurnEnd(e TurnEnder) { l.enders = append(l.enders, e) }

func (l *Loop) endTurn() {
	for i := 0; i < len(l.enders); i++ { // which EndTurn may extend
		e := l.enders[i]
		l.enders[i] = nil
		l.callEnder(e)
	}
	l.enders = l.enders[:0]
}

func (l *Loop) callEnder(e TurnEnder) {
	defer l.recovered()
	e.EndTurn()
}

// Pace has the loop call p at the end of each turn. It must be called before Run.
func (l *Loop) Pace(p Pacer) { l.pacer = p }

// turn waits for something to do, and does a limited part of it.
func (l *Loop) turn() {
	n := l.poll()
	l.readClock()
	for i := range n {
		l.handle(&l.events[i])
	}
	l.runPosted()
	l.wheel.advance(l.elapsed)
	for range 2 { // the first pass starts tasks, for example those of readable connections
		for range min(l.queue.n, maxRuns) {
			l.queue.pop().run()
		}
	}
	l.endTurn()
	if l.pacer != nil {
		l.rest = l.pacer.Pace()
	}
}

func (l *Loop) handle(e *unix.EpollEvent) {
	if e.Fd == wakeSlot {
		return
	}
	// The slot may be empty, or have another connection since the event.
	if c := l.conns[e.Fd]; c != nil && c.generation == uint32(e.Pad) {
		c.handle(e.Events)
	}
}

// poll fetches events, and waits for them if there is nothing to do.
func (l *Loop) poll() (n int) {
	if l.queue.n > 0 {
		n = l.fetch(0, syscall.RawSyscall6)
	} else {
		n = l.sleep()
	}
	l.fetchedAll = n < maxEvents
	return n
}

// shortWait is the longest wait of which the scheduler does not know. It is longer than a tick of most kernels, 4 ms: a
// timer before the next tick has to be set in the processor, which costs virtual machines more than the rest of a wait. The
// scheduler's monitor interrupts a thread that has run for 10 ms.
const shortWait = 5 * time.Millisecond

// sleep waits for events, the next deadline or a post.
//
// The scheduler is not involved in a short wait: leaving and entering it would cost more
// than the system call, and its monitor would look for such threads every 20 us. The thread
// keeps its P meanwhile, and the garbage collector interrupts the wait by a signal. In a
// longer wait the P is free for other goroutines.
func (l *Loop) sleep() (n int) {
	l.asleep.Store(true)
	defer l.asleep.Store(false)
	if l.posted.Load() { // maybe before asleep was set
		return l.fetch(0, syscall.RawSyscall6)
	}
	timeout := l.timeout()
	n = l.fetch(min(timeout, shortWait), syscall.RawSyscall6)
	if n > 0 || timeout <= shortWait || l.posted.Load() {
		return n
	}
	return l.fetch(timeout-shortWait, syscall.Syscall6)
}

// timeout returns the time until the next deadline, or until the pacer is to be called.
func (l *Loop) timeout() time.Duration {
	timeout := math.MaxInt32 * time.Millisecond
	if l.pacer != nil {
		timeout = l.rest
	}
	if at, ok := l.wheel.next(); ok {
		timeout = min(timeout, time.Duration(at-l.elapsed))
	}
	return max(timeout, 0)
}

// fetch fetches events, and waits for them up to the timeout: to the nanosecond if there is a
// pacer and the kernel is at least Linux 5.11, otherwise to the millisecond. call is a function
// of package syscall.
func (l *Loop) fetch(
	timeout time.Duration, call func(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, errno syscall.Errno),
) (n int) {
	wait, limit := uintptr(unix.SYS_EPOLL_PWAIT), uintptr((timeout+time.Millisecond-1)/time.Millisecond)
	if l.pacer != nil && !l.coarse {
		l.limit = unix.NsecToTimespec(int64(timeout))
		wait, limit = unix.SYS_EPOLL_PWAIT2, uintptr(unsafe.Pointer(&l.limit))
	}
	r, _, errno := call(wait, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])), maxEvents, limit, 0, 0)
	l.coarse = l.coarse || errno == unix.ENOSYS
	if errno != 0 { // EINTR
		return 0
	}
	return int(r)
}
