package load_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/load"
)

// TestGoAwayLosesNoRequest uses a server that ends each connection gracefully with GOAWAY while other
// streams are under way. Requests that it has not processed are sent again, and each is
// processed once.
func TestGoAwayLosesNoRequest(t *testing.T) {
	t.Parallel()
	var processed atomic.Int64
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
		if processed.Add(1)%10 == 0 {
			w.Header().Set("Connection", "close") // makes net/http send GOAWAY
		}
		hello(w, r)
	}, h2c)
	const requests = 2000
	r := run(t, load.Plan{Targets: targets(s.URL), Protocol: load.HTTP2, Requests: requests,
		Connections: 4, Pipeline: 8,
		Timeout: waitLimit, Process: -1})
	if r.Requests != requests || processed.Load() != requests || len(r.Errors) > 0 {
		t.Errorf("%d of %d requests were answered and %d processed, over %d connections: %v",
			r.Requests, requests, processed.Load(), r.ConnectionsMade, r.ErrorExamples)
	}
	if r.ConnectionsMade < requests/100 {
		t.Errorf("%d connections were made; the server has ended too few", r.ConnectionsMade)
	}
}

// TestWaitForStreamIsReported uses a server that allows one slow stream at a time. Requests that wait
// for a stream are not sent yet, and their wait is reported.
func TestWaitForStreamIsReported(t *testing.T) {
	t.Parallel()
	const work, streams = 20 * time.Millisecond, 5
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(work) // the server's work, on which the expected values depend
		hello(w, r)
	}, h2c, oneStream)
	r := run(t, load.Plan{Targets: targets(s.URL), Protocol: load.HTTP2, Requests: 20, Connections: 1,
		Pipeline: streams,
		Timeout:  waitLimit, Process: -1})
	if r.Requests != 20 || r.StreamWait == nil || r.StreamWait.Count != 20 {
		t.Fatalf("%d of 20 requests were answered; the waits for a stream: %+v", r.Requests, r.StreamWait)
	}
	wait, latency := float64(r.StreamWait.P50), float64(r.Latency.P50)
	if least := float64((streams - 2) * work / time.Microsecond); wait < least || wait < latency {
		t.Errorf("half of the requests waited %.0f us for a stream, want %.0f us at least, and more than the %.0f "+
			"us from sent",
			wait, least, latency)
	}
}

// TestRequestsWithoutStreamAreUnsent makes requests wait for a stream for longer than the timeout. They
// are unsent.
func TestRequestsWithoutStreamAreUnsent(t *testing.T) {
	t.Parallel()
	s := newCounter(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, h2c, oneStream)
	r := run(t, load.Plan{Targets: targets(s.URL), Protocol: load.HTTP2, Requests: 2, Connections: 1, Pipeline: 2,
		Timeout: 200 * time.Millisecond, Process: -1})
	if r.Sent == 0 || r.Sent == 2 && r.Failed != 2 || r.Unsent != r.UnsentFor["no_connection"] {
		t.Errorf("%d sent, %d failed, %d unsent: %v, %v", r.Sent, r.Failed, r.Unsent, r.UnsentFor, r.ErrorExamples)
	}
}

// TestNoKeepAliveAppliesToEachProtocol checks that every protocol makes a connection for each request,
// although the server keeps connections open.
func TestNoKeepAliveAppliesToEachProtocol(t *testing.T) {
	t.Parallel()
	for _, protocol := range servers {
		t.Run(protocol.name, func(t *testing.T) {
			t.Parallel()
			s := newCounter(t, hello, protocol.how)
			r := run(t, load.Plan{Targets: targets(s.URL), Protocol: protocol.protocol, TLS: trusting(),
				NoKeepAlive: true,
				Requests:    10, Connections: 2, Process: -1})
			if r.Requests != 10 || r.ConnectionsMade != 10 || len(r.Errors) > 0 {
				t.Errorf("%d of 10 requests were answered over %d connections: %v", r.Requests, r.ConnectionsMade,
					r.ErrorExamples)
			}
		})
	}
}

// h2c enables HTTP/2 with prior knowledge on a server.
func h2c(s *httptest.Server) {
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
}

// oneStream limits a server to one stream per connection.
func oneStream(s *httptest.Server) { s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 1} }
