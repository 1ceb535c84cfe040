package front_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// silent reads a request, and waits until the connection is closed.
func silent(c *rawConn) {
	if c.request() != nil {
		c.r.ReadByte()
	}
}

// TestFailedRequestGoesToAnotherServer checks that a request that a server does not respond to is sent to another one,
// and that the log and the metrics show that.
func TestFailedRequestGoesToAnotherServer(t *testing.T) {
	t.Parallel()
	status := func(code int) func(*rawConn) {
		return func(c *rawConn) {
			if c.request() != nil {
				io.WriteString(c, fmt.Sprintf("HTTP/1.1 %d Busy\r\nContent-Length: 0\r\n\r\n", code))
			}
		}
	}
	for _, test := range []struct {
		reason, kind string
		fault        func(*rawConn)
		retry        upstreams.Retry
	}{
		{"reset", "closed", func(c *rawConn) { c.request() }, upstreams.Retry{}},
		{"reset", "reset", func(c *rawConn) { c.request(); c.SetLinger(0) }, upstreams.Retry{}},
		{"timeout", "timeout", silent, upstreams.Retry{}},
		{"503", "", status(503), upstreams.Retry{On: []string{"503"}}},
	} {
		t.Run(test.reason+test.kind, func(t *testing.T) {
			bad, good := "http://"+rawUpstream(t, test.fault), upstream(t, hello).URL
			d := openDoor(t, bad, func(c *config.Config) {
				c.Upstreams[0].Servers = append(c.Upstreams[0].Servers, upstreams.Server{URL: good})
				c.Upstreams[0].Retry = test.retry
				if test.reason == "timeout" {
					c.Routes[0].TryTimeout = quickly // also for the server that is good
				}
			})
			if resp, body := get(t, httpClient(t), d.url("/x")); resp.StatusCode != 200 || body != "hello" {
				t.Errorf("%d %q, want 200", resp.StatusCode, body)
			}
			e := d.completed(t, "/x")
			if e.Data["retried"] != test.reason || e.Data["destination"] != good || e.Data["failure"] != nil {
				t.Errorf("the event shows no retry: %s", e.raw)
			}
			retries := fmt.Sprintf(`weir_upstream_retries_total{reason=%q,result="answered",upstream="site"}`, test.reason)
			testkit.AwaitEqual(t, "the retry is counted", func() float64 { return d.metric(t, retries) }, 1)
			failures := fmt.Sprintf(`weir_upstream_errors_total{kind=%q,upstream="site"}`, test.kind)
			if got := d.metric(t, failures); test.kind != "" && got != 1 {
				t.Errorf("%v failures of kind %s, want 1", got, test.kind)
			}
		})
	}
}

// TestRetriesEndWithTheirBudget uses up the budget of retries.
func TestRetriesEndWithTheirBudget(t *testing.T) {
	t.Parallel()
	d := openDoor(t, "http://"+rawUpstream(t, func(c *rawConn) { c.request() }), func(c *config.Config) {
		c.Upstreams[0].ConnectWait = 0 // no pause before a retry
	})
	const denied = `weir_upstream_retries_total{reason="reset",result="denied",upstream="site"}`
	for n := 0; d.metric(t, denied) == 0; n++ {
		if resp, _ := get(t, httpClient(t), d.url("/x")); resp.StatusCode != 502 {
			t.Fatalf("%d, want 502", resp.StatusCode)
		}
		if n == 5000 {
			t.Fatal("no retry was denied")
		}
	}
	d.log.find(t, func(e event) bool { return e.Data["retry_denied"] == "reset" && e.HTTP.StatusCode == 502 })
}

