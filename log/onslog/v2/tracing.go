package log

import (
	"context"
	"net/http"
	"sync/atomic"
)

// requestID is the key request.RequestIdKey of dp-net, in the version that the
// original imports.
var requestID = contextKey{
	Path: "github.com/ONSdigital/dp-net/v3/request",
	Type: "ContextKey",
	Key:  "request-id",
}

// Tracing connects this package to a tracing library. The package comment has
// the functions for OpenTelemetry, which the original imports. A nil field is
// ignored.
type Tracing struct {
	// TraceID returns the trace id of a context, or "" if it has none. It
	// takes precedence over the request id. The context is never nil.
	TraceID func(context.Context) string

	// Extract returns a context with the trace that the headers of a request
	// name. Middleware uses it for its own events.
	Extract func(context.Context, http.Header) context.Context
}

var tracing atomic.Pointer[Tracing]

// SetTracing sets the source of trace ids. A service calls it when it starts.
// Several goroutines may call the functions in t at the same time.
//
// It is the only function that the original does not have.
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
