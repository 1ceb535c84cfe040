// Package log writes events as lines of JSON or LTSV, without allocating and
// without letting anything in an event break its line.
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
// # What to choose
//
//   - [Options.Format]: JSON, unless tools for access logs are to read it
//     (LTSV), consumers of ONSdigital/log.go 1.0 (JSON in shape v1) or a person
//     at a terminal. docs/format.md is the contract of all four.
//   - [Options.Level], which a [LevelVar] changes while the program runs.
//   - [Options.Redact] for keys whose values nobody may read in a log, and
//     [Options.Sampling] for events that may come by the thousand.
//   - [Into] and [From] for a request's logger in its context, which package
//     httplog puts there, and [SetDefault] for contexts without one.
//   - Package errs for errors that know their stack and their fields: without
//     it, an error is a message, unless [Event.Stack] is asked for more.
//   - [Logger.Handler] for code that logs with log/slog, [Capture] for code that
//     logs with package log of the standard library.
//   - Package sink to write from a goroutine of its own and to count what was
//     lost, package logtest to look at events in tests.
//
// # What is promised
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
//   - What was to be redacted is so in each form, before anything is cut.
//   - An event of level error or above is never left out for coming too often,
//     and what is left out is counted.
//   - A call on an event that has ended is ignored and changes no other event.
//   - An event allocates nothing, but for [Event.Any], places in the code that
//     were not seen before, and the form for people; one below the logger's
//     level costs a branch.
package log
