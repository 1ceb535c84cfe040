package otellog_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
	"github.com/weirhq/weir/log/otellog"
)

const (
	serverIDs = `"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7"`
	childIDs  = `"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"0000000000000001"`
)

// inSpan returns a context with a span of the trace in serverIDs.
func inSpan(ctx context.Context, id trace.SpanID) context.Context {
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e,
			0x47, 0x36},
		SpanID: id,
	}))
}

var (
	serverSpan = trace.SpanID{0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7}
	childSpan  = trace.SpanID{7: 1}
)

// TestEventsHaveTheIDsOfSpans logs in each way listed in the package comment, in a request
// whose header has another id.
func TestEventsHaveTheIDsOfSpans(t *testing.T) {
	var out bytes.Buffer
	logger := log.New(&out, log.Options{Namespace: "shop", Context: otellog.Context})
	std := slog.New(logger.Handler())
	h := httplog.Middleware(logger, httplog.Options{})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		std.InfoContext(r.Context(), "by slog")
		log.From(r.Context()).Info("by log").Send()
		if got := httplog.TraceID(r.Context()); !strings.Contains(serverIDs, got) {
			t.Errorf("httplog.TraceID returned %q, want that of %s", got, serverIDs)
		}
		child := inSpan(r.Context(), childSpan)
		std.InfoContext(child, "by slog in a child span")
		log.From(child).Info("by log in a child span").Context(child).Send()
	}))
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-Request-Id", "from-header")
	h.ServeHTTP(httptest.NewRecorder(), r.WithContext(inSpan(r.Context(), serverSpan)))
	checkIDs(t, out.String(), []string{serverIDs, serverIDs, serverIDs, childIDs, childIDs, serverIDs})
}

func TestEventsWithoutSpanKeepTheirIDs(t *testing.T) {
	var out bytes.Buffer
	logger := log.New(&out, log.Options{Context: otellog.Context})
	h := httplog.Middleware(logger, httplog.Options{})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		slog.New(logger.Handler()).InfoContext(r.Context(), "by slog")
		slog.New(logger.Handler()).InfoContext(inSpan(r.Context(), trace.SpanID{}), "in a span without an id")
	}))
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-Request-Id", "from-header")
	h.ServeHTTP(httptest.NewRecorder(), r)
	const own = `"trace_id":"from-header","severity"`
	checkIDs(t, out.String(), []string{own, own, own, own})
}

// checkIDs checks that each line has the ids.
func checkIDs(t *testing.T, out string, want []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != len(want) {
		t.Fatalf("got %d lines, want %d:\n%s", len(lines), len(want), out)
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("line %d: got %s, want %s in it", i+1, line, want[i])
		}
	}
}

func TestContextAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	logger := log.New(io.Discard, log.Options{Context: otellog.Context})
	std := slog.New(logger.Handler())
	ctx := inSpan(context.Background(), serverSpan)
	for name, run := range map[string]func(){
		"log":  func() { logger.Info("event").Context(ctx).Send() },
		"slog": func() { std.InfoContext(ctx, "event") },
	} {
		if got := testing.AllocsPerRun(200, run); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
}
