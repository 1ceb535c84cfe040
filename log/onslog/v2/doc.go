// Package log is github.com/ONSdigital/log.go/v2/log, version 2.5.2, written
// anew: a service changes the import path, and its events stay the same, byte for
// byte, at a fraction of the cost. A service with OpenTelemetry must also call
// [SetTracing], see below; without it, its trace ids change.
//
//   - import "github.com/ONSdigital/log.go/v2/log"
//   - import "github.com/weirhq/weir/log/onslog/v2"
//
// A line is what encoding/json makes of [EventData], "<", ">" and "&" escaped,
// keys of Data in order. The trace id is the request id that dp-net's request
// package puts into a context, found without importing it. The first context
// with an id may be of any type that keeps the context it was made from, or an
// *http.Request, in a field; after it, any context will do. As with the
// original, to import this package is to have what the standard library's log
// writes come out as events, and HUMAN_LOG=1 makes all of them indented JSON,
// in colours on a terminal.
//
// The original takes trace ids from OpenTelemetry. This package does not import
// it; a service that has it calls [SetTracing] when it starts:
//
//	log.SetTracing(log.Tracing{
//		TraceID: func(ctx context.Context) string {
//			if id := trace.SpanContextFromContext(ctx).TraceID(); id.IsValid() {
//				return id.String()
//			}
//			return ""
//		},
//		Extract: func(ctx context.Context, h http.Header) context.Context {
//			return otel.GetTextMapPropagator().Extract(ctx, propagation.HeaderCarrier(h))
//		},
//	})
//
// Stacks that pass through this package name its functions and files where the
// original has its own.
//
// It stands in for the original; it does not mend it. Control characters that
// JSON does not escape, DEL and those from U+0080 to U+009F, reach the line and
// the terminal that shows it, and a line has no greatest length. Package log of
// this module does better, and new code wants that one.
//
// What differs otherwise, all of it where the original panics, stops or loses
// something:
//
//   - An option that is nil, and an error that is a nil pointer but has a message
//     do not panic.
//   - A line that the destination took a part of is ended before the next one,
//     so that no event is glued to a fragment.
//   - When neither the destination nor its fallback takes a line, the process
//     goes on, where the original exits with 1 and no word of why: a full disk
//     is no reason for a service to stop. The first line that is taken again is
//     followed by a warning, "log lines lost", with the number in "lines".
//   - The checks of options that the original has for tests are not there: they
//     have been off since Go 1.13, which sets the flag that they look for later
//     than they look.
//   - A type of a caller's own that embeds Data or another option is no option:
//     another event says that it was ignored.
package log
