package proxying_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// A sentTo counts the requests that reached servers.
type sentTo struct{ bad, good atomic.Int64 }

// openPair opens a door to a server that plays a fault, and to others that respond with the
// body of the request. The first request goes to the faulty server.
func openPair(t *testing.T, good int, fault func(*wire), adjust func(*proxying.Proxy),
	retry proxying.Retry) (*door, *sentTo) {
	t.Helper()
	n := new(sentTo)
	urls := []string{openOrigin(t, func(w *wire) {
		if _, err := w.readMessage(); err == nil {
			n.bad.Add(1)
			fault(w)
		}
	}).url}
	for range good {
		urls = append(urls, openOrigin(t, func(w *wire) {
			for {
				m, err := w.readMessage()
				if err != nil {
					return
				}
				n.good.Add(1)
				w.sayf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(m.body), m.body)
			}
		}).url)
	}
	return openDoor(t, func(p *proxying.Proxy) {
		p.Upstream = openUpstream(t, proxying.Options{Retry: retry}, urls...)
		if adjust != nil {
			adjust(p)
		}
	}), n
}

var (
	closes  = func(*wire) {}
	resets  = (*wire).reset
	busy    = func(w *wire) { w.say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy") }
	on503   = proxying.Retry{On: []proxying.RetryReason{proxying.Retry503}}
	withPut = proxying.Retry{Methods: []string{"GET", "PUT"}}
)

// TestRetriesFollowTheirConditions checks which requests are sent again, and to which server.
func TestRetriesFollowTheirConditions(t *testing.T) {
	t.Parallel()
	const get, put = "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
	for _, test := range []struct {
		name      string
		retry     proxying.Retry
		request   string
		others    int // servers without a fault
		fault     func(*wire)
		want      string // the status and the body
		bad, good int64  // requests sent
		reason    proxying.RetryReason
	}{
		{"closed", proxying.Retry{}, get, 1, closes, "200 ", 1, 1, proxying.RetryReset},
		{"reset", proxying.Retry{}, get, 2, resets, "200 ", 1, 1, proxying.RetryReset},
		{"half a head", proxying.Retry{}, get, 1, func(w *wire) { w.say("HTTP/1.1 200 OK\r\nA") }, "200 ", 1, 1,
			proxying.RetryReset},
		{"the only server", proxying.Retry{}, get, 0, closes, "502 ", 3, 0, proxying.RetryReset},
		{"two attempts", proxying.Retry{Attempts: 2}, get, 0, closes, "502 ", 2, 0, proxying.RetryReset},
		{"one attempt", proxying.Retry{Attempts: 1}, get, 1, closes, "502 ", 1, 0, ""},
		{"not on reset", on503, get, 1, closes, "502 ", 1, 0, ""},
		{"POST", proxying.Retry{}, strings.Replace(put, "PUT", "POST", 1), 1, closes, "502 ", 1, 0, ""},
		{"PUT", proxying.Retry{}, put, 1, closes, "502 ", 1, 0, ""},
		{"PUT if configured", withPut, put, 1, closes, "200 hi", 1, 1, proxying.RetryReset},
		{"PUT with a body that is not in memory", withPut,
			"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 1, closes, "502 ", 1, 0, ""},
		{"HEAD if not configured", withPut, "OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n", 1, closes, "502 ", 1, 0, ""},
		{"503", proxying.Retry{}, get, 1, busy, "503 busy", 1, 0, ""},
		{"503 if configured", on503, get, 1, busy, "200 ", 1, 1, proxying.Retry503},
		{"503 of the only server", on503, get, 0, busy, "503 busy", 1, 0, ""},
		{"malformed", proxying.Retry{}, get, 1, func(w *wire) { w.say("HTTP/1.1 2000 OK\r\n\r\n") }, "502 ", 1, 0, ""},
		{"closed in the body", proxying.Retry{}, get, 1,
			func(w *wire) { w.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh") }, "cut", 1, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d, sent := openPair(t, test.others, test.fault, nil, test.retry)
			c := d.dial()
			c.say(test.request)
			got := "cut"
			if m, err := c.readMessage(); err == nil {
				got = strings.Split(m.first, " ")[1] + " " + m.body
			}
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("the client got %q, want %q", got, test.want)
			}
			if bad, good := sent.bad.Load(), sent.good.Load(); bad != test.bad || good != test.good {
				t.Errorf("sent %d times to the server with the fault and %d times to others, want %d and %d", bad, good,
					test.bad, test.good)
			}
			if o := d.outcome(); o.retried != test.reason {
				t.Errorf("retried because of %q, want %q", o.retried, test.reason)
			}
		})
	}
}

// TestRetriesNeedUsableServer checks that the client gets the 503 of a server if the other one cannot be used. The
// request is sent to neither again.
func TestRetriesNeedUsableServer(t *testing.T) {
	t.Parallel()
	for name, disable := range map[string]func(*proxying.Server){
		"unhealthy": func(s *proxying.Server) { s.SetUnhealthy(true) },
		"ejected":   func(s *proxying.Server) { s.Eject(time.Now().Add(time.Hour)) },
		"draining":  func(s *proxying.Server) { s.SetDraining(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, sent := openPair(t, 1, busy, func(p *proxying.Proxy) { disable(p.Upstream.Servers()[1]) }, on503)
			m := d.dial().roundTrip(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			if bad, good := sent.bad.Load(), sent.good.Load(); m.body != "busy" || bad != 1 || good != 0 {
				t.Errorf("the client got %q, sent %d and %d times; want the 503, and once to the first server", m.raw, bad, good)
			}
		})
	}
}

// TestTryTimeoutUsesAnotherServer checks that a request is sent to another server if the first one does not respond
// in time. Without another server, and if the request must not be repeated, it fails.
func TestTryTimeoutUsesAnotherServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		method    string
		others    int
		fault     func(*wire)
		want      string
		bad, good int64
	}{
		{"GET", 1, stall, "200", 1, 1},
		{"GET", 1, func(w *wire) { w.say("HTTP/1.1 200 OK\r\n"); stall(w) }, "200", 1, 1},
		{"GET", 0, stall, "504", 1, 0},
		{"POST", 1, stall, "504", 1, 0},
	} {
		t.Run(fmt.Sprint(test.method, test.others), func(t *testing.T) {
			t.Parallel()
			d, sent := openPair(t, test.others, test.fault, nil, proxying.Retry{})
			d.Config.Handler.(*proxying.Proxy).TryTimeout = brief / 2
			m := d.dial().roundTrip(t, test.method+" / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
			if !strings.Contains(m.first, test.want) {
				t.Errorf("the client got %q, want %s", m.first, test.want)
			}
			if bad, good := sent.bad.Load(), sent.good.Load(); bad != test.bad || good != test.good {
				t.Errorf("sent %d and %d times, want %d and %d", bad, good, test.bad, test.good)
			}
			if o := d.outcome(); test.want == "504" && o.kind != proxying.Timeout {
				t.Errorf("failed with kind %q: %v", o.kind, o.err)
			}
		})
	}
}

// TestDeadlineEndsTheExchange checks that an exchange ends at its deadline: before a response with 504, also
// while it waits for a connection, and later by cutting the response.
func TestDeadlineEndsTheExchange(t *testing.T) {
	t.Parallel()
	trickle := func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
		for w.say("x") == nil {
			time.Sleep(time.Millisecond)
		}
	}
	flood := func(w *wire) {
		w.say("HTTP/1.1 200 OK\r\n\r\n")
		for w.say(strings.Repeat("x", 16<<10)) == nil {
		}
	}
	for name, fault := range map[string]func(*wire){"silence": stall, "trickle": trickle, "flood": flood} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, sent := openPair(t, 1, fault, nil, proxying.Retry{})
			d.Config.Handler = exchanging(d.Config.Handler.(*proxying.Proxy), func(x *proxying.Exchange) {
				x.Deadline = time.Now().Add(brief)
			})
			began := time.Now()
			got := ask(t, d, "HTTP/1.1", make(chan struct{}))
			if took := time.Since(began); took < brief {
				t.Errorf("it took %v, want at least %v", took, brief)
			}
			o := d.outcome()
			if o.kind != proxying.Overdue || o.err.ByUpstream() || o.err.ByClient() {
				t.Errorf("failed with kind %q: %v", o.kind, o.err)
			}
			if name == "silence" && got.status != 504 || name != "silence" && (got.err == nil || !o.cut) {
				t.Errorf("the client got %d, %v", got.status, got.err)
			}
			if n := sent.good.Load(); n != 0 {
				t.Errorf("sent %d times after the deadline", n)
			}
		})
	}
}

