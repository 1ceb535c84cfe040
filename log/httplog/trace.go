package httplog

import (
	"context"
	"net/http"

	"github.com/weirhq/weir/log/traceid"
)

// TraceID returns the trace id of the request that ctx belongs to, so that a
// handler can send it to others as X-Request-Id. It is empty if ctx does not
// come from [Middleware].
//
// The id is the trace-id of a valid traceparent (W3C Trace Context, version 00); else an X-Request-Id of up to 128
// visible ASCII characters without quotes, commas and backslashes; else 16 random letters. If a front door has made the
// traceparent of the X-Request-Id, the id is the latter, as in the events of that door. A header that occurs twice is
// invalid. A trace id that log.Options.Context finds in the request's context takes precedence over all of these.
func TraceID(ctx context.Context) string {
	if c, ok := ctx.Value(traceKey{}).(*traceContext); ok {
		return c.id
	}
	return ""
}

type traceKey struct{}

// A traceContext is a context with a trace id. It needs one allocation;
// context.WithValue needs two for a string.
type traceContext struct {
	context.Context
	id string
}

// Value implements context.Context.
func (c *traceContext) Value(key any) any {
	if key == (traceKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// traceID returns the trace id of a request, or a new one. TraceID documents
// the rule, which package front follows too.
func traceID(header http.Header) string {
	if id := traceid.Of(only(header, "Traceparent"), only(header, "X-Request-Id")); id != "" {
		return id
	}
	return newTraceID()
}

// only returns the value of a header that occurs exactly once, else "". name is
// in canonical form.
func only(header http.Header, name string) string {
	if values := header[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

func newTraceID() string {
	var scratch [traceid.Length]byte
	return string(traceid.AppendNew(scratch[:0]))
}
