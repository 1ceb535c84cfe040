package service

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weirhq/weir/internal/machine"
)

// A reader takes what comes out of a pipe or a terminal, and counts it.
//
// One that woke up for each line would cost as much as the program's own
// writing. So it comes again when a quarter of the pipe may be full, which it
// guesses by how much it has found: it costs 1% of a CPU or less, and the
// program finds room as it would with a reader that waits. For the same reason
// Go's poller does not know the descriptor: it would be woken by each write,
// which cost 13% of a CPU at 27,000 lines a second.
type reader struct {
	fd        int
	perSecond int64
	buffer    []byte

	meter        machine.Meter // what reading costs
	bytes, lines atomic.Int64
	last         atomic.Int64 // when, in nanoseconds since 1970; 0 for never

	finishing chan struct{} // closed when the program has ended: what is left is read at once
	over      chan struct{} // closed when nothing is read any more

	mu        sync.Mutex
	heldFrom  time.Time
	heldUntil time.Time
	end       []byte // the last of what came, with room for twice tailSize

	deadline time.Time // zero while nothing is finishing
}

const (
	tailSize     = 64 << 10
	pipeSize     = 64 << 10 // as Linux makes them
	longestPause = 4 * time.Millisecond
	firstPause   = 250 * time.Microsecond

	// patience is how long the end of what is written is waited for when all
	// that are known to write have ended.
	finishWithin = time.Second
)

// startReader reads a descriptor that does not block.
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

// read reads until everyone has closed the other end.
func (r *reader) read() {
	defer close(r.over)
	p := pacer{perSecond: r.perSecond}
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

// readOnce takes what is there, up to a portion.
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

// close gives the descriptor back. It is called when finish has returned.
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

// hold has nothing read from a time until another one.
func (r *reader) hold(from, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heldFrom, r.heldUntil = from, until
}

// sitOut returns when the reader may read.
func (r *reader) waitWhileHeld() {
	r.mu.Lock()
	from, until := r.heldFrom, r.heldUntil
	r.mu.Unlock()
	if !time.Now().Before(from) {
		r.pause(time.Until(until))
	}
}

// rest returns after a time, or when the program has ended.
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

// finish returns when all was read.
func (r *reader) finish() {
	r.mu.Lock()
	if r.deadline.IsZero() {
		r.deadline = time.Now().Add(finishWithin)
		close(r.finishing)
	}
	r.mu.Unlock()
	<-r.over
}

// rests decides how much is read at once and how long nothing is read then.
type pacer struct {
	perSecond int64
	pause     time.Duration
	next      time.Time // when perSecond allows more
}

// portion is how much may be read: a bounded reader takes a hundredth of a
// second's share.
func (p *pacer) portion() int {
	if p.perSecond <= 0 {
		return pipeSize
	}
	return int(min(max(p.perSecond/100, 1), pipeSize))
}

// after is how long to rest when n bytes were found.
func (p *pacer) after(n int, now time.Time) time.Duration {
	if n == 0 && p.perSecond > 0 {
		return longestPause
	}
	if p.perSecond > 0 {
		if p.next.Before(now) {
			p.next = now // what was not there in time is no credit
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
