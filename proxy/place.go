package proxy

import (
	"errors"
	"time"

	"github.com/weirhq/weir/proxy/internal/waitqueue"
)

var (
	errQueueFull    = errors.New("all servers have as many requests as they may have")
	errQueueTimeout = errors.New("no server had a free place for the whole waiting time")
)

// place chooses the next server and takes a place at it. Without a free place, the exchange waits
// for one. place returns nil if no server is left.
func (t *transfer) place() (*member, *Error) {
	o, u := &t.order, t.order.up
	q := u.queue
	if u.Limit.Max == 0 || q.Waiting() == 0 {
		if m := o.place(); m != nil || !o.full {
			t.enter(m)
			return m, nil
		}
	}
	x := t.x
	var m *member
	w := waitqueue.New(func(now time.Time) waitqueue.Result {
		o.now = now
		m = o.place()
		switch {
		case m != nil || !o.full:
			return waitqueue.Done
		case o.own != nil || len(o.tried) > 0 || len(o.sentTo) > 0:
			return waitqueue.Wait
		default:
			return waitqueue.Taken
		}
	})
	if !q.Push(w, u.Limit.Queue) {
		return nil, &Error{Kind: QueueFull, Step: choosing, Err: errQueueFull}
	}
	q.Dispatch()
	ctx, end := x.beginDial(min(u.Limit.Wait, x.timeout()))
	defer end()
	placed := false
	x.driver().Block(func() { placed = q.Await(ctx, w) })
	t.now = time.Now()
	t.enter(m)
	switch {
	case x.upload.fault() != nil:
		return nil, by(ClientBody, readingBody, x.upload.fault())
	case x.cancelled.Load():
		return nil, &Error{Kind: ClientGone, Step: choosing, Err: errGone}
	case placed:
		return m, nil
	case x.overdue(t.now):
		return nil, &Error{Kind: Overdue, Step: choosing, Err: ErrOverdue}
	}
	return nil, &Error{Kind: QueueTimeout, Step: choosing, Err: errQueueTimeout}
}

// choosing is the step of an exchange that has no server yet.
const choosing = "choosing a server"

// enter notes that the exchange has a place at a server, which it must leave. m may be nil.
func (t *transfer) enter(m *member) {
	if m != nil {
		t.at = m.Server
	}
}

// leave frees the place of the exchange at its server. It may be called again.
func (t *transfer) leave() {
	if t.at == nil {
		return
	}
	t.at.inFlight.Add(-1)
	t.at = nil
	if q := t.order.up.queue; q != nil && q.Waiting() > 0 {
		q.Dispatch()
	}
}
