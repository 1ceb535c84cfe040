// Package sink writes the lines of package log to their destinations, and
// counts them exactly. At any instant, events emitted = written + dropped +
// waiting.
//
// [Direct] writes a line in the goroutine that logs:
//
//	out := sink.NewDirect(os.Stdout)
//	logger := log.New(out, log.Options{Namespace: "front-door"})
//
// [Queue] copies a line, and writes all lines that have arrived from its own
// goroutine. Use it for a busy service:
//
//	out := sink.NewQueue(os.Stdout, sink.QueueOptions{})
//	defer out.Close(ctx)
//
// When its writer is slower than its callers, the queue fills up to a limit.
// Its [Policy] then decides which lines to drop. The queue logs how many it
// dropped.
//
// A Queue writes to any writer: to a [File] that is rotated and reopened, to
// the result of [Std] for stdout, or to a [Fallback] that joins two. A [Tee] of
// several queues logs to several destinations, and none delays the others.
//
// No sink panics or exits, whatever its writer does. Lines that cannot be
// written are dropped and counted in [Stats], by reason and level.
package sink
