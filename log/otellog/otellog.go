// Package otellog adds the trace id and span id of the current OpenTelemetry
// span to events:
//
//	logger := log.New(os.Stdout, log.Options{Namespace: "shop", Context: otellog.Context})
//	slog.SetDefault(slog.New(logger.Handler()))
//	handler := otelhttp.NewHandler(httplog.Middleware(logger, httplog.Options{})(mux), "shop")
//
// The option applies to each way to log with a context:
//
//   - slog.InfoContext(ctx, …), through log.Logger.Handler.
//   - log/httplog: its two events, the logger that handlers get from log.From,
//     and httplog.TraceID. The middleware that starts the span, here otelhttp,
//     must be outside of httplog.
//   - logger.Info("…").Context(ctx).Send(). A logger from log.From has the ids
//     of the span in which httplog was called. Context(ctx) replaces them with the ids
//     of a span that a handler has started since.
//
// Outside a span, an event keeps the trace id that it has without
// OpenTelemetry, such as the X-Request-Id of the request. Services that log
// through log/onslog call its function SetTracing instead of this package.
//
// It is a module of its own, so that package log does not depend on
// OpenTelemetry.
package otellog

import (
	"context"
	"encoding/hex"

	"go.opentelemetry.io/otel/trace"

	"github.com/weirhq/weir/log"
)

// Context adds the trace id and the span id of the current span to the event,
// and replaces earlier ones. Without a valid span it changes nothing. Use it as
// [log.Options].Context. It does not allocate.
func Context(ctx context.Context, e log.Event) {
	span := trace.SpanContextFromContext(ctx)
	if !span.IsValid() {
		return
	}
	traceID, spanID := span.TraceID(), span.SpanID()
	// The String methods of the ids allocate.
	var digits [2 * len(traceID)]byte
	hex.Encode(digits[:], traceID[:])
	e.TraceID(string(digits[:]))
	hex.Encode(digits[:2*len(spanID)], spanID[:])
	e.SpanID(string(digits[:2*len(spanID)]))
}