// TestRetryBudgetLimitsRetries checks that retries add a tenth, and a minimum, to the load of servers that all
// fail, and that the denied ones are reported.
func TestRetryBudgetLimitsRetries(t *testing.T) {
	t.Parallel()
	const requests, minimum = 2000, 100
	var sent, denied atomic.Int64
	var urls []string
	for range 2 {
		urls = append(urls, openOrigin(t, func(w *wire) {
			if _, err := w.readHead(); err == nil {
				sent.Add(1)
			}
		}).url)
	}
	d := openDoor(t, func(p *proxying.Proxy) {
		told := p.Hook
		p.Hook = func(x *proxying.Exchange, e proxying.Event) {
			if e == proxying.Done && x.RetryDenied == proxying.RetryReset {
				denied.Add(1)
			}
			told(x, e)
		}
	}, urls...)
	c := d.dial()
	for range requests {
		if m := c.roundTrip(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); !strings.Contains(m.first, "502") {
			t.Fatalf("the client got %q", m.first)
		}
	}
	// A slow run has more windows, each with its minimum.
	if n := sent.Load(); n <= requests || n > requests*11/10+minimum && denied.Load() == 0 {
		t.Errorf("%d requests were sent %d times, want at most %d", requests, n, requests*11/10+minimum)
	}
	if denied.Load() < requests/2 {
		t.Errorf("%d retries were denied, want most", denied.Load())
	}
}

// TestHookGetsEachFailedAttempt checks that the hook learns of each failed attempt.
func TestHookGetsEachFailedAttempt(t *testing.T) {
	t.Parallel()
	var events []string
	d, _ := openPair(t, 1, closes, func(p *proxying.Proxy) {
		told := p.Hook
		p.Hook = func(x *proxying.Exchange, e proxying.Event) {
			kind := proxying.Kind("")
			if failed, ok := x.Err.(*proxying.Error); ok {
				kind = failed.Kind
			}
			events = append(events, fmt.Sprint(e, kind, x.Retried))
			told(x, e)
		}
	}, proxying.Retry{})
	d.dial().roundTrip(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	d.outcome()
	want := []string{fmt.Sprint(proxying.Sending), fmt.Sprint(proxying.Trying),
		fmt.Sprint(proxying.Retrying, proxying.Closed, proxying.RetryReset),
		fmt.Sprint(proxying.Trying, proxying.RetryReset), fmt.Sprint(proxying.Done, proxying.RetryReset)}
	if !slices.Equal(events, want) {
		t.Errorf("events %q, want %q", events, want)
	}
}

// exchanging returns a handler that is p for exchanges that set has changed.
func exchanging(p *proxying.Proxy, set func(*proxying.Exchange)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.Handle(w, r, func(x *proxying.Exchange) {
			set(x)
			p.Serve(x)
		})
	})
}
