package httplog_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

// TestMiddlewareAllocatesTheExpectedNumber counts the allocations of the middleware per request: the
// exchange, the logger and its encoded trace id, two contexts, the handler's
// request, and a new trace id if the request has none. They are not pooled,
// because a handler may pass them to goroutines that outlive it.
func TestMiddlewareAllocatesTheExpectedNumber(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	file, hello := strings.NewReader(""), []byte("hello")
	handlers := map[string]http.HandlerFunc{
		"empty": func(http.ResponseWriter, *http.Request) {},
		"bytes": func(w http.ResponseWriter, _ *http.Request) { w.Write(hello) },
		"text":  func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") },
		"read from": func(w http.ResponseWriter, _ *http.Request) {
			file.Reset("hello")
			w.(io.ReaderFrom).ReadFrom(file)
		},
		"events": func(_ http.ResponseWriter, r *http.Request) {
			log.From(r.Context()).Info("one").Send()
			log.From(r.Context()).Info("two").Send()
		},
		"flush": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); w.(http.Flusher).Flush() },
	}
	for name, h := range handlers {
		for _, c := range []struct {
			id   string
			want float64
		}{{"abc", 6}, {"", 7}} {
			r := newRequest(t)
			if c.id != "" {
				r.Header.Set("X-Request-Id", c.id)
			}
			for kept, o := range map[string]httplog.Options{"all": {}, "keep": {Keep: &httplog.Keep{Share: 0.5}}} {
				wrapped := httplog.Middleware(newLogger(io.Discard), o)(h)
				w := &fullWriter{header: http.Header{}}
				if got := testing.AllocsPerRun(200, func() { wrapped.ServeHTTP(w, r) }); got != c.want {
					t.Errorf("%s, %s, id %q: %v allocations, want %v", kept, name, c.id, got, c.want)
				}
			}
		}
	}
}

// A fullWriter has the optional interfaces of net/http's writer for HTTP/1. It
// allocates nothing.
type fullWriter struct{ header http.Header }

func (w *fullWriter) Header() http.Header                 { return w.header }
func (w *fullWriter) Write(p []byte) (int, error)         { return len(p), nil }
func (w *fullWriter) WriteString(s string) (int, error)   { return len(s), nil }
func (w *fullWriter) WriteHeader(int)                     {}
func (w *fullWriter) Flush()                              {}
func (w *fullWriter) ReadFrom(r io.Reader) (int64, error) { return 5, nil }
func (w *fullWriter) CloseNotify() <-chan bool            { return nil }

func (w *fullWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }

func BenchmarkMiddleware(b *testing.B) {
	r := newRequest(b)
	r.Header.Set("X-Request-Id", "abcdefghijklmnop")
	w := &fullWriter{header: http.Header{}}
	for name, o := range map[string]httplog.Options{
		"all": {}, "completed": completedOnly,
		"keep": {Keep: new(httplog.Keep)}, "keep, completed": {Events: httplog.EventsCompleted, Keep: new(httplog.Keep)},
	} {
		wrapped := httplog.Middleware(newLogger(io.Discard), o)(
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				log.From(r.Context()).Info("an order was found").Str("order", "4711").Send()
				io.WriteString(w, "hello")
			}))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				wrapped.ServeHTTP(w, r)
			}
		})
	}
}