// TestExplainShowsRetries checks the description of retries that are not the defaults.
func TestExplainShowsRetries(t *testing.T) {
	t.Parallel()
	for want, retry := range map[string]upstreams.Retry{
		"":                            {},
		"; each request is sent once": {Attempts: 1},
		"; GET, PUT are sent again on reset 503, at most 2 times in all": {Attempts: 2, Methods: []string{"GET", "PUT"},
			On: []string{"reset", "503"}},
		"; GET, HEAD, OPTIONS are sent again on timeout, at most 3 times in all": {On: []string{"timeout"}},
	} {
		d := openDoor(t, "http://127.0.0.1:1", func(c *config.Config) { c.Upstreams[0].Retry = retry })
		want = "forwards to the upstream site: http://127.0.0.1:1" + want
		if got := d.explain(t, "GET a /").Routes[0].Steps; len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTotalTimeoutEndsTheRequest checks how a request ends whose time is over: while it waits for its turn,
// for the server, for the client's body, or for the client to read the response.
func TestTotalTimeoutEndsTheRequest(t *testing.T) {
	t.Parallel()
	const total = quickly
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/silent", "/queued":
			<-r.Context().Done()
		case "/trickle":
			for r.Context().Err() == nil {
				io.WriteString(w, "x")
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
		case "/long":
			for i := 0; i < 64<<10 && r.Context().Err() == nil; i++ {
				io.WriteString(w, strings.Repeat("x", 16<<10))
			}
		}
	})
	limit := func(c *config.Config) {
		c.Routes[0].TotalTimeout = total
		c.Routes[0].Limits = config.RequestLimits{InFlight: 1, Queue: config.Queue{Length: 1, Wait: testTimeout}}
	}
	began := time.Now()
	check := func(t *testing.T, d *testDoor, path string, status int, failure string) {
		t.Helper()
		e := d.log.find(t, func(e event) bool {
			return e.Event == "http request completed" && e.HTTP.Path == path && e.HTTP.StatusCode == status
		})
		if got, _ := e.Data["failure"].(string); got != failure || e.Data["limit"] != "timeout_total" {
			t.Errorf("want failure %q and the limit in %s", failure, e.raw)
		}
		if took := time.Since(began); took < total {
			t.Errorf("it took only %v", took)
		}
		const refusals = `weir_limit_refusals_total{limit="timeout_total",route="/{path...}"}`
		testkit.Await(t, "the end is counted", func() bool { return d.metric(t, refusals) > 0 })
	}
	t.Run("silent server", func(t *testing.T) {
		d := openDoor(t, back.URL, limit)
		began = time.Now()
		if resp, _ := get(t, httpClient(t), d.url("/silent")); resp.StatusCode != 504 {
			t.Errorf("%d, want 504", resp.StatusCode)
		}
		check(t, d, "/silent", 504, "overdue")
		if got := d.metric(t, `weir_limit_value{limit="timeout_total",route="/{path...}"}`); got != total.Seconds() {
			t.Errorf("weir_limit_value is %v", got)
		}
	})
	t.Run("queue", func(t *testing.T) {
		d := openDoor(t, back.URL, func(c *config.Config) {
			limit(c)
			held := config.DefaultRoute("/held", "site")
			c.Routes = append(c.Routes, held)
			c.Limits.InFlight, c.Limits.Queue = 1, config.Queue{Length: 1, Wait: testTimeout}
		}, func(c *config.Config) { c.Routes[1].Match = "/queued" })
		holder := dial(t, d.addr)
		holder.send("GET /queued HTTP/1.1\r\nHost: a\r\n\r\n")
		d.log.find(t, func(e event) bool { return e.Event == "proxying request" })
		began = time.Now()
		if resp, _ := get(t, httpClient(t), d.url("/waits")); resp.StatusCode != 504 {
			t.Errorf("%d, want 504", resp.StatusCode)
		}
		check(t, d, "/waits", 504, "")
		holder.Close()
	})
	t.Run("trickling server", func(t *testing.T) {
		d := openDoor(t, back.URL, limit)
		began = time.Now()
		resp, err := httpClient(t).Get(d.url("/trickle"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Error("the response looks complete")
		}
		check(t, d, "/trickle", 200, "overdue")
	})
	t.Run("client that does not read", func(t *testing.T) {
		d := openDoor(t, back.URL, limit)
		began = time.Now()
		c := dial(t, d.addr)
		c.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n")
		check(t, d, "/long", 200, "overdue")
	})
	t.Run("client that does not send", func(t *testing.T) {
		d := openDoor(t, back.URL, limit)
		for _, head := range []string{"Content-Length: 10\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"} {
			began = time.Now()
			resp, _ := ask(t, d.addr, "POST /body HTTP/1.1\r\nHost: a\r\n"+head)
			if resp.StatusCode != 408 {
				t.Errorf("%q: %d, want 408", head, resp.StatusCode)
			}
			if took := time.Since(began); took < total {
				t.Errorf("it took only %v", took)
			}
		}
		check(t, d, "/body", 408, "client_slow")
	})
}

// TestServerFailureEndsATimedUpload has a server fail while the client sends the body of a request that
// has a total timeout: the response is written while the body is still read.
func TestServerFailureEndsATimedUpload(t *testing.T) {
	t.Parallel()
	d := openDoor(t, faults["reset in the request"](t), func(c *config.Config) { c.Routes[0].TotalTimeout = testTimeout })
	for range 10 {
		c := dial(t, d.addr)
		c.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n")
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for err := error(nil); err == nil; _, err = c.Write([]byte("part")) {
				time.Sleep(time.Millisecond)
			}
		}()
		resp, err := http.ReadResponse(c.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != 502 {
			t.Errorf("status %d, want 502", resp.StatusCode)
		}
		c.Close()
		<-sent
	}
}
