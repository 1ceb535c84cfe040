// Package sink takes the lines of package log to where they go and keeps exact
// count of them: at any instant, events emitted = written + dropped + waiting.
//
// [Direct] writes a line at once, in the goroutine that logs:
//
//	out := sink.NewDirect(os.Stdout)
//	logger := log.New(out, log.Options{Namespace: "front-door"})
//
// It neither panics nor exits, whatever the writer does. What could not be
// written is dropped and counted in [Stats], by reason and level.
package sink
