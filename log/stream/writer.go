package stream

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/weirhq/weir/log/sink"
)

// A writer delivers the lines that a queue writes. It belongs to the queue's goroutine.
type writer struct {
	courier *courier
	source  string
	next    uint64 // number of the next line
	delays  delays
}

// Write makes one attempt to deliver p, which is whole lines: all of it or, after an error,
// nothing. The queue calls it again with the same lines.
func (w *writer) Write(p []byte) (n int, err error) {
	b := Batch{Lines: p, Count: countLines(p), Source: w.source, First: w.next}
	err = w.courier.deliver(b)
	var rejected *RejectedError
	if err != nil && !errors.As(err, &rejected) {
		return 0, &sink.RetryError{After: w.delays.after(err), Err: err}
	}
	w.next += uint64(b.Count)
	w.delays.end()
	if rejected != nil {
		return len(p), &sink.RejectedError{Lines: rejected.Lines, Err: err}
	}
	return len(p), nil
}

func countLines(p []byte) int {
	n := bytes.Count(p, []byte("\n"))
	if len(p) > 0 && p[len(p)-1] != '\n' {
		n++
	}
	return n
}

// delays are those between attempts. The zero value is that after a success.
type delays struct{ last time.Duration }

const (
	firstDelay = 100 * time.Millisecond
	lastDelay  = 30 * time.Second
)

// after returns the delay before the next attempt. The random part prevents that many
// processes try at the same time.
func (d *delays) after(err error) time.Duration {
	d.last = min(max(2*d.last, firstDelay), lastDelay)
	wait := d.last/2 + rand.N(d.last/2)
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) {
		wait = max(wait, unavailable.After)
	}
	return wait
}

// end ends a sequence of delays.
func (d *delays) end() { d.last = 0 }
