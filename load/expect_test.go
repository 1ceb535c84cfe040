package load_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/target"
)

func expectations(t *testing.T, texts ...string) (all []expect.Expectation) {
	t.Helper()
	for _, text := range texts {
		e, err := expect.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// faulty responds to each fourth request with 503, to another fourth with another state, and to another one in chunks.
func faulty() http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch n.Add(1) % 4 {
		case 0:
			w.WriteHeader(503)
			io.WriteString(w, `{"state":"up"}`)
		case 1:
			io.WriteString(w, `{"state":"down"}`)
		case 2:
			io.WriteString(w, `{"state":`)
			w.(http.Flusher).Flush()
			io.WriteString(w, `"up"}`)
		default:
			io.WriteString(w, `{"state":"up"}`)
		}
	}
}

func TestWrongResponsesCountAsFailed(t *testing.T) {
	for _, c := range []struct {
		name string
		how  func(*httptest.Server)
		plan load.Plan
	}{
		{"HTTP/1.1", func(*httptest.Server) {}, load.Plan{}},
		{"HTTP/1.1 with pipelines", func(*httptest.Server) {}, load.Plan{Pipeline: 4}},
		{"a new connection for each request", func(*httptest.Server) {}, load.Plan{NoKeepAlive: true}},
		{"HTTP/2", func(s *httptest.Server) { s.EnableHTTP2 = true }, load.Plan{Protocol: load.HTTP2, Pipeline: 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newCounter(t, faulty(), c.how)
			p := c.plan
			p.Targets, p.Connections, p.Requests, p.Threads = []target.Target{{URL: s.URL}}, 2, 400, 2
			if s.TLS != nil {
				p.TLS = s.Client().Transport.(*http.Transport).TLSClientConfig
			}
			p.Expect = expectations(t, "$.state == up", "status 200")
			r := run(t, p)
			if r.Requests != 200 || r.Failed != 200 || r.Wrong != 200 {
				t.Errorf("%d answered, %d failed, %d wrong, want 200 of each", r.Requests, r.Failed, r.Wrong)
			}
			if want := map[string]int64{"unexpected status 503": 100, `$.state is not "up"`: 100}; !reflect.DeepEqual(r.Errors, want) {
				t.Errorf("got errors %v, want %v", r.Errors, want)
			}
			if got := r.ErrorExamples[`$.state is not "up"`]; got != `$.state is "down"` {
				t.Errorf("got the example %q", got)
			}
			if want := map[string]int64{"200": 100, "503": 100}; !reflect.DeepEqual(r.WrongStatusCodes, want) {
				t.Errorf("got statuses of wrong responses %v, want %v", r.WrongStatusCodes, want)
			}
			if r.Latency.NeverAnswered != 200 {
				t.Errorf("%d latencies are of requests that were never answered, want 200", r.Latency.NeverAnswered)
			}
			if want := []string{"status 200", "$.state == up"}; !reflect.DeepEqual(r.Expect, want) {
				t.Errorf("the result expects %q, want %q", r.Expect, want)
			}
		})
	}
}

func TestResponsesThatEndWithTheConnectionAreExamined(t *testing.T) {
	var n atomic.Int64
	s := newBadServer(t, nil, func(v *visit) {
		if v.ask() {
			fmt.Fprintf(v, "HTTP/1.0 200 OK\r\n\r\nnumber %d", n.Add(1)%2)
		}
	})
	r := run(t, load.Plan{Targets: []target.Target{{URL: s.url}}, Connections: 1, Requests: 20,
		Expect: expectations(t, "body contains number 1")})
	if r.Requests != 10 || r.Errors[`body lacks "number 1"`] != 10 {
		t.Errorf("%d answered and errors %v, want 10 of each", r.Requests, r.Errors)
	}
}
