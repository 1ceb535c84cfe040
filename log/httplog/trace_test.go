package httplog_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/weirhq/weir/log/httplog"
)

// traceIDOf returns the trace id of a request with these headers.
func traceIDOf(t *testing.T, header http.Header) string {
	t.Helper()
	var id string
	h := httplog.Middleware(nil, httplog.Options{})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		id = httplog.TraceID(r.Context())
	}))
	r := newRequest(t)
	r.Header = header
	h.ServeHTTP(httptest.NewRecorder(), r)
	return id
}

var newID = regexp.MustCompile(`^[a-zA-Z]{16}$`)

func TestTraceIDComesFromHeaderOrIsNew(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	const parent = "00-" + trace + "-00f067aa0ba902b7-01"
	const generated = "(new)"
	for _, c := range []struct {
		header http.Header
		want   string
	}{
		{http.Header{}, generated},
		{http.Header{"X-Request-Id": {"abc-123"}}, "abc-123"},
		{http.Header{"Traceparent": {parent}}, trace},
		{http.Header{"Traceparent": {parent}, "X-Request-Id": {"abc"}}, trace},
		{http.Header{"Traceparent": {"00-6162636465666768696a6b6c6d6e6f70" + parent[35:]},
			"X-Request-Id": {"abcdefghijklmnop"}}, "abcdefghijklmnop"},
		{http.Header{"Traceparent": {parent, parent}, "X-Request-Id": {"abc"}}, "abc"},
		{http.Header{"X-Request-Id": {"abc", "abc"}}, generated},
		{http.Header{"X-Request-Id": {""}}, generated},
		{http.Header{"X-Request-Id": {strings.Repeat("a", 128)}}, strings.Repeat("a", 128)},
		{http.Header{"X-Request-Id": {strings.Repeat("a", 129)}}, generated},
		{http.Header{"X-Request-Id": {"a b"}}, generated},
		{http.Header{"X-Request-Id": {"a\tb"}}, generated},
		{http.Header{"X-Request-Id": {"a\x7fb"}}, generated},
		{http.Header{"X-Request-Id": {"a\u00e9b"}}, generated},
		{http.Header{"X-Request-Id": {`a"b`}}, generated},
		{http.Header{"X-Request-Id": {`a\b`}}, generated},
		{http.Header{"X-Request-Id": {"a,b"}}, generated},
		{http.Header{"X-Request-Id": {"a'b"}}, generated},
		{http.Header{"Traceparent": {"01" + parent[2:]}}, trace},
		{http.Header{"Traceparent": {"ff" + parent[2:]}}, generated},
		{http.Header{"Traceparent": {parent + "-more"}}, generated},
		{http.Header{"Traceparent": {strings.ToUpper(parent)}}, generated},
		{http.Header{"Traceparent": {strings.Replace(parent, "-", "_", 1)}}, generated},
		{http.Header{"Traceparent": {"00-" + strings.Repeat("0", 32) + parent[35:]}}, generated},
		{http.Header{"Traceparent": {parent[:36] + strings.Repeat("0", 16) + "-01"}}, generated},
	} {
		got := traceIDOf(t, c.header)
		if c.want == generated && !newID.MatchString(got) || c.want != generated && got != c.want {
			t.Errorf("%v: got %q, want %q", c.header, got, c.want)
		}
	}
}

func TestNewTraceIDsDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		id := traceIDOf(t, http.Header{})
		if seen[id] {
			t.Fatalf("%s came twice", id)
		}
		seen[id] = true
	}
}

func TestOtherContextHasNoTraceID(t *testing.T) {
	if got := httplog.TraceID(context.Background()); got != "" {
		t.Errorf("got %q, want none", got)
	}
}
