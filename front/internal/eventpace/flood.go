package eventpace

import (
	"sync"
	"time"

	"github.com/weirhq/weir/log"
)

// A Flood logs what may happen very often, by value: the first immediately, later ones as
// a count per second. Note never blocks; a separate goroutine writes, and waits if the log
// is stalled.
type Flood struct {
	Log func() log.Event // begins an event
	Key string           // of the value in the event's data

	mu     sync.Mutex     // guards the fields below; not held while writing to the log
	counts map[string]int // by value, not logged yet
	writer *writer        // nil if nothing was noted lately
	closed bool
}

// A writer is the goroutine that writes the events.
type writer struct {
	flush chan struct{} // closed to end its pauses
	done  chan struct{} // closed when it has ended
}

const (
	pause = time.Second
	// closeTimeout is how long Close waits for a stalled log.
	closeTimeout = 250 * time.Millisecond
)

// Note counts a value.
func (r *Flood) Note(value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = make(map[string]int)
	}
	r.counts[value]++
	if r.writer == nil && !r.closed {
		r.writer = &writer{flush: make(chan struct{}), done: make(chan struct{})}
		go r.write(r.writer)
	}
}

// write writes counts until there are none.
func (r *Flood) write(w *writer) {
	defer close(w.done)
	for counts := r.take(); counts != nil; counts = r.take() {
		for value, n := range counts {
			r.Log().Str(r.Key, value).Int("count", n).Send()
		}
		select {
		case <-time.After(pause):
		case <-w.flush:
		}
	}
}

// take returns the counts and resets them. If there are none, it returns nil, and
// the writer must end.
func (r *Flood) take() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.counts
	r.counts = nil
	if counts == nil {
		r.writer = nil
	}
	return counts
}

// Close writes the remaining counts. If the log is stalled, it waits at most
// 250 ms. The writer then ends when the log accepts its events or,
// once closed, drops and counts them.
func (r *Flood) Close() {
	r.mu.Lock()
	w := r.writer
	r.closed = true
	r.mu.Unlock()
	if w == nil {
		return
	}
	close(w.flush)
	select {
	case <-w.done:
	case <-time.After(closeTimeout):
	}
}
