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

// A Fallback writes to the first of two writers until that fails for good, as a
// pipe does whose reader has gone, and from then on to the second: a log that
// loses its consumer on stdout goes on to stderr. A [Queue] or [Direct] belongs
// before it. Make one with [NewFallback]. Any number of goroutines may use it.
//
// The line in whose middle the first failed is written to the second from its
// beginning. What the first had taken before, and its reader had not read when
// it went, is lost with it: 64 KiB of a pipe on Linux.
//
// The first is given another chance, between two lines and at most once a
// second, with Reopen before when it has that method, as [File] does. An error
// that may pass, a full disk say, is returned and not fled from.
type Fallback struct {
	first, second io.Writer
	diverted      atomic.Uint64 // lines

	mu      sync.Mutex  // held during a Write; guards what follows
	fled    time.Time   // when the first failed last; zero while it works
	torn    bool        // the first has the beginning alone of the line in which it failed
	partial partialLine // of the line that the one in use has not whole yet
	owed    []byte      // what the second is to have before anything else
}

// NewFallback returns a Fallback. Both writers stay the caller's to close.
func NewFallback(first, second io.Writer) *Fallback {
	return &Fallback{first: first, second: second}
}

// Unwrap returns the first writer, for who asks what kind it is.
func (f *Fallback) Unwrap() io.Writer { return f.first }

// Diverted returns how many lines the second writer has. It never waits for a
// write.
func (f *Fallback) Diverted() uint64 { return f.diverted.Load() }

// Write writes p, whole lines or what was left of them, to the one of the
// writers that works. It returns how many bytes of p need not be written again.
func (f *Fallback) Write(p []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.returns(time.Now()) {
		if err = f.closeTorn(); err == nil {
			n, err = f.first.Write(p)
			n = min(max(n, 0), len(p))
		}
		if err == nil || mayWork(err) {
			f.partial = f.partial.after(p[:n])
			return n, err
		}
		n = f.flee(p[:n])
	}
	more, err := f.writeSecond(p[n:])
	if err != nil && !mayWork(err) {
		f.partial, f.owed = f.partial[:0], nil // the line is lost
	}
	return n + more, err
}

// returns reports whether the first writer is to be used. f.mu is held here and
// below.
func (f *Fallback) returns(now time.Time) bool {
	switch {
	case f.fled.IsZero():
		return true
	case len(f.partial) > 0 || now.Sub(f.fled) < lookEvery:
		return false
	}
	if r, ok := f.first.(interface{ Reopen() error }); ok {
		if err := r.Reopen(); err != nil {
			f.fled = now
			return false
		}
	}
	f.fled = time.Time{}
	return true
}

// closeTorn ends the line in whose middle the first failed: another is to
// follow it there.
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

// flee turns to the second writer when the first has failed behind p, and
// returns how much of p are whole lines: the second begins there. When that is
// the middle of a line, it is owed what comes before.
func (f *Fallback) flee(p []byte) (whole int) {
	f.fled = time.Now()
	whole = bytes.LastIndexByte(p, '\n') + 1
	if whole > 0 {
		f.partial = f.partial[:0]
	}
	f.torn = f.torn || len(f.partial) > 0 || whole < len(p)
	f.owed = slices.Clone(f.partial)
	return whole
}

func (f *Fallback) writeSecond(p []byte) (n int, err error) {
	for len(f.owed) > 0 {
		n, err := f.second.Write(f.owed)
		f.owed = f.owed[min(max(n, 0), len(f.owed)):]
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

// mayWork reports whether the same writer may work after the error without
// being opened anew.
func mayWork(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) ||
		slices.ContainsFunc(mayPass, func(e error) bool { return errors.Is(err, e) })
}
