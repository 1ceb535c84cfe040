package loadexport

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/log/stream"
)

const (
	// mostWaiting is how many intervals wait for a server: two minutes. Later ones are left out. Counts are of the whole
	// run, so that the next interval has them too.
	mostWaiting = 120

	// finishWithin is how long the end of a run waits for a server. The second half is for the last interval.
	finishWithin = 5 * time.Second

	// sendAgainAfter is the time between two attempts.
	sendAgainAfter = time.Second
)

// errSilent is the reason if the end of a run has waited for a response in vain.
var errSilent = fmt.Errorf("no response within %.0f s of the end", finishWithin.Seconds())

// A delivery sends the intervals of a run to one server, in order, from a goroutine of its own.
type delivery struct {
	url   string // for messages
	to    protocol
	say   func(string)
	queue chan interval
	ended chan struct{} // closed when the goroutine has ended

	ctx     context.Context // ends when nothing is sent any more
	cancel  context.CancelFunc
	earlier context.Context // ends when no interval before the last one is sent any more; a child of ctx
	skip    context.CancelFunc
	over    atomic.Bool   // the run has ended
	expiry  []*time.Timer // of the contexts, after the end of the run

	offered int // intervals, by the caller of offer and put

	delivered int   // by the goroutine
	cause     error // of the last attempt that failed, by the goroutine
}

func newDelivery(url string, to protocol, say func(string)) *delivery {
	d := &delivery{url: url, to: to, say: say, queue: make(chan interval, mostWaiting), ended: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.earlier, d.skip = context.WithCancel(d.ctx)
	go d.run() // wait waits for it
	return d
}

// offer adds an interval to the queue unless it is full.
func (d *delivery) offer(i interval) {
	d.offered++
	select {
	case d.queue <- i:
	default:
	}
}

// end limits the time that is left for the server.
func (d *delivery) end() {
	d.over.Store(true)
	d.expiry = []*time.Timer{time.AfterFunc(finishWithin/2, d.skip), time.AfterFunc(finishWithin, d.cancel)}
}

// put adds the last interval to the queue, for which it waits if the queue is full.
func (d *delivery) put(i interval) {
	d.offered++
	select {
	case d.queue <- i:
	case <-d.ctx.Done():
	}
}

// wait waits for the delivery after end, and returns a warning about the intervals that the server did not get
// as a whole.
func (d *delivery) wait() (warning string) {
	close(d.queue)
	<-d.ended
	for _, timer := range d.expiry {
		timer.Stop()
	}
	d.cancel()
	d.to.Close()
	lost := d.offered - d.delivered
	if lost == 0 {
		return ""
	}
	cause := d.cause
	if cause == nil {
		cause = errors.New("the server is slow")
	}
	return fmt.Sprintf("%d of the %d intervals were not exported as a whole to %s: %v", lost, d.offered, d.url, cause)
}

// run sends the intervals of the queue until it is closed.
func (d *delivery) run() {
	defer close(d.ended)
	for i := range d.queue {
		ctx := d.earlier
		if i.last {
			ctx = d.ctx
		}
		r, err := d.to.encode(i)
		if err != nil {
			d.note(err)
		} else if d.send(ctx, r) {
			d.delivered++
		}
	}
}

// send sends an interval until the server has it or rejects it, or until ctx ends. It reports whether the server has it.
func (d *delivery) send(ctx context.Context, r request) bool {
	for ctx.Err() == nil {
		err := d.to.Send(ctx, r)
		rejected := errors.As(err, new(*stream.RejectedError))
		switch {
		case err == nil:
			return true
		case rejected || ctx.Err() == nil:
			d.note(err)
		case d.ctx.Err() != nil:
			d.cause = errSilent
		}
		if rejected {
			return false
		}
		wait := sendAgainAfter
		if busy := new(stream.UnavailableError); errors.As(err, &busy) {
			wait = max(wait, busy.After)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return false
}

// note keeps an error for the warning, and shows the first one.
func (d *delivery) note(err error) {
	if d.cause == nil {
		message := fmt.Sprintf("--export: %v", err)
		if !d.over.Load() {
			message += "; the load continues"
		}
		d.say(message)
	}
	d.cause = err
}
