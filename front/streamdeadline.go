package front

import (
	"sync"
	"time"
)

// deadlines are the deadlines of a connection or an HTTP/2 stream.
type deadlines interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// past is a deadline that interrupts an operation in progress.
var past = time.Unix(1, 0)

// streamDeadlines are the deadlines of an HTTP/2 stream that apply only to reads
// and writes in progress. The deadlines of net/http also end a stream that is
// idle, so that a client would be cut off because the upstream is silent.
type streamDeadlines struct {
	in, out streamDeadline
}

// bind sets the stream; nil for none.
func (s *streamDeadlines) bind(stream deadlines) {
	s.in.bind(stream, deadlines.SetReadDeadline)
	s.out.bind(stream, deadlines.SetWriteDeadline)
}

// SetReadDeadline sets the deadline of the next read. The zero time removes it.
func (s *streamDeadlines) SetReadDeadline(t time.Time) error { s.in.set(t); return nil }

// SetWriteDeadline sets the deadline of the next write. The zero time removes it.
func (s *streamDeadlines) SetWriteDeadline(t time.Time) error { s.out.set(t); return nil }

// A streamDeadline is the deadline of one direction. Its timer stays as it is from
// one operation to the next. When it fires, it checks the deadline.
type streamDeadline struct {
	mu      sync.Mutex // guards the fields below
	stream  deadlines
	expire  func(deadlines, time.Time) error // sets the deadline of net/http
	want    time.Time                        // zero if no operation is in progress
	firesAt time.Time                        // zero if the timer is stopped
	timer   *time.Timer
}

func (d *streamDeadline) bind(stream deadlines, expire func(deadlines, time.Time) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stream, d.expire, d.want = stream, expire, time.Time{}
	if d.timer != nil && stream == nil {
		d.timer.Stop()
		d.firesAt = time.Time{}
	}
}

func (d *streamDeadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.want = t
	if !t.IsZero() && (d.firesAt.IsZero() || d.firesAt.After(t)) {
		d.fireAt(t)
	}
}

// expireIn sets the deadline of net/http itself, for its writes after the handler
// has returned.
func (d *streamDeadline) expireIn(wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.expire(d.stream, time.Now().Add(wait))
}

// fireAt sets the timer. The caller holds mu.
func (d *streamDeadline) fireAt(t time.Time) {
	d.firesAt = t
	if d.timer == nil {
		d.timer = time.AfterFunc(time.Until(t), d.fire)
		return
	}
	d.timer.Reset(time.Until(t))
}

// fire ends the operation in progress if its deadline has passed. It may run after
// Stop: then the deadline is that of the next stream, or there is none.
func (d *streamDeadline) fire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.firesAt = time.Time{}
	switch {
	case d.want.IsZero():
	case time.Now().Before(d.want):
		d.fireAt(d.want)
	default:
		d.expire(d.stream, past)
	}
}
