package front

import (
	"sync"
	"time"

	"github.com/weirhq/weir/log"
)

// A floodLog logs what may happen very often, by value: the first immediately, later ones as
// a count per floodPause. note never blocks; a separate goroutine writes, and waits if the log
// is stalled.
type floodLog struct {
	log func() log.Event // begins an event
	key string           // of the value in the event's data

	mu     sync.Mutex     // guards the fields below; not held while writing to the log
	counts map[string]int // by value, not logged yet
	writer *floodWriter   // nil if nothing was noted lately
	closed bool
}

// A floodWriter is the goroutine that writes the events.
type floodWriter struct {
	flush chan struct{} // closed to end its pauses
	done  chan struct{} // closed when it has ended
}

const (
	floodPause = time.Second
	// floodCloseTimeout is how long close waits for a stalled log.
	floodCloseTimeout = 250 * time.Millisecond
)

// note counts a value.
func (r *floodLog) note(value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = make(map[string]int)
	}
	r.counts[value]++
	if r.writer == nil && !r.closed {
		r.writer = &floodWriter{flush: make(chan struct{}), done: make(chan struct{})}
		go r.write(r.writer)
	}
}

// write writes counts until there are none.
func (r *floodLog) write(w *floodWriter) {
	defer close(w.done)
	for counts := r.take(); counts != nil; counts = r.take() {
		for value, n := range counts {
			r.log().Str(r.key, value).Int("count", n).Send()
		}
		select {
		case <-time.After(floodPause):
		case <-w.flush:
		}
	}
}

// take returns the counts and resets them. If there are none, it returns nil, and
// the writer must end.
func (r *floodLog) take() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.counts
	r.counts = nil
	if counts == nil {
		r.writer = nil
	}
	return counts
}

// close writes the remaining counts. If the log is stalled, it waits at most
// floodCloseTimeout. The writer then ends when the log accepts its events or,
// once closed, drops and counts them.
func (r *floodLog) close() {
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
	case <-time.After(floodCloseTimeout):
	}
}
