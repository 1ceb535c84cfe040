// Package log is a rewrite of github.com/ONSdigital/log.go/v2/log, version 2.5.2.
// A service changes only the import path; its events stay the same, byte for
// byte, at a fraction of the cost. A service with OpenTelemetry must also call
// [SetTracing] (see below); without it, its trace ids change.
//
//   - import "github.com/ONSdigital/log.go/v2/log"
//   - import "github.com/weirhq/weir/log/onslog/v2"
//
// A line is the encoding/json form of [EventData], with "<", ">" and "&" escaped
// and the keys of Data sorted. The trace id is the request id that the request
// package of dp-net stores in a context. This package finds it without importing
// dp-net: the first context with an id must keep its parent, or an
// *http.Request, in a field; after that, any context works. As with the
// original, importing the package turns the output of the standard library's log
// into events, and HUMAN_LOG=1 writes all events as indented JSON, in colour on
// a terminal.
//
// The original takes trace ids from OpenTelemetry. This package does not import
// OpenTelemetry; a service that uses it calls [SetTracing] when it starts:
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
// Stack frames in this package have its own function and file names instead of
// the original's.
//
// The package replaces the original; it does not fix its weaknesses. Control
// characters that JSON does not escape (DEL, U+0080 to U+009F) are written to
// the line and can reach a terminal, and the length of a line is not limited.
// New code should use package log of this module, which has neither weakness.
//
// Otherwise, the package differs from the original only where the original
// panics, stops the process or loses something:
//
//   - A nil option, and an error that is a nil pointer with a working Error
//     method, do not panic.
//   - If the destination writes only part of a line, the fragment is ended with
//     a newline before the next line, so that no event is joined to a fragment.
//   - If the destination and its fallback both reject a line, the process
//     continues; a full disk should not stop a service. The original exits with
//     1 without a message. The warning "log lines lost", with the number in
//     "lines", follows the next line that is written.
//   - The original's checks of options, meant for tests, are left out. They have
//     had no effect since Go 1.13, which registers the test flag that they look
//     for later than before.
//   - A caller's type that embeds Data or another option is not an option. It is
//     ignored, and an additional event reports this.
package log
