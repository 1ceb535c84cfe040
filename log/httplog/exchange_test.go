package httplog_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log/httplog"
)

func TestFailuresAreLogged(t *testing.T) {
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		failure  string
		status   int
		cut      bool
		severity int
		message  string // of the error
	}{
		"panic": {func(http.ResponseWriter, *http.Request) { panic("why") }, "panic", 500, false, 1, "why"},
		"panic late": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202); panic("why") }, "panic", 202,
			true, 1, "why"},
		"nil pointer": {func(http.ResponseWriter, *http.Request) { explode(nil) }, "panic", 500, false, 1,
			"runtime error: invalid memory address or nil pointer dereference"},
		"nil panic": {func(http.ResponseWriter, *http.Request) { panic(nil) }, "panic", 500, false, 1,
			"panic called with nil argument"},
		"bad status": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(42) }, "panic", 500, false, 1,
			"invalid WriteHeader code 42"},
		"abort": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "aborted", 0,
			false, 2, ""},
		"abort late": {func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "x")
			panic(http.ErrAbortHandler)
		}, "aborted", 200, true, 2, ""},
		"goexit": {func(http.ResponseWriter, *http.Request) { runtime.Goexit() }, "goexit", 500, false, 1,
			"the handler ended its goroutine (runtime.Goexit)"},
	} {
		for _, p := range protocols {
			t.Run(name+"/"+p.name, func(t *testing.T) {
				s, events := serve(t, p, completedOnly, c.handler)
				fetchCut(t, s)
				e := events.completed()
				if e.Data.Failure != c.failure || e.status() != c.status || e.Severity != c.severity {
					t.Errorf("got %s, status %d, severity %d, want %s, %d, %d", e.Data.Failure, e.status(), e.Severity,
						c.failure, c.status, c.severity)
				}
				if e.Data.Cut == nil || *e.Data.Cut != c.cut {
					t.Errorf("cut %v, want %t", e.Data.Cut, c.cut)
				}
				if message := messageOf(e); message != c.message {
					t.Errorf("error %q, want %q", message, c.message)
				}
			})
		}
	}
}

func messageOf(e event) string {
	if len(e.Errors) == 0 {
		return ""
	}
	return e.Errors[0].Message
}

//go:noinline
func explode(p *int) int { return *p }

// TestStackOfPanicBeginsAtItsFunction checks that the first frame is the function that panicked,
// not one of the runtime or the middleware.
func TestStackOfPanicBeginsAtItsFunction(t *testing.T) {
	for name, panics := range map[string]func(){
		"explode":    func() { explode(nil) },
		"repanic":    repanic,
		"outOfIndex": func() { outOfIndex(nil, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			s, events := serve(t, http1, completedOnly, func(http.ResponseWriter, *http.Request) { panics() })
			fetchCut(t, s)
			e := events.completed()
			if len(e.Errors) != 1 || len(e.Errors[0].StackTrace) == 0 {
				t.Fatalf("got %+v, want one error with a stack", e.Errors)
			}
			if got := e.Errors[0].StackTrace[0].Function; !strings.Contains(got, "httplog_test."+name) {
				t.Errorf("innermost function %s, want %s", got, name)
			}
		})
	}
}

//go:noinline
func outOfIndex(s []int, i int) int { return s[i] }

//go:noinline
func repanic() {
	defer func() { panic(recover()) }()
	explode(nil)
}

// TestPanicReachesTheOuterHandler checks that a handler outside the middleware sees the panic.
func TestPanicReachesTheOuterHandler(t *testing.T) {
	for _, value := range []any{"text", http.ErrAbortHandler, io.EOF} {
		h := httplog.Middleware(nil, httplog.Options{})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			panic(value)
		}))
		func() {
			defer func() {
				if got := recover(); got != value {
					t.Errorf("recovered %v, want %v", got, value)
				}
			}()
			h.ServeHTTP(discardWriter{}, newRequest(t))
		}()
	}
}

// A discardWriter is a ResponseWriter without optional interfaces.
type discardWriter struct{}

func (discardWriter) Header() http.Header         { return http.Header{} }
func (discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (discardWriter) WriteHeader(int)             {}

func TestDisconnectedClientIsLogged(t *testing.T) {
	for name, c := range map[string]struct {
		before func(http.ResponseWriter)
		after  func(http.ResponseWriter)
		status int
		cut    bool
	}{
		"before the answer": {func(http.ResponseWriter) {}, func(http.ResponseWriter) {}, 499, false},
		"response after it left": {func(http.ResponseWriter) {}, func(w http.ResponseWriter) { w.WriteHeader(503) },
			503, true},
		"in the answer": {func(w http.ResponseWriter) {
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
		}, func(w http.ResponseWriter) {}, 200, true},
		"aborted for it": {func(w http.ResponseWriter) {}, func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
			499, false},
	} {
		for _, p := range protocols {
			t.Run(name+"/"+p.name, func(t *testing.T) {
				arrived := make(chan bool)
				s, events := serve(t, p, completedOnly, func(w http.ResponseWriter, r *http.Request) {
					c.before(w)
					close(arrived)
					<-r.Context().Done()
					c.after(w)
				})
				ctx, leave := context.WithCancel(t.Context())
				go func() {
					<-arrived
					leave()
				}()
				r, err := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
				if err != nil {
					t.Fatal(err)
				}
				if answer, err := s.Client().Do(r); err == nil {
					io.ReadAll(answer.Body)
					answer.Body.Close()
				}
				e := events.completed()
				if e.Data.Failure != "client_gone" || e.status() != c.status || e.Severity != 2 || e.Data.Cut == nil ||
					*e.Data.Cut != c.cut {
					t.Errorf("got %+v, status %d, severity %d, want client_gone, %d, 2, cut %t", e.Data, e.status(),
						e.Severity, c.status, c.cut)
				}
			})
		}
	}
}

// TestClientLeavesAfterWholeResponse checks that a client may disconnect after it has
// received all announced bytes, even while the handler still runs. The response
// is complete.
func TestClientLeavesAfterWholeResponse(t *testing.T) {
	s, events := serve(t, http1, completedOnly, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "4")
		io.WriteString(w, "done")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s.Client().Transport.(*http.Transport).DisableKeepAlives = true
	fetch(t, s, "GET", "/")
	if e := events.completed(); e.Data.Failure != "" || e.status() != 200 || e.Severity != 3 {
		t.Errorf("got %+v, status %d, severity %d, want no failure, 200, 3", e.Data, e.status(), e.Severity)
	}
}

// TestDeadlineIsNotClientGone checks that an expired context is not reported as
// client_gone.
func TestDeadlineIsNotClientGone(t *testing.T) {
	events := &journal{t, make(chan event, 1)}
	h := httplog.Middleware(newLogger(events), completedOnly)(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.WriteHeader(504)
		}))
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	h.ServeHTTP(discardWriter{}, newRequest(t).WithContext(ctx))
	if e := events.completed(); e.Data.Failure != "" || e.status() != 504 {
		t.Errorf("got %+v, status %d, want no failure, 504", e.Data, e.status())
	}
}
