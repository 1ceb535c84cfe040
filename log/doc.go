// Package log writes events as lines of JSON, without allocating and without
// letting anything in an event break its line.
//
// Start with [New] and one of the methods named after a level:
//
//	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
//	logger.Info("connecting to database").Str("host", h).Int("port", 5432).Send()
//	logger.Error("could not connect").Err(err).Send()
//
// The event is a constant, human sentence; what varies goes into fields. What
// several events share is encoded once, by [Logger.With]:
//
//	requestLog := logger.With().TraceID(id).Str("tenant", t).Logger()
//
// What is promised:
//
//   - One event is one line, handed to the writer in one call, at most
//     [Options.MaxEventBytes] long. A longer one has its longest strings cut
//     and says so in its last key, "truncated".
//   - Keys stand in one order, whatever the order of the calls, and a caller's
//     fields live in "data", so that they shadow nothing.
//   - No control character, bidirectional override or invalid UTF-8 reaches
//     the line raw, be it in a key or a value. A parser sees the same text.
//   - Nothing a caller passes can panic, break the line or lose the event: a
//     value that cannot be encoded becomes the string "!ERROR: " and the reason.
//   - Nothing but [Event.Any] and the stacks of errors allocates; an event below
//     the logger's level costs a branch.
package log
