package log

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/weirhq/weir/log/onslog/internal/wire"
)

// requestID is dp-net's request.RequestIdKey, in the version that the original
// uses.
var requestID = wire.ContextKey{
	Path: "github.com/ONSdigital/dp-net/v3/request",
	Type: "ContextKey",
	Key:  "request-id",
}

// Tracing is what this package asks of a library for tracing. The package
// comment has the functions that make it OpenTelemetry, as the original has it
// built in. A field that is nil is not asked.
type Tracing struct {
	// TraceID returns the id of the trace that a context belongs to, or "".
	// It wins over the request id. The context is never nil.
	TraceID func(context.Context) string

	// Extract returns a context that belongs to the trace that the headers
	// of a request name. Middleware uses it for its own events.
	Extract func(context.Context, http.Header) context.Context
}

var tracing atomic.Pointer[Tracing]

// SetTracing sets where trace ids come from. It is for a service to call when
// it starts; the functions are called by many goroutines at once.
//
// It is the one function that the original does not have.
func SetTracing(t Tracing) { tracing.Store(&t) }

func traceID(ctx context.Context) string {
	if ctx == nil {
		return ""
	}
	if t := tracing.Load(); t != nil && t.TraceID != nil {
		if id := t.TraceID(ctx); id != "" {
			return id
		}
	}
	id := requestID.Value(ctx)
	if id == nil {
		id = ctx.Value("request-id")
	}
	s, _ := id.(string)
	return s
}

// extract returns the context for the events about a request.
func extract(req *http.Request) context.Context {
	if t := tracing.Load(); t != nil && t.Extract != nil {
		return t.Extract(req.Context(), req.Header)
	}
	return req.Context()
}
