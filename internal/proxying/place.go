package proxying

import (
	"errors"
	"time"

	"github.com/weirhq/weir/internal/proxying/internal/balance"
	"github.com/weirhq/weir/internal/proxying/internal/waitqueue"
)

var (
	errQueueFull    = errors.New("all servers have as many requests as they may have")
	errQueueTimeout = errors.New("no server had a free place for the whole waiting time")
)

// place chooses the next server and takes a place at it. Without a free place, the exchange waits
// for one. place returns nil if no server is left.
func (t *transfer) place() (*member, *Error) {
	o, u := &t.order, t.up
	q := u.queue
	if u.options.Limit.Max == 0 || q.Waiting() == 0 {
		if m := o.Place(); m != nil || !o.Full() {
			return t.enter(m), nil
		}
	}
	x := t.x
	var m *balance.Member
	w := waitqueue.New(func(now time.Time) waitqueue.Result {
		o.Now = now
		m = o.Place()
		switch {
		case m != nil || !o.Full():
			return waitqueue.Done
		case o.Particular():
			return waitqueue.Wait
		default:
			return waitqueue.Taken
		}
	})
	if !q.Push(w, u.options.Limit.Queue) {
		return nil, &Error{Kind: QueueFull, Step: choosing, Err: errQueueFull}
	}
	q.Dispatch()
	ctx, end := x.beginDial(min(u.options.Limit.Wait, x.timeout()))
	defer end()
	placed := false
	x.driver().Block(func() { placed = q.Await(ctx, w) })
	t.now = time.Now()
	at := t.enter(m)
	switch {
	case x.upload.Fault() != nil:
		return nil, by(ClientBody, readingBody, x.upload.Fault())
	case x.cancelled.Load():
		return nil, &Error{Kind: ClientGone, Step: choosing, Err: errGone}
	case placed:
		return at, nil
	case x.overdue(t.now):
		return nil, &Error{Kind: Overdue, Step: choosing, Err: ErrOverdue}
	}
	return nil, &Error{Kind: QueueTimeout, Step: choosing, Err: errQueueTimeout}
}

// choosing is the step of an exchange that has no server yet.
const choosing = "choosing a server"

// enter notes that the exchange has a place at a server, which it must leave, and returns the
// server. chosen may be nil.
func (t *transfer) enter(chosen *balance.Member) *member {
	if chosen == nil {
		return nil
	}
	m := &t.set.members[chosen.Index]
	t.at = m.Server
	return m
}

// leave frees the place of the exchange at its server. It may be called again.
func (t *transfer) leave() {
	if t.at == nil {
		return
	}
	t.at.state.Leave()
	t.at = nil
	if q := t.up.queue; q != nil && q.Waiting() > 0 {
		q.Dispatch()
	}
}
