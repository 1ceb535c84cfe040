package stream

import (
	"errors"
	"time"

	"github.com/weirhq/weir/log/internal/spool"
	"github.com/weirhq/weir/log/sink"
)

// A Spill keeps the lines of a [Sink] in files until they are delivered, so that they outlive
// the process: a Sink with the same folder delivers the lines of processes that have ended,
// with the same ids. Sinks of several processes may share a folder at the same time, but only
// those with the same server.
//
// The queue's goroutine writes the lines, as it would write them to a log file. Lines that are
// still in the queue are lost if the process is killed. Files are not synced: lines may be
// lost if the machine fails.
//
// If the disk is full, or fails, the lines wait in the queue, whose policy then applies. The
// same happens when the files have reached Bytes. If no line is left on the disk, the lines
// are delivered directly, as without a Spill.
type Spill struct {
	Folder string        // is made if necessary; empty means no Spill
	Bytes  int64         // maximum size of all files; zero means DefaultSpillBytes
	Age    time.Duration // older lines are dropped as [sink.Expired]; zero means no limit

	// OnError is called with errors that do not lose an event, such as those of lines that
	// other processes have left and that cannot be read. It may be nil.
	OnError func(error)
}

// DefaultSpillBytes is the default of Spill.Bytes.
const DefaultSpillBytes = 1 << 30

func (s *Spill) options() spool.Options {
	o := spool.Options{Bytes: s.Bytes, Age: s.Age}
	if o.Bytes <= 0 {
		o.Bytes = DefaultSpillBytes
	}
	return o
}

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
