package service

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A reader takes what comes out of a pipe or a terminal, and counts it.
//
// One that woke up for each line would cost as much as the program's own
// writing. So it comes again when a quarter of the pipe may be full, which it
// guesses by how much it has found: it costs 1% of a CPU or less, and the
// program finds room as it would with a reader that waits.
type reader struct {
	from      *os.File
	perSecond int64
	buffer    []byte

	bytes, lines atomic.Int64
	last         atomic.Int64 // when, in nanoseconds since 1970; 0 for never

	finishing chan struct{} // closed when the program has ended: what is left is read at once
	over      chan struct{} // closed when nothing is read any more

	mu          sync.Mutex
	heldFrom    time.Time
	heldUntil   time.Time
	end         []byte // the last of what came, with room for twice tailSize
	isFinishing bool
}

const (
	pipeSize    = 64 << 10 // as Linux makes them
	longestRest = 4 * time.Millisecond
	firstRest   = 250 * time.Microsecond

	// patience is how long the end of what is written is waited for when all
	// that are known to write have ended.
	patience = time.Second
)

func startReader(from *os.File, perSecond int64) *reader {
	r := &reader{
		from:      from,
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
	defer r.from.Close()
	rests := rests{perSecond: r.perSecond}
	for {
		r.sitOut()
		n, err := r.from.Read(r.buffer[:rests.portion()])
		r.take(r.buffer[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) && !r.ends() {
			continue
		}
		if err != nil { // io.EOF of a pipe, EIO of a terminal
			return
		}
		r.rest(rests.after(n, time.Now()))
	}
}

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
	c := Count{Bytes: r.bytes.Load(), Behind: waiting(r.from)}
	if last := r.last.Load(); last != 0 {
		c.Last = time.Unix(0, last)
	}
	return c
}

// hold has nothing read from a time until another one. A reader that waits for
// something to read is woken by its deadline, so that it does not take even
// that.
func (r *reader) hold(from, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heldFrom, r.heldUntil = from, until
	if !r.isFinishing {
		r.from.SetReadDeadline(from)
	}
}

// sitOut returns when the reader may read.
func (r *reader) sitOut() {
	r.mu.Lock()
	from, until, finishing := r.heldFrom, r.heldUntil, r.isFinishing
	r.mu.Unlock()
	if now := time.Now(); finishing || until.IsZero() || now.Before(from) {
		return
	}
	r.rest(time.Until(until))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heldUntil = time.Time{}
	if !r.isFinishing {
		r.from.SetReadDeadline(time.Time{})
	}
}

// rest returns after a time, or when the program has ended.
func (r *reader) rest(d time.Duration) {
	if d <= 0 {
		return
	}
	if d <= longestRest {
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

func (r *reader) ends() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.isFinishing
}

// finish returns when all was read.
func (r *reader) finish() {
	r.mu.Lock()
	if !r.isFinishing {
		r.isFinishing = true
		close(r.finishing)
		r.from.SetReadDeadline(time.Now().Add(patience))
	}
	r.mu.Unlock()
	<-r.over
}

// rests decides how much is read at once and how long nothing is read then.
type rests struct {
	perSecond int64
	pause     time.Duration
	next      time.Time // when perSecond allows more
}

// portion is how much may be read: a bounded reader takes a hundredth of a
// second's share.
func (r *rests) portion() int {
	if r.perSecond <= 0 {
		return pipeSize
	}
	return int(min(max(r.perSecond/100, 1), pipeSize))
}

// after is how long to rest when n bytes were found.
func (r *rests) after(n int, now time.Time) time.Duration {
	if r.perSecond > 0 {
		if r.next.Before(now) {
			r.next = now // what was not there in time is no credit
		}
		r.next = r.next.Add(time.Duration(float64(n) / float64(r.perSecond) * float64(time.Second)))
		return r.next.Sub(now)
	}
	switch {
	case n >= pipeSize/2:
		r.pause = 0
	case n >= pipeSize/4:
		r.pause /= 2
	case n < pipeSize/8:
		r.pause = min(max(2*r.pause, firstRest), longestRest)
	}
	return r.pause
}
