package stream

import (
	"context"
	"fmt"
	"sync"
)

// A courier delivers batches, one at a time, to a destination that may be replaced. Any
// goroutine may use it.
type courier struct {
	ctx context.Context // ends when nothing is delivered any more
	end context.CancelFunc

	changed chan struct{} // receives a value when the destination was replaced

	delivering sync.Mutex // held during a delivery; acquired before mu
	isClosed   bool       // guarded by delivering

	mu     sync.Mutex // guards the fields below
	to     Destination
	cancel context.CancelFunc // ends the delivery in progress; nil if there is none
}

func newCourier(to Destination) *courier {
	c := &courier{to: to, changed: make(chan struct{}, 1)}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

// deliver makes one attempt to deliver a batch. A batch with which the destination panics is
// rejected, because it would do so again.
func (c *courier) deliver(b Batch) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &RejectedError{Lines: b.Count, Err: fmt.Errorf("the destination panicked: %v", cause)}
		}
	}()
	c.delivering.Lock()
	defer c.delivering.Unlock()
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	c.mu.Lock()
	to := c.to
	c.cancel = cancel
	c.mu.Unlock()
	return to.Deliver(ctx, b)
}

// use replaces the destination and returns the one before, which the caller closes. It cancels a
// delivery in progress.
func (c *courier) use(to Destination) (before Destination) {
	c.mu.Lock()
	before = c.to
	c.to = to
	if c.cancel != nil {
		c.cancel()
	}
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
	return before
}

// closeReplaced closes a destination that use has returned, after the delivery in progress.
func (c *courier) closeReplaced(before Destination) error {
	c.delivering.Lock()
	defer c.delivering.Unlock()
	return before.Close()
}

// close closes the destination. A delivery in progress that does not end at the end of its
// context delays it.
func (c *courier) close() error {
	c.delivering.Lock()
	defer c.delivering.Unlock()
	if c.isClosed {
		return nil
	}
	c.isClosed = true
	return c.to.Close()
}
