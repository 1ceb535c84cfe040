package dashboard

import (
	"net/http"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/livepage"
	"github.com/weirhq/weir/internal/snapshot"
)

const (
	// interval is the time between two snapshots.
	interval = time.Second
	// maxViewers leaves connections of the admin listener for health checks and scrapes.
	maxViewers = 8
	// writeTimeout ends a viewer that does not read.
	writeTimeout = 10 * time.Second
)

// A feed sends one snapshot a second to all viewers. Without a viewer it does nothing.
type feed struct {
	newReader func() func(time.Time) *snapshot.Door

	mu      sync.Mutex // guards the fields below
	viewers map[chan []byte]struct{}
	current *run // nil without a viewer
}

// A run is the goroutine that makes snapshots, from the first viewer to the last.
type run struct {
	stop, done chan struct{}
	last       []byte // guarded by the mu of the feed: the last event; nil before the first one
}

// join adds a viewer, which gets its first event immediately. It returns nil if there are too many.
func (f *feed) join() chan []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.viewers) == maxViewers {
		return nil
	}
	if f.viewers == nil {
		f.viewers = make(map[chan []byte]struct{})
	}
	events := make(chan []byte, 1)
	f.viewers[events] = struct{}{}
	if f.current == nil {
		f.current = &run{stop: make(chan struct{}), done: make(chan struct{})}
		go f.run(f.current)
	} else if f.current.last != nil {
		events <- f.current.last
	}
	return events
}

// leave removes a viewer. The last one ends the run, and waits for it.
func (f *feed) leave(events chan []byte) {
	f.mu.Lock()
	delete(f.viewers, events)
	var ended *run
	if len(f.viewers) == 0 {
		ended, f.current = f.current, nil
	}
	f.mu.Unlock()
	if ended != nil {
		close(ended.stop)
		<-ended.done
	}
}

// run makes snapshots until the last viewer has left.
func (f *feed) run(r *run) {
	defer close(r.done)
	read := f.newReader()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		f.send(r, livepage.Encode("", 0, read(time.Now())))
		select {
		case <-r.stop:
			return
		case <-tick.C:
		}
	}
}

// send gives an event to all viewers. One that has not taken the last event gets only the new one.
func (f *feed) send(r *run, event []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current != r {
		return
	}
	r.last = event
	for events := range f.viewers {
		select {
		case <-events:
		default:
		}
		events <- event // only send and join fill the channel, both with mu
	}
}

// ServeHTTP sends snapshots as server-sent events until the viewer leaves.
func (f *feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	events := f.join()
	if events == nil {
		http.Error(w, "too many viewers", http.StatusServiceUnavailable)
		return
	}
	defer f.leave(events)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	c := http.NewResponseController(w)
	for {
		select {
		case <-r.Context().Done():
			return
		case event := <-events:
			c.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := w.Write(event); err != nil || c.Flush() != nil {
				return
			}
		}
	}
}
