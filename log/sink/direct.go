package sink

import (
	"io"
	"os"
	"sync"

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
	writing sync.Mutex // held while a line is written
	out     *lineWriter

	mu    sync.Mutex // never held during a write
	tally tally      // guarded by mu
}

// NewDirect returns a Direct that writes to w, which is often an *os.File and
// stays the caller's to close.
func NewDirect(w io.Writer) *Direct {
	return &Direct{out: newLineWriter(w, false)}
}

// Unwrap returns the writer, for who asks what kind it is.
func (d *Direct) Unwrap() io.Writer { return d.out.writer }

// WriteEvent writes a line, which ends in a newline. It returns len(line) or,
// when the event was dropped, an error and how much of the line was written.
func (d *Direct) WriteEvent(level log.Level, line []byte) (int, error) {
	if len(line) == 0 {
		return 0, nil
	}
	d.emit(len(line))
	n, reason, err := d.writeWhole(line)
	d.settle(level, len(line), n, reason, err)
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
func (d *Direct) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tally.snapshot(d.out.longestWrite())
}

// Close drops what comes after it, and what waits for room in a pipe, as
// "closed". It returns when the write under way has ended. It may be called
// more than once, and always returns nil.
func (d *Direct) Close() error {
	d.out.giveUp()
	d.writing.Lock()
	defer d.writing.Unlock()
	return nil
}

// writeWhole writes a line unless d is closed. It returns how many bytes of the
// line were written and, when the event is lost, a reason.
func (d *Direct) writeWhole(line []byte) (n int, reason Reason, err error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	if d.out.isClosed() {
		return 0, Closed, os.ErrClosed
	}
	d.out.begin()
	defer d.out.end()
	return d.out.writeBehindTorn(line)
}

func (d *Direct) emit(bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tally.emit(bytes)
}

func (d *Direct) settle(level log.Level, bytes, taken int, reason Reason, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tally.settle(level, bytes, taken, reason, err)
}
