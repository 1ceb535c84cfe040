package front

import (
	"sync"
	"time"
)

// streamDeadlines are the deadlines of a stream of HTTP/2 for reads and writes
// that are under way. net/http's own end a stream whether it is being read from
// and written to or not: there, a client would answer for an upstream that is
// silent for longer than the client may be.
type streamDeadlines struct {
	in, out streamDeadline
}

// bind makes them those of a stream, nil of none.
func (s *streamDeadlines) bind(stream deadlines) {
	s.in.bind(stream, deadlines.SetReadDeadline)
	s.out.bind(stream, deadlines.SetWriteDeadline)
}

// SetReadDeadline begins the wait for a read, or ends it with the zero time.
func (s *streamDeadlines) SetReadDeadline(t time.Time) error { s.in.set(t); return nil }

// SetWriteDeadline is to writes what SetReadDeadline is to reads.
func (s *streamDeadlines) SetWriteDeadline(t time.Time) error { s.out.set(t); return nil }

// A streamDeadline is that of one direction. Its timer is left as it is from one
// operation to the next, and has a look when it rings.
type streamDeadline struct {
	mu     sync.Mutex // guards what follows
	stream deadlines
	end    func(deadlines, time.Time) error // ends the direction, with a time in the past
	want   time.Time                        // zero when nobody waits
	rings  time.Time                        // when the timer does; zero when it does not
	timer  *time.Timer
}

func (d *streamDeadline) bind(stream deadlines, end func(deadlines, time.Time) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stream, d.end, d.want = stream, end, time.Time{}
	if d.timer != nil && stream == nil {
		d.timer.Stop()
		d.rings = time.Time{}
	}
}

func (d *streamDeadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.want = t
	if !t.IsZero() && (d.rings.IsZero() || d.rings.After(t)) {
		d.ringAt(t)
	}
}

// last gives net/http so long to write what is left: behind the handler, its own
// deadline will do.
func (d *streamDeadline) last(wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end(d.stream, time.Now().Add(wait))
}

// ringAt sets the timer. The caller holds mu.
func (d *streamDeadline) ringAt(t time.Time) {
	d.rings = t
	if d.timer == nil {
		d.timer = time.AfterFunc(time.Until(t), d.ring)
		return
	}
	d.timer.Reset(time.Until(t))
}

// ring ends the direction if the client has been waited for until now. It may
// come late, behind a Stop: then it is about the next stream, or about none.
func (d *streamDeadline) ring() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rings = time.Time{}
	switch {
	case d.want.IsZero():
	case time.Now().Before(d.want):
		d.ringAt(d.want)
	default:
		d.end(d.stream, past)
	}
}
