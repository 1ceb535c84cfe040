package httplog_test

import (
	"context"
	"encoding/json"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

// An event is one line of the log, decoded.
type event struct {
	CreatedAt time.Time `json:"created_at"`
	Event     string
	TraceID   string `json:"trace_id"`
	Severity  int
	HTTP      struct {
		StatusCode            *int `json:"status_code"`
		Method                string
		Scheme                string
		Host                  string
		Port                  int
		Path                  string
		Query                 string
		StartedAt             time.Time `json:"started_at"`
		EndedAt               time.Time `json:"ended_at"`
		Duration              time.Duration
		ResponseContentLength int64 `json:"response_content_length"`
		Route                 string
		Client                string
		Protocol              string
		UserAgent             string `json:"user_agent"`
		Referer               string
		RequestContentLength  int64 `json:"request_content_length"`
	}
	Data struct {
		Failure   string
		Cut       *bool
		Hijacked  bool
		Discarded int
		N         int
	}
	Errors []struct {
		Message    string
		StackTrace []struct {
			Function string
		} `json:"stack_trace"`
	}
}

// status returns the event's status, or -1 if it has none.
func (e event) status() int {
	if e.HTTP.StatusCode == nil {
		return -1
	}
	return *e.HTTP.StatusCode
}

// A journal passes events to the test as they are written. The event of a
// request may arrive after its response.
type journal struct {
	t      testing.TB
	events chan event
}

func (j *journal) Write(line []byte) (int, error) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		j.t.Errorf("%v in %s", err, line)
	}
	j.events <- e
	return len(line), nil
}

// next returns the next event and fails the test if it has another name.
func (j *journal) next(name string) event {
	j.t.Helper()
	select {
	case e := <-j.events:
		if e.Event != name {
			j.t.Fatalf("event %q, want %q", e.Event, name)
		}
		return e
	case <-time.After(time.Minute):
		j.t.Fatalf("no event %q", name)
	}
	panic("unreachable")
}

// completed returns the next event, which must be "http request completed".
func (j *journal) completed() event {
	j.t.Helper()
	return j.next("http request completed")
}

// A protocol is one way to connect to a server.
type protocol struct {
	name   string
	enable func(*httptest.Server)
	start  func(*httptest.Server)
}

var (
	http1    = protocol{"HTTP/1.1", func(*httptest.Server) {}, (*httptest.Server).Start}
	http2    = protocol{"HTTP/2.0", func(s *httptest.Server) { s.EnableHTTP2 = true }, (*httptest.Server).StartTLS}
	http2raw = protocol{"HTTP/2.0 without TLS", enableUnencrypted, startUnencrypted}

	protocols = []protocol{http1, http2, http2raw}
)

func enableUnencrypted(s *httptest.Server) {
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
}

func startUnencrypted(s *httptest.Server) {
	s.Start()
	transport := s.Client().Transport.(*http.Transport)
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetUnencryptedHTTP2(true)
}

// serve starts a server with the middleware around h, and stops it when the
// test ends.
func serve(t testing.TB, p protocol, o httplog.Options, h http.HandlerFunc) (*httptest.Server, *journal) {
	t.Helper()
	return serveOn(t, p, o, h, nil)
}

// serveOn is serve on a given listener, unless that is nil.
func serveOn(t testing.TB, p protocol, o httplog.Options, h http.Handler, l net.Listener) (*httptest.Server, *journal) {
	t.Helper()
	j := &journal{t, make(chan event, 100)}
	logger := newLogger(j)
	s := httptest.NewUnstartedServer(httplog.Middleware(logger, o)(h))
	if l != nil {
		s.Listener.Close()
		s.Listener = l
	}
	s.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	p.enable(s)
	p.start(s)
	t.Cleanup(s.Close)
	return s, j
}

// completedOnly leaves out the received event.
var completedOnly = httplog.Options{Events: httplog.EventsCompleted}

// fetch sends a request and reads the whole response.
func fetch(t testing.TB, s *httptest.Server, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// fetchCut sends a request and checks that its response is incomplete.
func fetchCut(t testing.TB, s *httptest.Server) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), "GET", s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err == nil {
		_, err = io.ReadAll(answer.Body)
		answer.Body.Close()
	}
	if err == nil {
		t.Error("the client got a whole answer")
	}
}

func newLogger(w io.Writer) *log.Logger { return log.New(w, log.Options{Namespace: "test"}) }

// newRequest returns a request as a server receives it.
func newRequest(t testing.TB) *http.Request {
	return httptest.NewRequestWithContext(t.Context(), "GET", "/datasets/a?b=c", nil)
}
