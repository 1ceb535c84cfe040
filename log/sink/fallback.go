package sink

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Fallback writes to the first of two writers until it fails, as a pipe does
// when its reader ends, and then to the second: a log that loses its consumer
// on stdout continues on stderr. Write to it through a [Queue] or [Direct].
// Make one with [NewFallback]. Any number of goroutines may use it.
//
// The line in which the first writer failed is written to the second from its
// beginning. Lines that the first writer took, but whose reader ended before it
// read them, are lost: up to 64 KiB in a pipe on Linux.
//
// Between two lines and at most once a second, the Fallback tries the first
// writer again. If that has a method Reopen, as [File] has, it calls Reopen
// before. It returns an error that may pass, such as a full disk, without
// switching.
type Fallback struct {
	first, second io.Writer
	diverted      atomic.Uint64 // number of lines

	mu       sync.Mutex  // held during a Write; guards the fields below
	failedAt time.Time   // when the first writer last failed; zero while it works
	torn     bool        // whether the first writer has an incomplete last line
	partial  partialLine // the last line of the current writer, if it is not complete
	pending  []byte      // bytes to write to the second writer before anything else
}

// NewFallback returns a Fallback. The caller closes both writers.
func NewFallback(first, second io.Writer) *Fallback {
	return &Fallback{first: first, second: second}
}

// Unwrap returns the first writer, so that callers can check its type.
func (f *Fallback) Unwrap() io.Writer { return f.first }

// Diverted returns the number of lines that went to the second writer. It never
// waits for a write.
func (f *Fallback) Diverted() uint64 { return f.diverted.Load() }

// Write writes p, which is whole lines or the rest of a short write, to the
// writer that works. It returns the number of bytes of p that need not be
// written again.
func (f *Fallback) Write(p []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.usesFirst(time.Now()) {
		if err = f.closeTorn(); err == nil {
			n, err = f.first.Write(p)
			n = min(max(n, 0), len(p))
		}
		if err == nil || isTransient(err) {
			f.partial = f.partial.after(p[:n])
			return n, err
		}
		n = f.divert(p[:n])
	}
	more, err := f.writeSecond(p[n:])
	if err != nil && !isTransient(err) {
		f.partial, f.pending = f.partial[:0], nil // the line is lost
	}
	return n + more, err
}

// usesFirst reports whether to use the first writer. f.mu is held here and
// below.
func (f *Fallback) usesFirst(now time.Time) bool {
	switch {
	case f.failedAt.IsZero():
		return true
	case len(f.partial) > 0 || now.Sub(f.failedAt) < checkEvery:
		return false
	}
	if r, ok := f.first.(interface{ Reopen() error }); ok {
		if err := r.Reopen(); err != nil {
			f.failedAt = now
			return false
		}
	}
	f.failedAt = time.Time{}
	return true
}

// closeTorn ends the incomplete line of the first writer, before it gets
// another.
func (f *Fallback) closeTorn() error {
	if !f.torn {
		return nil
	}
	n, err := f.first.Write([]byte{'\n'})
	if f.torn = n <= 0; f.torn {
		return cmp.Or(err, io.ErrNoProgress)
	}
	return nil
}

// divert switches to the second writer after the first failed at the end of p.
// It returns the length of the whole lines in p. The second writer continues
// after them. If the first writer already has the beginning of that line, this
// beginning becomes pending, to be written to the second writer first.
func (f *Fallback) divert(p []byte) (whole int) {
	f.failedAt = time.Now()
	whole = bytes.LastIndexByte(p, '\n') + 1
	if whole > 0 {
		f.partial = f.partial[:0]
	}
	f.torn = f.torn || len(f.partial) > 0 || whole < len(p)
	f.pending = slices.Clone(f.partial)
	return whole
}

func (f *Fallback) writeSecond(p []byte) (n int, err error) {
	for len(f.pending) > 0 {
		n, err := f.second.Write(f.pending)
		f.pending = f.pending[min(max(n, 0), len(f.pending)):]
		if err == nil && n <= 0 {
			err = io.ErrNoProgress
		}
		if err != nil {
			return 0, err
		}
	}
	n, err = f.second.Write(p)
	n = min(max(n, 0), len(p))
	f.partial = f.partial.after(p[:n])
	f.diverted.Add(uint64(bytes.Count(p[:n], []byte{'\n'})))
	return n, err
}

// isTransient reports whether the same writer may work after the error without
// being reopened.
func isTransient(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) ||
		slices.ContainsFunc(transient, func(e error) bool { return errors.Is(err, e) })
}
