package sink

import (
	"io"
	"os"
	"sync"

	"github.com/weirhq/weir/log"
)

// A Direct writes each line before WriteEvent returns, so that the operating
// system has the event then. The caller waits for the write. Make one with
// [NewDirect]. Any number of goroutines may use it; it writes one line at a
// time.
//
// A short write is continued, and a write to a full non-blocking pipe is
// repeated until there is space. Any other error drops the event. If that tore
// its line, the next event begins with a newline, so that the fragment has a
// line of its own.
//
// A Direct over os.Stdout ends the process when the pipe's reader has gone,
// unless the program ignores SIGPIPE (signal.Ignore).
type Direct struct {
	writing sync.Mutex // held while a line is written
	out     *lineWriter

	mu    sync.Mutex // never held during a write
	tally tally      // guarded by mu
}

// NewDirect returns a Direct that writes to w, often an *os.File. The caller
// closes w.
func NewDirect(w io.Writer) *Direct {
	return &Direct{out: newLineWriter(w, false)}
}

// Unwrap returns the writer, so that callers can check its type.
func (d *Direct) Unwrap() io.Writer { return d.out.writer }

// WriteEvent writes a line, which ends in a newline. It returns len(line), or
// an error and the number of bytes written if the event was dropped.
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

// Write is WriteEvent at [log.LevelInfo], for lines without a level.
func (d *Direct) Write(line []byte) (int, error) {
	return d.WriteEvent(log.LevelInfo, line)
}

// Stats returns the counts so far. It never waits for a write.
func (d *Direct) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tally.snapshot(d.out.longestWrite())
}

// Close makes the Direct drop further lines, and a line that waits for space in
// a pipe, as "closed". It returns when the write in progress has ended. It may
// be called more than once, and always returns nil.
func (d *Direct) Close() error {
	d.out.giveUp()
	d.writing.Lock()
	defer d.writing.Unlock()
	return nil
}

// writeWhole writes a line unless d is closed. It returns the number of bytes
// of the line that were written and, if the event is lost, a reason.
func (d *Direct) writeWhole(line []byte) (n int, reason Reason, err error) {
	d.writing.Lock()
	defer d.writing.Unlock()
	if d.out.isClosed() {
		return 0, Closed, os.ErrClosed
	}
	d.out.begin()
	defer d.out.end()
	return d.out.writeLine(line)
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
