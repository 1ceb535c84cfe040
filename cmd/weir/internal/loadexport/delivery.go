package loadexport

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirhq/weir/log/stream"
)

const (
	// mostWaiting is how many intervals wait for a server: two minutes. Later ones are left out. Counts are of the whole
	// run, so that the next interval has them too.
	mostWaiting = 120

	// finishWithin is how long the end of a run waits for a server.
	finishWithin = 5 * time.Second

	// sendAgainAfter is the time between two attempts.
	sendAgainAfter = time.Second
)

// A delivery sends the intervals of a run to one server, in order, from a goroutine of its own.
type delivery struct {
	url   string // for messages
	to    protocol
	say   func(string)
	queue chan interval
	ended chan struct{} // closed when the goroutine has ended

	ctx    context.Context // ends when nothing is sent any more
	cancel context.CancelFunc
	expiry *time.Timer // ends ctx after the end of the run

	offered int // intervals, by the caller of offer and put

	delivered int   // by the goroutine
	cause     error // of the last attempt that failed, by the goroutine
}

func newDelivery(url string, to protocol, say func(string)) *delivery {
	d := &delivery{url: url, to: to, say: say, queue: make(chan interval, mostWaiting), ended: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancel(context.Background())
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
func (d *delivery) end() { d.expiry = time.AfterFunc(finishWithin, d.cancel) }

// put adds the last interval to the queue, for which it waits if the queue is full.
func (d *delivery) put(i interval) {
	d.offered++
	select {
	case d.queue <- i:
	case <-d.ctx.Done():
	}
}

// wait waits for the delivery after end, and returns a warning about the intervals that the server did not get.
func (d *delivery) wait() (warning string) {
	close(d.queue)
	<-d.ended
	d.expiry.Stop()
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
	return fmt.Sprintf("%d of the %d intervals were not exported to %s: %v", lost, d.offered, d.url, cause)
}

// run sends the intervals of the queue until it is closed.
func (d *delivery) run() {
	defer close(d.ended)
	for i := range d.queue {
		message, err := d.to.encode(i)
		if err != nil {
			d.note(err)
		} else if d.send(message) {
			d.delivered++
		}
	}
}

// send sends an interval until the server has it or rejects it, or until nothing is sent any more. It reports whether
// the server has it.
func (d *delivery) send(message []byte) bool {
	for {
		err := d.to.Send(d.ctx, message)
		if err == nil {
			return true
		}
		if d.ctx.Err() == nil || d.cause == nil {
			d.note(err)
		}
		if errors.As(err, new(*stream.RejectedError)) {
			return false
		}
		wait := sendAgainAfter
		if busy := new(stream.UnavailableError); errors.As(err, &busy) {
			wait = max(wait, busy.After)
		}
		select {
		case <-d.ctx.Done():
			return false
		case <-time.After(wait):
		}
	}
}

// note keeps an error for the warning, and shows the first one.
func (d *delivery) note(err error) {
	if d.cause == nil {
		d.say(fmt.Sprintf("--export: %v; the load continues", err))
	}
	d.cause = err
}
