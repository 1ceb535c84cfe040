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

// A lineWriter writes lines to a writer that may fail within a line. It belongs
// to one goroutine and remembers whether the last line was torn, so that the
// next line begins on a new line. It has no buffer that could keep an error.
type lineWriter struct {
	writer  io.Writer
	retries bool        // retries after errors that may pass, not only when a pipe is full
	waits   func(error) // is called with each error that leads to a retry; may be nil
	stream  *stream     // the stream at the end of the chain of writers; nil if there is none

	hurried chan struct{} // has a value after hurry
	closed  chan struct{} // closed by giveUp
	closing sync.Once

	torn   bool   // whether the last byte written is not a newline
	joined []byte // buffer for a newline and a line, after a torn line

	began   atomic.Int64 // start of the write in progress, as time since start; 0: none
	longest atomic.Int64 // duration of the longest write
}

func newLineWriter(w io.Writer, retries bool) *lineWriter {
	l := &lineWriter{writer: w, retries: retries, hurried: make(chan struct{}, 1), closed: make(chan struct{})}
	if s, ok := unwrap.First[stream](w); ok {
		l.stream = &s
	}
	return l
}

// piece returns the first lines of text, as many as the kernel takes
// atomically. A larger write may be split, and its progress is unknown until
// the last part is written.
func (w *lineWriter) piece(text []byte) []byte {
	if w.stream == nil {
		return text
	}
	return linesWithin(text, w.stream.atMost)
}

// Instants are kept in atomics as nanoseconds since start. start lies in the
// past, so that no instant is 0.
var start = time.Now().Add(-time.Second)

// begin starts the measurement of one write, with its retries; end ends it.
func (w *lineWriter) begin() { w.began.Store(int64(time.Since(start))) }

// Any goroutine may call end, also without begin.
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

// hurry ends the current wait, or the next one, so that the writer gets one more attempt. Any
// goroutine may call it.
func (w *lineWriter) hurry() {
	select {
	case w.hurried <- struct{}{}:
	default:
	}
}

// giveUp ends the current wait and all later ones. Any goroutine may call it.
func (w *lineWriter) giveUp() { w.closing.Do(func() { close(w.closed) }) }

func (w *lineWriter) isClosed() bool {
	select {
	case <-w.closed:
		return true
	default:
		return false
	}
}

// writeLine writes a line, after a newline if the line before was torn. It
// returns the number of bytes of the line that were written and, if the event
// is lost, a reason.
func (w *lineWriter) writeLine(line []byte) (n int, reason Reason, err error) {
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

// wholeBut counts a line as written if only its newline is missing: the next
// line begins with one, and a reader finds the event complete.
func wholeBut(line []byte, n int, reason Reason) (int, Reason) {
	if n == len(line)-1 && line[n] == '\n' {
		return n, ""
	}
	return n, reason
}

const maxKeptBytes = 64 << 10

// writeAll writes text, in several writes if necessary. It returns the number
// of bytes written, and the reason if that is not all.
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
		case n == len(text) && err != nil && rejectedBy(err) != nil:
			return n, Rejected, err
		case n == len(text):
			return n, "", nil
		case err == nil && wrote > 0, errors.Is(err, syscall.EINTR):
			continue
		case err == nil:
			return n, WriteError, io.ErrNoProgress
		}
		least, longest := w.retryDelay(err)
		if longest == 0 {
			return n, WriteError, err
		}
		if !w.wait(max(least, min(delay, longest))) {
			return n, Closed, os.ErrClosed
		}
		delay = min(2*delay, longest)
	}
	return n, "", nil
}

// writeOnce calls Write, and checks the contract of io.Writer.
func (w *lineWriter) writeOnce(p []byte) (n int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			// The number of bytes written is unknown, so the next line must
			// begin with a newline.
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

// The delays between retries double. The kernel cannot be asked when a
// non-blocking pipe has space: its descriptor is not in the runtime's poller,
// which would have waited otherwise.
const (
	firstDelay = 100 * time.Microsecond
	roomDelay  = 20 * time.Millisecond  // maximum, for a full pipe
	lastDelay  = 500 * time.Millisecond // maximum, for other errors
)

// transient are errors of a full disk, of a failing device or network, and of
// exhausted memory and descriptors. An operator can repair these without the
// writer being reopened.
var transient = []error{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO,
	syscall.ENOBUFS, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE,
}

// rejectedBy returns the RejectedError in the chain of err, or nil. It allocates.
func rejectedBy(err error) *RejectedError {
	var rejected *RejectedError
	errors.As(err, &rejected)
	return rejected
}

// retryDelay returns the minimum and the maximum delay before the next attempt after err.
// Both are 0 if err is final.
func (w *lineWriter) retryDelay(err error) (least, longest time.Duration) {
	if errors.Is(err, syscall.EAGAIN) {
		return 0, roomDelay
	}
	var retry *RetryError
	switch {
	case !w.retries:
		return 0, 0
	case errors.As(err, &retry):
		least, longest = retry.After, max(retry.After, firstDelay)
	case slices.ContainsFunc(transient, func(e error) bool { return errors.Is(err, e) }):
		longest = lastDelay
	default:
		return 0, 0
	}
	if w.waits != nil {
		w.waits(err)
	}
	return least, longest
}

// wait waits, and reports whether w is still open.
func (w *lineWriter) wait(delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.hurried:
	case <-w.closed:
	}
	return !w.isClosed()
}
