package front

import (
	"io"
	"sync"
	"time"

	"github.com/weirhq/weir/internal/transport"
	"github.com/weirhq/weir/log"
)

const (
	// rejectLinger is how long a rejected client may take to close the connection.
	rejectLinger = 50 * time.Millisecond
	// rejectLingering is how many may do so at a time. Other connections are
	// closed immediately.
	rejectLingering = 16
	// rejectDiscard is how many bytes are read from such a client.
	rejectDiscard = 16 << 10
)

// busyResponse is the response to a rejected client, whatever it requests.
var busyResponse = []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n" +
	"Content-Length: 24\r\nRetry-After: 1\r\nConnection: close\r\n\r\n503 Service Unavailable\n")

// A rejector closes the connections that exceed a limit, counts and logs them.
type rejector struct {
	metrics   *metrics
	log       rejectionLog
	lingering chan struct{} // a slot for each client that is waited for
	waiting   sync.WaitGroup
}

// reject sends a 503 and closes the connection. Closing it immediately, with
// unread bytes from the client, would reset it, and the client would lose the
// response. Therefore reject waits for some clients to close it first.
func (r *rejector) reject(a transport.Accepted, broken limitName) {
	r.metrics.refusal(broken, allRoutes).Inc()
	r.log.note(broken)
	if broken != limitFiles {
		select {
		case r.lingering <- struct{}{}:
			r.waiting.Go(func() {
				r.linger(a)
				<-r.lingering
			})
			return
		default:
		}
	}
	a.Refuse(busyResponse) // it fits the buffer of a new socket
}

// linger sends the response and waits until the client closes the connection.
func (r *rejector) linger(a transport.Accepted) {
	nc, err := a.NetConn()
	if err != nil {
		return
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(rejectLinger))
	nc.Write(busyResponse)
	nc.CloseWrite()
	io.CopyN(io.Discard, nc, rejectDiscard)
}

// close waits for the clients that were rejected last.
func (r *rejector) close() {
	r.waiting.Wait()
	r.log.close()
}

// A rejectionLog logs rejected connections: the first immediately, later ones as a
// count per rejectionPause. note never blocks; a separate goroutine writes, and
// waits if the log is stalled.
type rejectionLog struct {
	log func() *log.Logger

	mu     sync.Mutex        // guards the fields below; not held while writing to the log
	counts map[limitName]int // not logged yet
	writer *rejectionWriter  // nil if nothing was rejected lately
	closed bool
}

// A rejectionWriter is the goroutine that writes the events.
type rejectionWriter struct {
	flush chan struct{} // closed to end its pauses
	done  chan struct{} // closed when it has ended
}

const (
	eventTurnedAway = "connections turned away"
	rejectionPause  = time.Second
	// rejectionCloseTimeout is how long close waits for a stalled log.
	rejectionCloseTimeout = 250 * time.Millisecond
)

// note counts a connection that was rejected because of a limit.
func (r *rejectionLog) note(broken limitName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = make(map[limitName]int)
	}
	r.counts[broken]++
	if r.writer == nil && !r.closed {
		r.writer = &rejectionWriter{flush: make(chan struct{}), done: make(chan struct{})}
		go r.write(r.writer)
	}
}

// write writes counts until there are none.
func (r *rejectionLog) write(w *rejectionWriter) {
	defer close(w.done)
	for counts := r.take(); counts != nil; counts = r.take() {
		for broken, n := range counts {
			r.log().Warn(eventTurnedAway).Str("limit", string(broken)).Int("count", n).Send()
		}
		select {
		case <-time.After(rejectionPause):
		case <-w.flush:
		}
	}
}

// take returns the counts and resets them. If there are none, it returns nil, and
// the writer must end.
func (r *rejectionLog) take() map[limitName]int {
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
// rejectionCloseTimeout. The writer then ends when the log accepts its events or,
// once closed, drops and counts them.
func (r *rejectionLog) close() {
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
	case <-time.After(rejectionCloseTimeout):
	}
}
