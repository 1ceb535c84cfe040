package sink

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weirhq/weir/log/internal/unwrap"
)

// A lineWriter is one goroutine's way to a writer that may fail anywhere in a
// line. It owns what is known of the writer's state: whether a torn piece of a
// line is what it took last, which the next line must not be glued to. Nothing
// is buffered in it that an error could make stick.
type lineWriter struct {
	writer  io.Writer
	patient bool        // waits for what may pass, not only for room in a pipe
	waits   func(error) // told of each error that is waited for; may be nil
	stream  *stream     // that the lines go to in the end; nil: another kind of writer

	closed  chan struct{} // closed by giveUp
	closing sync.Once

	torn   bool   // the last byte written is not a newline
	joined []byte // a newline and a line, for after a torn one

	began   atomic.Int64 // when the writing under way began, in time since start; 0: none
	longest atomic.Int64 // that any took
}

func newLineWriter(w io.Writer, patient bool) *lineWriter {
	l := &lineWriter{writer: w, patient: patient, closed: make(chan struct{})}
	if s, ok := unwrap.First[stream](w); ok {
		l.stream = &s
	}
	return l
}

// piece returns the first lines of text, as many as the kernel takes at once. A
// larger piece may be written in parts, and how far it came is not known before
// the last part is.
func (w *lineWriter) piece(text []byte) []byte {
	if w.stream == nil {
		return text
	}
	return linesWithin(text, w.stream.atMost)
}

// start is what instants in an atomic count from: far enough in the past that
// none of them is 0.
var start = time.Now().Add(-time.Second)

// begin and end frame the writing of what is settled together.
func (w *lineWriter) begin() { w.began.Store(int64(time.Since(start))) }

// Any goroutine may call end, also when no writing is under way.
func (w *lineWriter) end() {
	began := w.began.Swap(0)
	if began == 0 {
		return
	}
	if took := int64(time.Since(start)) - began; took > w.longest.Load() {
		w.longest.Store(took)
	}
}

// longestWrite may be called by any goroutine.
func (w *lineWriter) longestWrite() time.Duration {
	longest := w.longest.Load()
	if began := w.began.Load(); began != 0 {
		longest = max(longest, int64(time.Since(start))-began)
	}
	return time.Duration(longest)
}

// giveUp ends waits, this one and those to come. Any goroutine may call it.
func (w *lineWriter) giveUp() { w.closing.Do(func() { close(w.closed) }) }

func (w *lineWriter) isClosed() bool {
	select {
	case <-w.closed:
		return true
	default:
		return false
	}
}

// writeBehindTorn writes a line, behind a newline when the one before was torn.
// It returns how many bytes of the line were written and, when the event is
// lost, a reason.
func (w *lineWriter) writeBehindTorn(line []byte) (n int, reason Reason, err error) {
	text, lead := line, 0
	if w.torn {
		w.joined = append(append(w.joined[:0], '\n'), line...)
		text, lead = w.joined, 1
	}
	n, reason, err = w.writeAll(text)
	if cap(w.joined) > maxKeptBytes {
		w.joined = nil
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
func (w *lineWriter) writeAll(text []byte) (n int, reason Reason, err error) {
	delay := firstDelay
	for n < len(text) {
		var wrote int
		wrote, err = w.writeOnce(text[n:])
		n += wrote
		if wrote > 0 {
			w.torn = text[n-1] != '\n'
			delay = firstDelay
		}
		switch {
		case n == len(text):
			return n, "", nil
		case err == nil && wrote > 0, errors.Is(err, syscall.EINTR):
			continue
		case err == nil:
			return n, WriteError, io.ErrNoProgress
		}
		longest := w.patience(err)
		if longest == 0 {
			return n, WriteError, err
		}
		if !w.wait(min(delay, longest)) {
			return n, Closed, os.ErrClosed
		}
		delay = min(2*delay, longest)
	}
	return n, "", nil
}

// writeOnce calls Write and holds it to what io.Writer promises.
func (w *lineWriter) writeOnce(p []byte) (n int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			// Whatever was written, the line is to be closed before the next.
			n, err = 0, fmt.Errorf("writer panicked: %v", cause)
			w.torn = true
		}
	}()
	n, err = w.writer.Write(p)
	if n < 0 || n > len(p) {
		w.torn = true
		return 0, fmt.Errorf("writer claims to have written %d of %d bytes", n, len(p))
	}
	return n, err
}

// How long to wait for a writer that fails: twice as long each time. There is
// no asking the kernel when a non-blocking pipe has room: the descriptor is not
// in the runtime's poller, or it would not have come to this.
const (
	firstDelay = 100 * time.Microsecond
	roomDelay  = 20 * time.Millisecond  // at most, for room in a pipe
	lastDelay  = 500 * time.Millisecond // at most, for anything else
)

// mayPass are errors of a disk that is full, of a device or network that
// fails, of memory and open files that are used up: what somebody will mend,
// without the writer being opened anew.
var mayPass = []error{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO,
	syscall.ENOBUFS, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE,
}

// patience returns how long at most to wait before the next attempt after that
// error, 0 for one that is not waited for.
func (w *lineWriter) patience(err error) time.Duration {
	if errors.Is(err, syscall.EAGAIN) {
		return roomDelay
	}
	if !w.patient || !slices.ContainsFunc(mayPass, func(e error) bool { return errors.Is(err, e) }) {
		return 0
	}
	if w.waits != nil {
		w.waits(err)
	}
	return lastDelay
}

// wait reports whether w is still open after the delay.
func (w *lineWriter) wait(delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return !w.isClosed()
	case <-w.closed:
		return false
	}
}
