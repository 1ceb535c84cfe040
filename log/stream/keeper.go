package stream

import (
	"errors"
	"time"

	"github.com/weirhq/weir/log/sink"
)

// diskPause is the time between two attempts to write to a full disk.
const diskPause = 100 * time.Millisecond

// A keeper stores the lines that a queue writes. It belongs to the queue's goroutine.
type keeper struct {
	forwarder *forwarder
	direct    writer // delivers lines that cannot be stored
	retries   bool   // direct has to deliver the next lines, which the server may have stored already
}

// Write stores p, which is whole lines: all of it or, after an error, nothing.
func (k *keeper) Write(p []byte) (int, error) {
	store := k.forwarder.store
	if !k.retries {
		err := store.Append(p, countLines(p), time.Now())
		if err == nil {
			return len(p), nil
		}
		if !store.IsEmpty() {
			return 0, &sink.RetryError{After: diskPause, Err: err}
		}
	}
	n, err := k.direct.Write(p)
	k.retries = n == 0
	if n > 0 {
		lost := 0
		var rejected *sink.RejectedError
		if errors.As(err, &rejected) {
			lost = rejected.Lines
		}
		k.forwarder.count(countLines(p)-lost, len(p))
	}
	return n, err
}
