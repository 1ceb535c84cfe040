package service

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/machine"
)

// A reader reads a pipe or a terminal and counts the output.
//
// A reader that woke up for each line would cost as much as the program's own
// writes. Therefore it pauses until about a quarter of the pipe is full,
// estimated from the last reads. This costs at most 1% of a CPU, and the
// program finds free space as with a blocking reader. For the same reason the
// descriptor is not in Go's poller: each write would wake it, which cost 13% of
// a CPU at 27,000 lines per second.
type reader struct {
	fd        int
	perSecond int64
	buffer    []byte

	meter        machine.Meter // CPU time of reading
	bytes, lines atomic.Int64
	last         atomic.Int64 // time in nanoseconds since 1970; 0 for never

	finishing chan struct{} // closed when the program has ended: the rest is read without pauses
	over      chan struct{} // closed when reading has ended

	mu        sync.Mutex
	heldFrom  time.Time
	heldUntil time.Time
	end       []byte // the end of the output, with capacity 2*tailSize

	deadline time.Time // zero until finish is called
}

const (
	tailSize     = 64 << 10
	pipeSize     = 64 << 10 // the default of Linux
	longestPause = 4 * time.Millisecond
	firstPause   = 250 * time.Microsecond

	// finishWithin limits the wait for the end of the output after all known
	// writers have ended.
	finishWithin = time.Second
)

// startReader starts a reader of a non-blocking descriptor.
func startReader(fd int, perSecond int64) *reader {
	r := &reader{
		fd:        fd,
		perSecond: perSecond,
		buffer:    make([]byte, pipeSize),
		end:       make([]byte, 0, 2*tailSize),
		finishing: make(chan struct{}),
		over:      make(chan struct{}),
	}
	go r.read()
	return r
}

// read reads until all writers have closed the other end.
func (r *reader) read() {
	defer close(r.over)
	p := throttle{perSecond: r.perSecond}
	for !r.expired() {
		if r.isFinishing() {
			p.perSecond = 0 // the rest must not be lost
			time.Sleep(firstPause)
		}
		r.waitWhileHeld()
		var n int
		var ended bool
		r.meter.Measure(func() { n, ended = r.readOnce(p.portion()) })
		if ended {
			return
		}
		r.pause(p.after(n, time.Now()))
	}
}

// readOnce reads the available bytes, up to a portion.
func (r *reader) readOnce(portion int) (n int, ended bool) {
	n, err := unix.Read(r.fd, r.buffer[:portion])
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return 0, false
	case err != nil || n == 0: // EIO is the end of a terminal
		return 0, true
	}
	r.take(r.buffer[:n])
	return n, false
}

func (r *reader) isFinishing() bool {
	select {
	case <-r.finishing:
		return true
	default:
		return false
	}
}

// expired reports whether the time for the rest of the output is over.
func (r *reader) expired() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.deadline.IsZero() && time.Now().After(r.deadline)
}

// close closes the descriptor. It must be called after finish.
func (r *reader) close() { unix.Close(r.fd) }

func (r *reader) take(text []byte) {
	if len(text) == 0 {
		return
	}
	r.lines.Add(countLines(text))
	r.bytes.Add(int64(len(text)))
	r.last.Store(time.Now().UnixNano())
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.end)+len(text) > cap(r.end) {
		kept := copy(r.end, r.end[max(0, len(r.end)-tailSize):])
		r.end = r.end[:kept]
	}
	r.end = append(r.end, text...)
}

func (r *reader) tail() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]byte(nil), r.end[max(0, len(r.end)-tailSize):]...)
}

func (r *reader) count() Count {
	c := Count{Bytes: r.bytes.Load(), Unread: waiting(r.fd)}
	if last := r.last.Load(); last != 0 {
		c.Last = time.Unix(0, last)
	}
	return c
}

// hold suspends reading from one time until another.
func (r *reader) hold(from, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heldFrom, r.heldUntil = from, until
}

// waitWhileHeld returns when reading is not suspended.
func (r *reader) waitWhileHeld() {
	r.mu.Lock()
	from, until := r.heldFrom, r.heldUntil
	r.mu.Unlock()
	if !time.Now().Before(from) {
		r.pause(time.Until(until))
	}
}

// pause sleeps for d. A pause longer than longestPause ends when the program
// has ended.
func (r *reader) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	if d <= longestPause {
		time.Sleep(d)
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.finishing:
	}
}

// finish returns when all output was read.
func (r *reader) finish() {
	r.mu.Lock()
	if r.deadline.IsZero() {
		r.deadline = time.Now().Add(finishWithin)
		close(r.finishing)
	}
	r.mu.Unlock()
	<-r.over
}

// A throttle decides how much to read and how long to pause afterwards.
type throttle struct {
	perSecond int64
	pause     time.Duration
	next      time.Time // when perSecond allows the next read
}

// portion returns the maximum size of a read: with a limit, the share of a
// hundredth of a second.
func (p *throttle) portion() int {
	if p.perSecond <= 0 {
		return pipeSize
	}
	return int(min(max(p.perSecond/100, 1), pipeSize))
}

// after returns the pause after a read of n bytes.
func (p *throttle) after(n int, now time.Time) time.Duration {
	if n == 0 && p.perSecond > 0 {
		return longestPause
	}
	if p.perSecond > 0 {
		if p.next.Before(now) {
			p.next = now // unused time is not saved up
		}
		p.next = p.next.Add(time.Duration(float64(n) / float64(p.perSecond) * float64(time.Second)))
		return p.next.Sub(now)
	}
	switch {
	case n >= pipeSize/2:
		p.pause = 0
	case n >= pipeSize/4:
		p.pause /= 2
	case n < pipeSize/8:
		p.pause = min(max(2*p.pause, firstPause), longestPause)
	}
	return p.pause
}
