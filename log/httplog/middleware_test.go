package httplog_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

func TestRequestIsLoggedByTwoEvents(t *testing.T) {
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("POST /datasets/{id}", func(w http.ResponseWriter, r *http.Request) {
				log.From(r.Context()).Info("in between").Int("n", 7).Send()
				w.WriteHeader(http.StatusCreated)
				io.WriteString(w, "made")
			})
			s, events := serveOn(t, p, httplog.Options{}, mux, nil)
			r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/datasets/a%2Fb%7e?q=1&r=%20",
				strings.NewReader("12345"))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("User-Agent", "tester/1")
			r.Header.Set("Referer", "http://example.com/")
			r.Header.Set("X-Request-Id", "an-id")
			answer, err := s.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()

			received, between, completed := events.next("http request received"), events.next("in between"),
				events.completed()
			checkTarget(t, s, received)
			checkTarget(t, s, completed)
			for _, e := range []event{received, between, completed} {
				if e.TraceID != "an-id" || e.Severity != 3 {
					t.Errorf("%s: trace id %q, severity %d, want an-id, 3", e.Event, e.TraceID, e.Severity)
				}
			}
			if h := received.HTTP; received.status() != 0 || !h.EndedAt.IsZero() || h.Client != "" ||
				!h.StartedAt.Equal(received.CreatedAt) {
				t.Errorf("received: got %+v", received)
			}
			if between.Data.N != 7 {
				t.Errorf("in between: got %+v", between)
			}
			checkCompleted(t, p, completed, received)
		})
	}
}

// checkTarget checks the fields that both events have.
func checkTarget(t *testing.T, s *httptest.Server, e event) {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	h := e.HTTP
	got := fmt.Sprint(h.Method, " ", h.Scheme, " ", h.Host, " ", h.Port, " ", h.Path, " ", h.Query)
	want := fmt.Sprint("POST ", u.Scheme, " ", u.Hostname(), " ", u.Port(), " /datasets/a%2Fb%7e q=1&r=%20")
	if got != want {
		t.Errorf("%s: got %s, want %s", e.Event, got, want)
	}
}

// checkCompleted checks the fields that only the completed event has.
func checkCompleted(t *testing.T, p protocol, e, received event) {
	t.Helper()
	h := e.HTTP
	if e.status() != 201 || h.ResponseContentLength != 4 || h.RequestContentLength != 5 {
		t.Errorf("got status %d, %d bytes for %d, want 201, 4, 5", e.status(), h.ResponseContentLength,
			h.RequestContentLength)
	}
	if h.Route != "POST /datasets/{id}" || h.UserAgent != "tester/1" || h.Referer != "http://example.com/" ||
		h.Protocol != p.name[:8] {
		t.Errorf("got %+v", h)
	}
	if !netip.MustParseAddr(h.Client).IsLoopback() {
		t.Errorf("client %q, want the loopback", h.Client)
	}
	if !h.StartedAt.Equal(received.HTTP.StartedAt) || !h.EndedAt.Equal(e.CreatedAt) || h.EndedAt.Before(h.StartedAt) ||
		h.Duration <= 0 {
		t.Errorf("from %v to %v in %v, completed at %v", h.StartedAt, h.EndedAt, h.Duration, e.CreatedAt)
	}
	if e.Data.Failure != "" || e.Data.Cut != nil || len(e.Errors) > 0 {
		t.Errorf("got failure %q, cut %v, errors %v, want none", e.Data.Failure, e.Data.Cut, e.Errors)
	}
}

