// Package sink takes the lines of package log to where they go and keeps exact
// count of them: at any instant, events emitted = written + dropped + waiting.
//
// [Direct] writes a line at once, in the goroutine that logs:
//
//	out := sink.NewDirect(os.Stdout)
//	logger := log.New(out, log.Options{Namespace: "front-door"})
//
// [Queue] costs its callers a copy and writes from a goroutine of its own,
// whatever has arrived in one write; it is what a busy service wants:
//
//	out := sink.NewQueue(os.Stdout, sink.QueueOptions{})
//	defer out.Close(ctx)
//
// When its writer is slower than its callers the queue fills, to a bound; its
// [Policy] says who gives way. What it lost, it says in the log.
//
// Under a Queue stands whatever writes: a [File] that is rotated and reopened,
// what [Std] makes of stdout, a [Fallback] of both. A [Tee] of several queues
// logs to several places, of which none holds up the others.
//
// None of them panics or exits, whatever the writer does. What could not be
// written is dropped and counted in [Stats], by reason and level.
package sink
