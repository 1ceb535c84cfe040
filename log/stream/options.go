package stream

import (
	"cmp"
	"time"

	"github.com/weirhq/weir/log/internal/spool"
	"github.com/weirhq/weir/log/sink"
)

// Options are the settings of a [Sink]. The zero value is ready for use: lines wait in
// memory.
type Options struct {
	// Queue has the settings of the queue in memory. Its Batch is not used.
	Queue sink.QueueOptions

	// Batch is the maximum size, in bytes, of the lines that are delivered together, apart
	// from longer lines. Without Spill, it is at most an eighth of the queue. Zero means
	// DefaultBatch.
	Batch int

	// Linger is the time that a line waits for others, so that they are delivered together.
	// Each delivery wakes threads on both sides, which costs more than some hundred lines. The
	// queue waits that long if it is longer than Queue.Linger. With Spill, lines wait on the
	// disk instead, after Queue.Linger.
	Linger time.Duration

	// Spill keeps lines on a disk until they are delivered.
	Spill Spill
}

// DefaultBatch is the default of Options.Batch.
const DefaultBatch = 256 << 10

// queue returns the options of the queue.
func (o *Options) queue() sink.QueueOptions {
	q := o.Queue
	q.Batch = 0
	if o.Spill.Folder == "" {
		q.Batch = cmp.Or(o.Batch, DefaultBatch)
		q.Linger = max(q.Linger, o.Linger)
	}
	return q
}

// A Spill keeps the lines of a [Sink] in files until they are delivered, so that they outlive
// the process: a Sink with the same folder delivers the lines of processes that have ended,
// with the same ids. Sinks of several processes may share a folder at the same time, but only
// sinks with the same server.
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

	// OnError is called with errors that do not lose an event, such as errors of lines
	// that other processes have left and that cannot be read. It may be nil.
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
