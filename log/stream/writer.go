package stream

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/weirhq/weir/log/sink"
)

// The delays between attempts.
const (
	firstDelay = 100 * time.Millisecond
	lastDelay  = 30 * time.Second
)

// A writer delivers the lines that a queue writes. It belongs to the queue's goroutine.
type writer struct {
	courier *courier
	source  string
	next    uint64        // number of the next line
	delay   time.Duration // after the last attempt; 0 if it succeeded
}

// Write makes one attempt to deliver p, which is whole lines: all of it or, after an error,
// nothing. The queue calls it again with the same lines.
func (w *writer) Write(p []byte) (n int, err error) {
	b := Batch{Lines: p, Count: bytes.Count(p, []byte("\n")), Source: w.source, First: w.next}
	err = w.courier.deliver(b)
	var rejected *RejectedError
	if err != nil && !errors.As(err, &rejected) {
		return 0, &sink.RetryError{After: w.backOff(err), Err: err}
	}
	w.next += uint64(b.Count)
	w.delay = 0
	if rejected != nil {
		return len(p), &sink.RejectedError{Lines: rejected.Lines, Err: err}
	}
	return len(p), nil
}

// backOff returns the delay before the next attempt. The random part prevents that many
// processes try at the same time.
func (w *writer) backOff(err error) time.Duration {
	w.delay = min(max(2*w.delay, firstDelay), lastDelay)
	wait := w.delay/2 + rand.N(w.delay/2)
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) {
		wait = max(wait, unavailable.After)
	}
	return wait
}
