// Package log writes events as lines of JSON or LTSV. Events of fields do not
// allocate, and no value can break a line.
//
// Start with [New] and a method named after a level:
//
//	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
//	logger.Info("connecting to database").Str("host", h).Int("port", 5432).Send()
//	logger.Error("could not connect").Err(err).Send()
//
// The event is a constant sentence; variable data goes into fields.
// [Logger.With] encodes the common fields of several events once:
//
//	requestLog := logger.With().TraceID(id).Str("tenant", t).Logger()
//
// # Choices
//
//   - [Options.Format]: JSON by default; LTSV for access log tools, JSON in
//     shape v1 for consumers of ONSdigital/log.go 1.0, or the human format for
//     a terminal. docs/format.md specifies all four.
//   - [Options.Level], which a [LevelVar] can change at run time.
//   - [Options.Redact] for keys with secret values, and [Options.Sampling] for
//     events that may occur by the thousand.
//   - [Hold] for events that are written only if their work fails or turns out
//     to be slow; package httplog has a policy for requests.
//   - [Into] and [From] for a request's logger in its context, which package
//     httplog sets, and [SetDefault] for contexts without one.
//   - Package errs for errors with a stack and fields. Any other error is only
//     a message, unless [Event.Stack] adds a stack.
//   - [Logger.Handler] for code that logs with log/slog, [Capture] for code
//     that logs with package log of the standard library.
//   - Package sink to write in a separate goroutine and to count losses,
//     package logtest to check events in tests.
//
// # Guarantees
//
//   - One event is one line, passed to the writer in one call, and at most
//     [Options.MaxEventBytes] long. In a longer event the longest strings are
//     cut, and the last key, "truncated", lists them.
//   - The order of the keys does not depend on the order of the calls. A
//     caller's fields are in "data", so that they replace no key of the event.
//   - Control characters and bidirectional overrides are escaped, and invalid
//     UTF-8 becomes U+FFFD, in keys and in values. A parser returns the same
//     text.
//   - No argument can cause a panic, break the line or lose the event. A value
//     that cannot be encoded becomes the string "!ERROR: " and the reason.
//   - Redaction applies in every format, before anything is cut.
//   - Sampling never drops an event of level error or above, and counts the
//     events that it drops.
//   - A call on an event that has ended is ignored and changes no other event.
//   - An event below the logger's level costs a branch.
//
// # Allocations
//
// An event does not allocate, through a [Logger] or through log/slog, with
// redaction and when it is cut, in JSON and in LTSV. These allocate:
//
//   - [Into] and [Logger.With], once per context and per new Logger;
//   - [Event.Any] of a slice, map, struct, URL or json.Marshaler, but not of a
//     scalar, time, error or []byte, and the methods of the caller's own values
//     that allocate themselves;
//   - [Event.Err] of an error with fields, of a *url.Error, and of one with a
//     stack of github.com/pkg/errors or github.com/cockroachdb/errors;
//   - [Event.Stack] and [Event.Caller], for places in the code that were not
//     seen before;
//   - log/slog with groups, and with more than five attributes, which slog
//     itself keeps in a slice;
//   - the human format.
package log
