package otlpsink

import (
	"encoding/hex"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/weirhq/weir/log/stream"
)

// convertSpans returns the spans of lines, and the attributes of their resource.
func convertSpans(t *testing.T, lines ...string) (found []*tracepb.Span, resource map[string]any) {
	t.Helper()
	e := encoder{signal: &spans, now: time.Now, host: hostName}
	b := stream.Batch{Lines: []byte(strings.Join(lines, "\n") + "\n"), Count: len(lines)}
	// An ExportTraceServiceRequest has the same fields as a TracesData.
	var data tracepb.TracesData
	if err := proto.Unmarshal(e.request(b), &data); err != nil {
		t.Fatal(err)
	}
	for _, r := range data.ResourceSpans {
		resource = attributesOf(t, r.Resource.Attributes)
		for _, s := range r.ScopeSpans {
			if s.Scope.Name != spans.scope {
				t.Errorf("the scope is %q", s.Scope.Name)
			}
			found = append(found, s.Spans...)
		}
	}
	if len(found) != len(lines) {
		t.Fatalf("%d spans of %d lines", len(found), len(lines))
	}
	return found, resource
}

const (
	spanTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID    = "00f067aa0ba902b7"
)

func TestEventBecomesSpan(t *testing.T) {
	t.Parallel()
	found, resource := convertSpans(t, `{"created_at":"2026-11-21T09:30:16Z","namespace":"front-door","event":"GET /{topic}",`+
		`"trace_id":"`+spanTrace+`","span_id":"`+spanID+`","severity":1,"http":{"status_code":502,"method":"GET",`+
		`"started_at":"2026-11-21T09:30:15.12Z","ended_at":"2026-11-21T09:30:15.125Z","duration":5000000,"route":"GET /{topic}",`+
		`"protocol":"HTTP/2.0"},"data":{"parent_span_id":"b7ad6b7169203331","span_kind":"server","error.type":"refused",`+
		`"proxy_name":"site"},"errors":[{"message":"connection refused","data":{"step":"connecting"}}]}`)
	s := found[0]
	began := uint64(time.Date(2026, 11, 21, 9, 30, 15, 120e6, time.UTC).UnixNano())
	if s.Name != "GET /{topic}" || hex.EncodeToString(s.TraceId) != spanTrace || hex.EncodeToString(s.SpanId) != spanID ||
		hex.EncodeToString(s.ParentSpanId) != "b7ad6b7169203331" || s.Kind != tracepb.Span_SPAN_KIND_SERVER ||
		s.StartTimeUnixNano != began || s.EndTimeUnixNano != began+5e6 || s.Flags != 0x301 {
		t.Errorf("the span is %v", s)
	}
	if s.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR || s.Status.GetMessage() != "connection refused" {
		t.Errorf("its status is %v", s.Status)
	}
	want := map[string]any{"http.response.status_code": int64(502), "http.request.method": "GET", "http.route": "GET /{topic}",
		"network.protocol.name": "http", "network.protocol.version": "2", "error.type": "refused", "proxy_name": "site"}
	if got := attributesOf(t, s.Attributes); !reflect.DeepEqual(got, want) {
		t.Errorf("the attributes are %v, want %v", got, want)
	}
	if resource[attrServiceName] != "front-door" || resource[attrHostName] != hostName {
		t.Errorf("the resource is %v", resource)
	}
}

func TestSpanWithoutParentAndError(t *testing.T) {
	t.Parallel()
	found, _ := convertSpans(t, `{"created_at":"2026-11-21T09:30:16Z","event":"GET","trace_id":"kQmzRzXbAbCdEfGh","span_id":"`+
		spanID+`","data":{"span_kind":"client","parent_span_id":""}}`, `{"event":"x","data":{"parent_span_id":"none"}}`,
		`no event`, `{}`)
	s := found[0]
	if len(s.ParentSpanId) != 0 || s.Kind != tracepb.Span_SPAN_KIND_CLIENT || s.Status.GetCode() != 0 || s.Flags != 0x101 ||
		s.StartTimeUnixNano != s.EndTimeUnixNano || s.StartTimeUnixNano == 0 {
		t.Errorf("the span is %v", s)
	}
	if got := attributesOf(t, s.Attributes)["weir.trace_id"]; got != "kQmzRzXbAbCdEfGh" {
		t.Errorf("weir.trace_id is %v", got)
	}
	if got := attributesOf(t, found[1].Attributes)["weir.parent_span_id"]; got != "none" {
		t.Errorf("weir.parent_span_id is %v", got)
	}
	if found[2].Name != "no event" {
		t.Errorf("a line that is no event became %v", found[2])
	}
}

// TestSpansHaveTheirPath sends spans to a server at a URL with a path.
func TestSpansHaveTheirPath(t *testing.T) {
	t.Parallel()
	paths := make(chan string, 1)
	s := startServer(t, nil)
	s.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths <- r.URL.Path })
	to, err := NewSpans("otlp+" + s.URL + "/otlp/")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := to.Deliver(t.Context(), stream.Batch{Lines: []byte("{}\n"), Count: 1}); err != nil {
		t.Fatal(err)
	}
	if got := <-paths; got != "/otlp/v1/traces" {
		t.Errorf("the path is %s", got)
	}
}
