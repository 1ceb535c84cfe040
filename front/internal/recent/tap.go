package recent

import (
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weirhq/weir/log"
)

const (
	// mostTails leaves connections of the admin listener for health checks and scrapes.
	mostTails = 4
	// waitingBytes is the maximum size of the lines that wait for a Tail.
	waitingBytes = 512 << 10
)

// A Tap copies the lines of a log to each Tail. Without one, a line costs one load. The zero value is ready to use, and
// goroutines may share it.
type Tap struct {
	tails atomic.Pointer[[]*Tail] // nil without one
	mu    sync.Mutex              // held while tails changes
}

// A Tail has the lines of a log since it was taken last. Lines for which there is no space are counted.
type Tail struct {
	mu      sync.Mutex // guards the fields below
	lines   []byte
	skipped int
}

// Writer returns a writer that copies the lines that it passes on.
func (t *Tap) Writer(to log.EventWriter) log.EventWriter { return tapped{to, t} }

type tapped struct {
	log.EventWriter
	tap *Tap
}

// WriteEvent implements log.EventWriter.
func (w tapped) WriteEvent(level log.Level, line []byte) (int, error) {
	if tails := w.tap.tails.Load(); tails != nil {
		for _, t := range *tails {
			t.offer(line)
		}
	}
	return w.EventWriter.WriteEvent(level, line)
}

// Unwrap lets a logger find out the type of the writer.
func (w tapped) Unwrap() io.Writer { return w.EventWriter }

// Join returns a new Tail, or nil if there are too many. The caller gives it to Leave.
func (t *Tap) Join() *Tail {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*Tail
	if before := t.tails.Load(); before != nil {
		all = slices.Clone(*before)
	}
	if len(all) == mostTails {
		return nil
	}
	joined := new(Tail)
	all = append(all, joined)
	t.tails.Store(&all)
	return joined
}

// Leave ends a Tail.
func (t *Tap) Leave(left *Tail) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(*t.tails.Load()), func(other *Tail) bool { return other == left })
	if len(all) == 0 {
		t.tails.Store(nil)
		return
	}
	t.tails.Store(&all)
}

// offer copies a line.
func (t *Tail) offer(line []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines)+len(line) > waitingBytes {
		t.skipped++
		return
	}
	t.lines = append(t.lines, line...)
}

// Take returns the lines since the last call, and the number of those that were skipped. The Tail writes to spare from
// now on, whose content is lost: the lines of the call before.
func (t *Tail) Take(spare []byte) (lines []byte, skipped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines, skipped = t.lines, t.skipped
	t.lines, t.skipped = spare[:0], 0
	return lines, skipped
}
