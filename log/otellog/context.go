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