func TestStatusAndBytesAreLogged(t *testing.T) {
	for name, c := range map[string]struct {
		method  string
		handler http.HandlerFunc
		status  int
		bytes   int64
	}{
		"nothing":  {"GET", func(http.ResponseWriter, *http.Request) {}, 200, 0},
		"implicit": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("abc")) }, 200, 3},
		"string":   {"GET", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "abc") }, 200, 3},
		"empty write": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.Write(nil); w.WriteHeader(500) },
			200, 0},
		"explicit": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 404, 0},
		"first wins": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); w.WriteHeader(500) },
			404, 0},
		"flush": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			w.WriteHeader(500)
		}, 200, 0},
		"flush error": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).Flush(); err == nil {
				w.WriteHeader(500)
			}
		}, 200, 0},
		"early hints": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusAccepted)
		}, 202, 0},
		"only early hints": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
		}, 200, 0},
		"head": {"HEAD", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "abc") }, 200, 0},
		"head, copied": {"HEAD", func(w http.ResponseWriter, _ *http.Request) {
			io.Copy(w, strings.NewReader("abc"))
		}, 200, 0},
		"no content": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(204)
			if n, err := io.WriteString(w, "abc"); n != 0 || err != http.ErrBodyNotAllowed {
				panic(fmt.Sprintf("wrote %d, %v", n, err))
			}
		}, 204, 0},
		"not modified": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(304)
			w.Write([]byte("abc"))
		}, 304, 0},
		"copied": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			io.Copy(w, &io.LimitedReader{R: zeros{}, N: 1 << 20})
		}, 200, 1 << 20},
		"not found": {"GET", http.NotFound, 404, 19},
	} {
		for _, p := range protocols {
			t.Run(name+"/"+p.name, func(t *testing.T) {
				s, events := serve(t, p, completedOnly, c.handler)
				answer, body := fetch(t, s, c.method, "/")
				e := events.completed()
				if e.status() != c.status || answer.StatusCode != c.status {
					t.Errorf("logged status %d, the client got %d, want %d", e.status(), answer.StatusCode, c.status)
				}
				if e.HTTP.ResponseContentLength != c.bytes || int64(len(body)) != c.bytes {
					t.Errorf("logged %d bytes, the client got %d, want %d", e.HTTP.ResponseContentLength, len(body),
						c.bytes)
				}
				if e.Severity != 3 || e.Data.Failure != "" {
					t.Errorf("severity %d, failure %q, want 3 and none", e.Severity, e.Data.Failure)
				}
			})
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestSingleEventHasAllFields(t *testing.T) {
	s, events := serve(t, http1, completedOnly, func(http.ResponseWriter, *http.Request) {})
	for range 3 {
		fetch(t, s, "GET", "/")
		if e := events.completed(); e.HTTP.Method != "GET" || e.HTTP.StartedAt.IsZero() {
			t.Errorf("got %+v, want the fields of the received event too", e)
		}
	}
}

// TestWriteAfterReturnChangesNoResponse keeps the ResponseWriter of a request, which is not
// allowed, and writes to it during another request. The other response must not
// change.
func TestWriteAfterReturnChangesNoResponse(t *testing.T) {
	var kept http.ResponseWriter
	wrapped := httplog.Middleware(newLogger(io.Discard), httplog.Options{})(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if kept != nil {
				io.WriteString(kept, "first")
			}
			kept = w
			io.WriteString(w, "second")
		}))
	for range 2 {
		answer := httptest.NewRecorder()
		wrapped.ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
		if got := answer.Body.String(); got != "second" {
			t.Errorf("got the body %q, want %q", got, "second")
		}
	}
}

// TestConcurrentRequestsAreNotMixedUp sends requests from many clients at once and checks that
// no response or event has data of another.
func TestConcurrentRequestsAreNotMixedUp(t *testing.T) {
	s, events := serve(t, http1, completedOnly, func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Query().Get("n"))
		if err != nil {
			panic(err)
		}
		if got := httplog.TraceID(r.Context()); got != "id"+strconv.Itoa(n) {
			t.Errorf("trace id %q, want id%d", got, n)
		}
		io.WriteString(w, strings.Repeat("x", n))
	})
	const requests = 64
	done := make(chan bool)
	for n := range requests {
		go func() {
			defer func() { done <- true }()
			id := strconv.Itoa(n)
			if _, body := fetch(t, s, "GET", "/?n="+id, "X-Request-Id", "id"+id); len(body) != n {
				t.Errorf("%d: got %d bytes", n, len(body))
			}
		}()
	}
	for range requests {
		<-done
		e := events.completed()
		want := "n=" + strings.TrimPrefix(e.TraceID, "id")
		if e.HTTP.Query != want || want != "n="+strconv.FormatInt(e.HTTP.ResponseContentLength, 10) {
			t.Errorf("query %q, trace id %q, %d bytes: mixed up", e.HTTP.Query, e.TraceID, e.HTTP.ResponseContentLength)
		}
	}
}

func TestNilLoggerDiscardsEvents(t *testing.T) {
	h := httplog.Middleware(nil, httplog.Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.From(r.Context()).Info("nothing").Send()
		io.WriteString(w, httplog.TraceID(r.Context()))
	}))
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-Request-Id", "abc")
	h.ServeHTTP(w, r)
	if got := w.Body.String(); got != "abc" {
		t.Errorf("got %q, want the trace id", got)
	}
}
