package onslog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	dprequest "github.com/ONSdigital/dp-net/v3/request"
	original "github.com/ONSdigital/log.go/v2/log"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	ours "github.com/weirhq/weir/log/onslog/v2"
)

// outputsV2 returns functions for the outputs of both packages, without the parts that differ between requests.
func outputsV2(t *testing.T) (them, us func() string) {
	var b1, b2 bytes.Buffer
	original.SetDestination(&b1, nil)
	ours.SetDestination(&b2, nil)
	original.Namespace, ours.Namespace = "front", "front"
	return timeless(lastOf(&b1)), timeless(lastOf(&b2))
}

var times = regexp.MustCompile(`"(created_at|started_at|ended_at|duration)":("[^"]*"|\d+)`)

func timeless(last func() string) func() string {
	return func() string { return times.ReplaceAllString(last(), `"$1":T`) }
}

// handlers are the ways in which services may write a response.
var handlers = map[string]http.HandlerFunc{
	"nothing": func(http.ResponseWriter, *http.Request) {},
	"body":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
	"status and body": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("hello"))
		_, _ = w.Write([]byte("world"))
	},
	"early hints": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = w.Write([]byte("hello"))
	},
	"flush": func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() },
	"hijack": func(w http.ResponseWriter, _ *http.Request) {
		if _, _, err := w.(http.Hijacker).Hijack(); err == nil {
			panic("a recorder cannot be hijacked")
		}
	},
}

func TestMiddlewareWritesTheSame(t *testing.T) {
	them, us := outputsV2(t)
	for name, h := range handlers {
		t.Run(name, func(t *testing.T) {
			req := httptest.NewRequest("GET", "http://www.example.org:20000/a%20b?<x>=1", nil)
			original.Middleware(dprequest.HandlerRequestID(16)(h)).ServeHTTP(httptest.NewRecorder(), req)
			ours.Middleware(dprequest.HandlerRequestID(16)(h)).ServeHTTP(httptest.NewRecorder(), req)
			want := them()
			if got := us(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.Count(want, "\n") != 2 {
				t.Errorf("the original wrote %q, not two events", want)
			}
		})
	}
	t.Run("no request", func(t *testing.T) {
		original.Middleware(handlers["body"]).ServeHTTP(nil, nil)
		ours.Middleware(handlers["body"]).ServeHTTP(nil, nil)
		if got, want := us(), them(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestRequestIDOfHelperIsFound checks that the value set by dp-net's middleware is found through derived contexts.
func TestRequestIDOfHelperIsFound(t *testing.T) {
	_, us := outputsV2(t)
	var ctx context.Context
	h := dprequest.HandlerRequestID(16)(http.HandlerFunc(func(_ http.ResponseWriter,
		req *http.Request) {
		ctx = req.Context()
	}))
	req := httptest.NewRequest("GET", "/", nil)
	req.Header.Set(dprequest.RequestHeaderKey, "kQmzRzXbTdWvPqLs")
	h.ServeHTTP(httptest.NewRecorder(), req)

	above, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), plainKey{}, 1))
	defer cancel()
	ours.Info(above, "event")
	if got := us(); !strings.Contains(got, `"trace_id":"kQmzRzXbTdWvPqLs"`) {
		t.Errorf("got %s, want the id of the header", got)
	}
}

// openTelemetry is the setup that the package comment describes.
var openTelemetry = ours.Tracing{
	TraceID: func(ctx context.Context) string {
		if id := trace.SpanContextFromContext(ctx).TraceID(); id.IsValid() {
			return id.String()
		}
		return ""
	},
	Extract: func(ctx context.Context, h http.Header) context.Context {
		return otel.GetTextMapPropagator().Extract(ctx, propagation.HeaderCarrier(h))
	},
}

func TestTracesAreTheSame(t *testing.T) {
	them, us := outputsV2(t)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	ours.SetTracing(openTelemetry)
	defer ours.SetTracing(ours.Tracing{})

	for _, traceparent := range []string{"", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-nonsense"} {
		req := httptest.NewRequest("GET", "/", nil)
		req.Header.Set("traceparent", traceparent)
		req = req.WithContext(dprequest.WithRequestId(req.Context(), "request"))
		original.Middleware(handlers["body"]).ServeHTTP(httptest.NewRecorder(), req)
		ours.Middleware(handlers["body"]).ServeHTTP(httptest.NewRecorder(), req)

		id, _ := trace.TraceIDFromHex("0102030405060708090a0b0c0d0e0f10")
		span := trace.ContextWithSpanContext(req.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id}))
		original.Info(span, "within a span")
		ours.Info(span, "within a span")
		if got, want := us(), them(); got != want {
			t.Errorf("traceparent %q: got\n%s\nwant\n%s", traceparent, got, want)
		}
	}
}

// TestStacksAreTheSame checks that the stack of an error starts at the same call and has the same length.
func TestStacksAreTheSame(t *testing.T) {
	var b1, b2 bytes.Buffer
	original.SetDestination(&b1, nil)
	ours.SetDestination(&b2, nil)
	err := errors.New("refused")
	var none context.Context
	both := func() { original.Error(none, "event", err); ours.Error(none, "event", err) }
	var deeper func(int)
	deeper = func(n int) {
		if n == 0 {
			both()
			return
		}
		deeper(n - 1)
	}
	for _, depth := range []int{0, 1, 20} {
		deeper(depth)
		want, got := framesOf(t, lastOf(&b1)()), framesOf(t, lastOf(&b2)())
		if len(got) != len(want) || !strings.HasSuffix(got[0].Function, ".Error") {
			t.Fatalf("depth %d: got %v\nwant %v", depth, got, want)
		}
		for i := 1; i < len(want); i++ { // the first is in the package itself
			if got[i] != want[i] {
				t.Errorf("depth %d, frame %d: got %v, want %v", depth, i, got[i], want[i])
			}
		}
	}
}

func framesOf(t *testing.T, line string) []original.EventStackTrace {
	t.Helper()
	var e struct {
		Errors []struct {
			StackTrace []original.EventStackTrace `json:"stack_trace"`
		}
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil || len(e.Errors) != 1 {
		t.Fatalf("%q: %v", line, err)
	}
	return e.Errors[0].StackTrace
}
