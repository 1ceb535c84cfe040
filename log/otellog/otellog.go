// Package otellog gives events the trace id and the span id of the current span
// of OpenTelemetry:
//
//	logger := log.New(os.Stdout, log.Options{Namespace: "shop", Context: otellog.Context})
//	slog.SetDefault(slog.New(logger.Handler()))
//	handler := otelhttp.NewHandler(httplog.Middleware(logger, httplog.Options{})(mux), "shop")
//
// The option serves each way to log with a context:
//
//   - slog.InfoContext(ctx, …), through log.Logger.Handler.
//   - log/httplog: its two events, the logger that handlers find by log.From, and
//     httplog.TraceID. The middleware that starts the span, here otelhttp, must be
//     outside of httplog.
//   - logger.Info("…").Context(ctx).Send(). A logger of log.From has the ids of the
//     span in which httplog was called; Context(ctx) replaces them with those of a
//     span that a handler has started since.
//
// Outside of a span, an event keeps the trace id that it has without OpenTelemetry,
// such as the X-Request-Id of the request. Services that log through
// log/onslog call its function SetTracing in place of this package.
//
// It is a module of its own, so that package log does not depend on OpenTelemetry.
package otellog

import (
	"context"
	"encoding/hex"

	"go.opentelemetry.io/otel/trace"

	"github.com/weirhq/weir/log"
)

// Context adds the trace id and the span id of the current span to the event, in
// place of the ones before. Outside of a valid span it changes nothing. It is
// meant for [log.Options]. It allocates nothing.
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
