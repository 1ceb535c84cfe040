package load_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/pace"
	"github.com/weirhq/weir/load/target"
)

// TestCloseWhileIdleLosesNoRequest uses a server that closes each connection after a response without
// announcing it. A later request uses a new connection and is not lost.
func TestCloseWhileIdleLosesNoRequest(t *testing.T) {
	t.Parallel()
	serverTLS, clientTLS := quickTLS(t)
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secure), func(t *testing.T) {
			t.Parallel()
			config := serverTLS
			if !secure {
				config = nil
			}
			s := newBadServer(t, config, func(v *visit) {
				if v.ask() {
					v.say(good)
				}
			})
			// Otherwise every second request would be lost. On a busy machine a close may be late, so that the best
			// of five runs counts.
			var r *load.Result
			for try := 0; try == 0 || try < 5 && r.Failed > r.Sent/4; try++ {
				// Late requests are skipped, so that none is sent immediately after a response.
				r = run(t, load.Plan{Targets: targets(s.url), TLS: clientTLS, Pace: pace.Rate(40), Duration: time.Second,
					Backlog:     -1,
					Connections: 1, MaxConnections: 1, Threads: 1, Process: -1})
			}
			if r.Failed > r.Sent/4 || r.ConnectionsMade < r.Requests || r.Connections != 1 {
				t.Errorf("%d of %d requests failed, over %d connections, %d at once: %v", r.Failed, r.Sent,
					r.ConnectionsMade, r.Connections, r.ErrorExamples)
			}
		})
	}
}

// TestDeafServerDoesNotHangTheRun sends more than the socket buffers hold to an HTTP/2 server that allows it
// and then does not read. The run still ends a timeout after its end.
func TestDeafServerDoesNotHangTheRun(t *testing.T) {
	t.Parallel()
	deaf := make(chan struct{})
	s := newBadServer(t, nil, func(v *visit) {
		io.CopyN(io.Discard, v.in, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")))
		v.say("\x00\x00\x06\x04\x00\x00\x00\x00\x00" + "\x00\x04\x7f\xff\xff\xff") // SETTINGS: windows of streams
		// WINDOW_UPDATE: window of the connection
		v.say("\x00\x00\x04\x08\x00\x00\x00\x00\x00" + "\x7f\xff\x00\x00")
		<-deaf
	})
	t.Cleanup(func() { close(deaf) }) // before the server waits for its end
	const size = 64 << 20
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	body := target.Body{File: strings.NewReader(strings.Repeat("x", size)), Size: size}
	began := time.Now()
	r, err := load.Run(ctx, load.Plan{Targets: []target.Target{{URL: s.url, Body: body}}, Protocol: load.HTTP2,
		Connections: 1, Pipeline: 2,
		Duration: 200 * time.Millisecond, Timeout: 200 * time.Millisecond, Process: -1})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	if took := time.Since(began); ctx.Err() != nil || r.Requests > 0 || r.Sent == 0 {
		t.Errorf("the run took %v, %d of %d requests were answered: %v", took, r.Requests, r.Sent, r.ErrorExamples)
	}
}

// TestUnregisteredStatusesAreCounted checks that unregistered statuses are counted, and others rejected.
func TestUnregisteredStatusesAreCounted(t *testing.T) {
	t.Parallel()
	s := newBadServer(t, nil, answering("HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n"))
	r := run(t, load.Plan{Targets: targets(s.url), Requests: 3, Process: -1})
	if r.Status["7xx"] != 3 || r.StatusCodes["799"] != 3 || r.LatencyByStatus["7xx"] == nil {
		t.Errorf("the statuses are %v, %v", r.Status, r.StatusCodes)
	}
}

// TestUnreachableErrorHasAddressOnce checks that the error has the address once.
func TestUnreachableErrorHasAddressOnce(t *testing.T) {
	t.Parallel()
	address := testkit.ClosedAddress(t)
	for _, c := range []struct {
		url      string
		protocol load.Protocol
	}{{"http://" + address, load.HTTP1}, {"http://" + address, load.HTTP2}, {"https://" + address, load.HTTP1}} {
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		_, err := load.Run(ctx, load.Plan{Targets: targets(c.url), Protocol: c.protocol, Process: -1})
		cancel()
		var unreachable *load.UnreachableError
		if !errors.As(err, &unreachable) || strings.Count(err.Error(), address) != 1 {
			t.Errorf("%s, %v: %v; want one %s", c.url, c.protocol, err, address)
		}
	}
}

// TestTimeoutIsExact uses a server that does not respond, and checks that a request fails at
// its timeout and not at a later check. The smallest of several delays excludes those of a
// busy machine.
func TestTimeoutIsExact(t *testing.T) {
	t.Parallel()
	s := newBadServer(t, nil, (*visit).listen)
	const timeout = 10 * time.Millisecond
	testkit.Await(t, "a failure at the timeout, not later", func() bool {
		r, err := load.Run(t.Context(), load.Plan{Targets: targets(s.url), Requests: 1, Connections: 1, Timeout: timeout,
			Points: 100, Process: -1})
		if errors.As(err, new(*load.UnreachableError)) {
			return false // the machine is too busy to make a connection within the timeout
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Points) != 1 || r.Errors["timeout"] != 1 {
			t.Fatalf("points %v, errors %v; want one timeout", r.Points, r.Errors)
		}
		took := time.Duration(r.Points[0].Latency) * time.Microsecond
		if took < timeout {
			t.Fatalf("a request failed after %v, before its timeout of %v", took, timeout)
		}
		return took <= 5*timeout
	})
}
