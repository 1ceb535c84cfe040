package sink

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/weirhq/weir/log"
)

// A Direct writes each line before WriteEvent returns: a caller that was
// answered knows its event to be with the operating system, and waits as long
// as that takes. Make one with [NewDirect]. Any number of goroutines may use
// it; their lines are written one at a time.
//
// A write that was cut short goes on where it stopped, and one that a
// non-blocking pipe has no room for waits until there is some. Any other error
// drops the event. Of an event that was torn in the middle, the next one
// closes the line first, so that the torn piece stays on a line of its own.
//
// A Direct over os.Stdout does not outlive the pipe's reader unless the
// program ignores SIGPIPE (signal.Ignore).
type Direct struct {
	counts counts
	closed chan struct{} // closed by Close

	mu     sync.Mutex // held while a line is written
	writer io.Writer
	torn   bool   // the last byte written is not a newline
	joined []byte // a newline and a line, for after a torn one
}

// NewDirect returns a Direct that writes to w, which is often an *os.File and
// stays the caller's to close.
func NewDirect(w io.Writer) *Direct {
	return &Direct{writer: w, closed: make(chan struct{})}
}

// Unwrap returns the writer, for who asks what kind it is.
func (d *Direct) Unwrap() io.Writer { return d.writer }

// WriteEvent writes a line, which ends in a newline. It returns len(line) or,
// when the event was dropped, an error and how much of the line was written.
func (d *Direct) WriteEvent(level log.Level, line []byte) (int, error) {
	if len(line) == 0 {
		return 0, nil
	}
	d.counts.emit(len(line))
	n, reason, err := d.writeWhole(line)
	d.counts.settle(level, len(line), n, reason, err)
	if reason != "" {
		return n, err
	}
	return len(line), nil
}

// Write is WriteEvent at [log.LevelInfo], for what writes lines without a
// level.
func (d *Direct) Write(line []byte) (int, error) {
	return d.WriteEvent(log.LevelInfo, line)
}

// Stats returns the counts so far. It never waits for a write.
func (d *Direct) Stats() Stats { return d.counts.snapshot() }

// Close drops what comes after it, and what waits for room in a pipe, as
// "closed". It returns when the write under way has ended. It may be called
// more than once, by one goroutine at a time, and always returns nil.
func (d *Direct) Close() error {
	d.giveUp()
	d.mu.Lock()
	defer d.mu.Unlock()
	return nil
}

// giveUp ends waits for room in a pipe, this one and those to come.
func (d *Direct) giveUp() {
	select {
	case <-d.closed:
	default:
		close(d.closed)
	}
}

// writeWhole writes a line unless d is closed. It returns how many bytes of the
// line were written and, when the event is lost, a reason.
func (d *Direct) writeWhole(line []byte) (n int, reason Reason, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isClosed() {
		return 0, Closed, os.ErrClosed
	}
	return d.writeBehindTorn(line)
}

// writeBehindTorn writes a line, behind a newline when the one before was torn.
// d.mu is held.
func (d *Direct) writeBehindTorn(line []byte) (n int, reason Reason, err error) {
	text, lead := line, 0
	if d.torn {
		d.joined = append(append(d.joined[:0], '\n'), line...)
		text, lead = d.joined, 1
	}
	n, reason, err = d.writeAll(text)
	if cap(d.joined) > maxKeptBytes {
		d.joined = nil
	}
	n, reason = wholeBut(line, max(n-lead, 0), reason)
	return n, reason, err
}

// wholeBut takes a line as written that lacks its newline alone: the next line
// brings it, and a reader will find the event whole.
func wholeBut(line []byte, n int, reason Reason) (int, Reason) {
	if n == len(line)-1 && line[n] == '\n' {
		return n, ""
	}
	return n, reason
}

const maxKeptBytes = 64 << 10

// writeAll writes text, in pieces if need be, and returns how much of it was
// written and why not the rest.
func (d *Direct) writeAll(text []byte) (n int, reason Reason, err error) {
	delay := firstDelay
	for n < len(text) {
		var wrote int
		wrote, err = d.writeOnce(text[n:])
		n += wrote
		if wrote > 0 {
			d.torn = text[n-1] != '\n'
			delay = firstDelay
		}
		switch {
		case n == len(text):
			return n, "", nil
		case err == nil && wrote > 0, errors.Is(err, syscall.EINTR):
			continue
		case err == nil:
			return n, WriteError, io.ErrNoProgress
		case !errors.Is(err, syscall.EAGAIN):
			return n, WriteError, err
		}
		if !d.wait(delay) {
			return n, Closed, os.ErrClosed
		}
		delay = min(2*delay, lastDelay)
	}
	return n, "", nil
}

// writeOnce calls Write and holds it to what io.Writer promises.
func (d *Direct) writeOnce(p []byte) (n int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			// Whatever was written, the line is to be closed before the next.
			n, err = 0, fmt.Errorf("writer panicked: %v", cause)
			d.torn = true
		}
	}()
	n, err = d.writer.Write(p)
	if n < 0 || n > len(p) {
		d.torn = true
		return 0, fmt.Errorf("writer claims to have written %d of %d bytes", n, len(p))
	}
	return n, err
}

// How long to wait for room in a non-blocking pipe. There is no asking the
// kernel: the descriptor is not in the runtime's poller, or it would not have
// come to this.
const (
	firstDelay = 100 * time.Microsecond
	lastDelay  = 20 * time.Millisecond
)

// wait reports whether d is still open after the delay.
func (d *Direct) wait(delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return !d.isClosed()
	case <-d.closed:
		return false
	}
}

func (d *Direct) isClosed() bool {
	select {
	case <-d.closed:
		return true
	default:
		return false
	}
}
