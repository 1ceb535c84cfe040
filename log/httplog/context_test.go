package httplog_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

type spanKey struct{}

// TestSlogHasTheTraceID logs through the default slog logger inside the
// middleware. Its handler was created before the request.
func TestSlogHasTheTraceID(t *testing.T) {
	for name, c := range map[string]struct {
		hook func(context.Context, log.Event)
		span string
		want string
	}{
		"of the header":                   {nil, "", "from-header"},
		"of the header, outside of spans": {addSpan, "", "from-header"},
		"of a span":                       {addSpan, "from-span", "from-span"},
	} {
		t.Run(name, func(t *testing.T) {
			j := &journal{t, make(chan event, 100)}
			logger := log.New(j, log.Options{Namespace: "test", Context: c.hook})
			std := slog.New(logger.Handler())
			inner := httplog.Middleware(logger, httplog.Options{})(
				http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					std.InfoContext(r.Context(), "by slog")
					log.From(r.Context()).Info("by log").Send()
					if got := httplog.TraceID(r.Context()); got != c.want {
						t.Errorf("TraceID returned %q, want %q", got, c.want)
					}
				}))
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), spanKey{}, c.span)))
			}))
			defer s.Close()
			r, err := http.NewRequest("GET", s.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Request-Id", "from-header")
			resp, err := s.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			for _, name := range []string{"http request received", "by slog", "by log", "http request completed"} {
				if e := j.next(name); e.TraceID != c.want {
					t.Errorf("%s: trace id %q, want %q", name, e.TraceID, c.want)
				}
			}
		})
	}
}

// addSpan is used as log.Options.Context.
func addSpan(ctx context.Context, e log.Event) {
	span, _ := ctx.Value(spanKey{}).(string)
	e.TraceID(span)
}
