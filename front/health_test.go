package front_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/certtest"
	"github.com/weirhq/weir/internal/testkit"
)

// A patient is a server whose health a test determines.
type patient struct {
	*httptest.Server
	name     string
	status   atomic.Int32 // of /healthz
	body     atomic.Value // of /healthz
	failing  atomic.Int32 // status of other responses; 0 for 200
	delay    atomic.Int64 // of other responses
	checks   atomic.Int32
	inFlight atomic.Int32 // checks
	overlap  atomic.Bool  // two checks were in flight
	requests atomic.Int32 // other requests
	agent    atomic.Value // User-Agent and Host of checks
}

func newPatient(t *testing.T, name string) *patient {
	p := &patient{name: name}
	p.status.Store(200)
	p.body.Store("all is ok")
	p.Server = upstream(t, p.serve)
	return p
}

func (p *patient) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		if p.inFlight.Add(1) > 1 {
			p.overlap.Store(true)
		}
		defer p.inFlight.Add(-1)
		p.checks.Add(1)
		p.agent.Store(r.UserAgent() + " " + r.Host)
		w.WriteHeader(int(p.status.Load()))
		io.WriteString(w, p.body.Load().(string))
		return
	}
	p.requests.Add(1)
	time.Sleep(time.Duration(p.delay.Load()))
	if status := p.failing.Load(); status != 0 {
		w.WriteHeader(int(status))
	}
	io.WriteString(w, p.name)
}

// patients returns a number of servers, and a change of a configuration that uses them.
func patients(t *testing.T, n int) ([]*patient, func(*config.Config)) {
	t.Helper()
	var all []*patient
	for i := range n {
		all = append(all, newPatient(t, fmt.Sprint(i)))
	}
	return all, func(c *config.Config) {
		c.Upstreams[0].Servers = nil
		for _, p := range all {
			c.Upstreams[0].Servers = append(c.Upstreams[0].Servers, upstreams.Server{URL: p.URL})
		}
	}
}

// withHealth checks the servers often.
func withHealth(adjust ...func(*upstreams.Health)) func(*config.Config) {
	return func(c *config.Config) {
		h := upstreams.DefaultHealth()
		h.Path, h.Interval, h.Timeout = "/healthz", 100*time.Millisecond, testTimeout
		for _, f := range adjust {
			f(h)
		}
		c.Upstreams[0].Health = h
	}
}

// withOutliers ejects servers.
func withOutliers(adjust ...func(*upstreams.Outliers)) func(*config.Config) {
	return func(c *config.Config) {
		o := upstreams.DefaultOutliers()
		o.Interval, o.Requests, o.Ejection = time.Second, 5, time.Second
		for _, f := range adjust {
			f(o)
		}
		c.Upstreams[0].Outliers = o
	}
}

// state returns the state of a server.
func (d *testDoor) state(t *testing.T, server string) string {
	t.Helper()
	for _, state := range []string{"usable", "down", "unhealthy", "ejected", "draining"} {
		if d.metric(t, `weir_upstream_server_state{server="`+server+`",state="`+state+`",upstream="site"}`) == 1 {
			return state
		}
	}
	return ""
}

// awaitState waits for the state of a server.
func (d *testDoor) awaitState(t *testing.T, server, want string) {
	t.Helper()
	testkit.AwaitEqual(t, server+" is "+want, func() string { return d.state(t, server) }, want)
}

// stateEvent waits for the event of a change.
func (d *testDoor) stateEvent(t *testing.T, server, to string) event {
	t.Helper()
	return d.log.find(t, func(e event) bool {
		return e.Event == "server state changed" && e.Data["server"] == server && e.Data["to"] == to
	})
}

// TestUnhealthyServerGetsNoRequests makes one of two servers unhealthy in several ways, and healthy again. It gets
// no requests meanwhile, and no request fails.
func TestUnhealthyServerGetsNoRequests(t *testing.T) {
	t.Parallel()
	ps, servers := patients(t, 2)
	d := openDoor(t, "", servers, withHealth(func(h *upstreams.Health) { h.Body = "ok$" }))
	sick := ps[1]
	testkit.Await(t, "checks", func() bool { return ps[0].checks.Load() > 2 && sick.checks.Load() > 2 })
	if got, want := sick.agent.Load(), "weir-health-check "+strings.TrimPrefix(sick.URL, "http://"); got != want {
		t.Errorf("User-Agent and Host of a check: %s, want %s", got, want)
	}
	for _, c := range []struct {
		name       string
		make, heal func()
		because    string
	}{
		{"status", func() { sick.status.Store(503) }, func() { sick.status.Store(200) }, "status 503, want 200-399"},
		{"body", func() { sick.body.Store("down") }, func() { sick.body.Store("is ok") }, "the body does not match ok$"},
	} {
		c.make()
		d.awaitState(t, sick.URL, "unhealthy")
		if e := d.stateEvent(t, sick.URL, "unhealthy"); e.Data["upstream"] != "site" {
			t.Errorf("%s: %v", c.name, e.Data)
		}
		d.log.find(t, func(e event) bool { return e.Data["reason"] == c.because })
		before := sick.requests.Load()
		for range 10 {
			if _, body := get(t, httpClient(t), d.url("/")); body != "0" {
				t.Errorf("%s: a request to the server %s", c.name, body)
			}
		}
		if n := sick.requests.Load() - before; n != 0 {
			t.Errorf("%s: %d requests to the unhealthy server", c.name, n)
		}
		c.heal()
		d.awaitState(t, sick.URL, "usable")
		d.log.find(t, func(e event) bool { return e.Data["reason"] == "2 checks have passed" })
	}
	checks := sick.checks.Load()
	d.reload(withHealth(func(h *upstreams.Health) { h.Interval = time.Hour }))
	if n := d.metric(t, `weir_upstream_checks_total{result="failed",upstream="site"}`); n < 6 {
		t.Errorf("%v failed checks", n)
	}
	time.Sleep(300 * time.Millisecond)
	if n := sick.checks.Load() - checks; n > 2 {
		t.Errorf("%d checks after a reload to an interval of an hour", n)
	}
	if ps[0].overlap.Load() || sick.overlap.Load() {
		t.Error("two checks of a server were in flight")
	}
}

// TestReloadKeepsTheHealth checks that a reload keeps the results of checks, and that one without health
// forgets them.
func TestReloadKeepsTheHealth(t *testing.T) {
	t.Parallel()
	ps, servers := patients(t, 2)
	ps[1].status.Store(500)
	d := openDoor(t, "", servers, withHealth())
	d.awaitState(t, ps[1].URL, "unhealthy")
	d.reload(withHealth(func(h *upstreams.Health) { h.Interval = time.Hour }))
	if got := d.state(t, ps[1].URL); got != "unhealthy" {
		t.Errorf("after a reload: %s", got)
	}
	d.reload(func(c *config.Config) { c.Upstreams[0].Health = nil })
	d.awaitState(t, ps[1].URL, "usable")
	d.log.find(t, func(e event) bool { return e.Data["reason"] == "health is not configured any more" })
}

func TestPanicModeUsesEachServer(t *testing.T) {
	t.Parallel()
	ps, servers := patients(t, 2)
	ps[0].status.Store(500)
	ps[1].status.Store(500)
	d := openDoor(t, "", servers, withHealth())
	d.log.find(t, func(e event) bool { return e.Event == "upstream state changed" && e.Data["to"] == "panic" })
	for range 4 {
		if resp, _ := get(t, httpClient(t), d.url("/")); resp.StatusCode != 200 {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
	if a, b := ps[0].requests.Load(), ps[1].requests.Load(); a != 2 || b != 2 {
		t.Errorf("%d and %d requests, want 2 each", a, b)
	}
	ps[0].status.Store(200)
	d.log.find(t, func(e event) bool { return e.Event == "upstream state changed" && e.Data["from"] == "panic" })
}

// TestStoppedProcessIsUnhealthy stops the process of one of two servers: checks fail by their
// timeout. Then it kills the process: they are refused.
func TestStoppedProcessIsUnhealthy(t *testing.T) {
	t.Parallel()
	child, addr := startStoppable(t)
	good := newPatient(t, "good")
	d := openDoor(t, "", withServers("http://"+addr, good.URL), withHealth(func(h *upstreams.Health) { h.Timeout = 3 * time.Second }))
	get(t, httpClient(t), d.url("/"))
	stop(t, child)
	d.awaitState(t, "http://"+addr, "unhealthy")
	if e := d.stateEvent(t, "http://"+addr, "unhealthy"); e.Data["reason"] != "no response within 3s" {
		t.Errorf("the reason is %v", e.Data["reason"])
	}
	for range 4 {
		if _, body := get(t, httpClient(t), d.url("/")); body != "good" {
			t.Errorf("a request got %q", body)
		}
	}
	if err := child.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.awaitState(t, "http://"+addr, "usable")
	child.Kill()
	d.awaitState(t, "http://"+addr, "unhealthy")
	d.log.find(t, func(e event) bool {
		reason, _ := e.Data["reason"].(string)
		return e.Event == "server state changed" && strings.Contains(reason, "connection refused")
	})
}

// withServers sets the servers of the upstream.
func withServers(urls ...string) func(*config.Config) {
	return func(c *config.Config) {
		c.Upstreams[0].Servers = nil
		for _, u := range urls {
			c.Upstreams[0].Servers = append(c.Upstreams[0].Servers, upstreams.Server{URL: u})
		}
	}
}

// TestConsecutiveFailuresEjectAServer has a server whose checks pass, but whose responses are errors. It is
// ejected after exactly as many failures as allowed, returns, and is ejected again.
func TestConsecutiveFailuresEjectAServer(t *testing.T) {
	t.Parallel()
	ps, servers := patients(t, 2)
	liar := ps[0]
	liar.failing.Store(502)
	longer := func(o *upstreams.Outliers) {
		o.FailureRate, o.Ejection, o.MaxEjection = 0, 2*time.Second, 3*time.Second
	}
	d := openDoor(t, "", servers, withHealth(), withOutliers(longer), func(c *config.Config) {
		c.Upstreams[0].Retry.On = nil
	})
	var before int32 // requests to liar until its last ejection
	for range 2 {
		for deadline := time.Now().Add(testTimeout); d.state(t, liar.URL) == "usable"; {
			if get(t, httpClient(t), d.url("/")); time.Now().After(deadline) {
				t.Fatalf("usable after %d failures", liar.requests.Load()-before)
			}
		}
		// A round counts from the last ejection, because on a busy machine the round before may have ended with a
		// request to the server.
		if n := liar.requests.Load() - before; n != 5 {
			t.Errorf("ejected after %d failures, want 5", n)
		}
		before = liar.requests.Load()
		for range 6 {
			resp, _ := get(t, httpClient(t), d.url("/"))
			n := liar.requests.Load() - before
			if d.state(t, liar.URL) != "ejected" {
				break // a busy machine takes longer than the ejection
			}
			if resp.StatusCode != 200 || n != 0 {
				t.Errorf("status %d while the server is ejected, and %d requests to it", resp.StatusCode, n)
			}
		}
		d.awaitState(t, liar.URL, "usable")
	}
	if n := d.metric(t, `weir_upstream_outliers_total{reason="consecutive",result="ejected",upstream="site"}`); n != 2 {
		t.Errorf("%v ejections", n)
	}
	if e := d.stateEvent(t, liar.URL, "ejected"); e.Data["reason"] != "5 requests in a row failed" {
		t.Errorf("the reason is %v", e.Data["reason"])
	}
}

// TestEjectionKeepsHalfOfTheServers has three of four servers that fail: two of them are ejected, the last one is
// kept.
func TestEjectionKeepsHalfOfTheServers(t *testing.T) {
	t.Parallel()
	ps, servers := patients(t, 4)
	for _, p := range ps[1:] {
		p.failing.Store(503)
	}
	d := openDoor(t, "", servers, withOutliers(func(o *upstreams.Outliers) { o.Ejection = time.Minute }))
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for range 40 {
				get(t, httpClient(t), d.url("/"))
			}
		})
	}
	clients.Wait()
	ejected := 0
	for _, p := range ps {
		if d.state(t, p.URL) == "ejected" {
			ejected++
		}
	}
	if ejected != 2 || d.state(t, ps[0].URL) != "usable" {
		t.Errorf("%d servers are ejected, the good one is %s", ejected, d.state(t, ps[0].URL))
	}
	if n := d.metric(t, `weir_upstream_outliers_total{reason="consecutive",result="kept",upstream="site"}`); n < 1 {
		t.Errorf("%v were kept", n)
	}
}

// TestOutliersOfAnIntervalAreEjected compares servers: one fails often, but not in a row, and another one is
// slow.
func TestOutliersOfAnIntervalAreEjected(t *testing.T) {
	t.Parallel()
	ps, servers := patients(t, 5)
	ps[2].delay.Store(int64(60 * time.Millisecond))
	var turn atomic.Int32
	flaky := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if turn.Add(1)%2 == 0 {
			w.WriteHeader(504)
		}
	})
	d := openDoor(t, "", servers, withOutliers(func(o *upstreams.Outliers) { o.Latency, o.Ejection = 3, time.Minute }),
		func(c *config.Config) {
			c.Upstreams[0].Servers = append(c.Upstreams[0].Servers, upstreams.Server{URL: flaky.URL})
		})
	stop := repeat(t, 4, func(c *http.Client) {
		get(t, c, d.url("/"))
		time.Sleep(5 * time.Millisecond)
	})
	d.awaitState(t, flaky.URL, "ejected")
	d.awaitState(t, ps[2].URL, "ejected")
	stop()
	for url, want := range map[string]string{flaky.URL: "requests failed, of the others 0%", ps[2].URL: "the median response took"} {
		if reason, _ := d.stateEvent(t, url, "ejected").Data["reason"].(string); !strings.Contains(reason, want) {
			t.Errorf("the reason is %q, want %q", reason, want)
		}
	}
	for _, i := range []int{0, 1, 3, 4} {
		if got := d.state(t, ps[i].URL); got != "usable" {
			t.Errorf("server %d is %s", i, got)
		}
	}
}

// TestFlappingLogsFewEvents changes the health of a server often. The events are limited, and the last one has
// the number of those that were left out.
func TestFlappingLogsFewEvents(t *testing.T) {
	t.Parallel()
	ps, servers := patients(t, 2)
	d := openDoor(t, "", servers, withHealth(func(h *upstreams.Health) { h.Rise, h.Fall = 1, 1 }))
	for range 5 {
		ps[1].status.Store(500)
		d.awaitState(t, ps[1].URL, "unhealthy")
		ps[1].status.Store(200)
		d.awaitState(t, ps[1].URL, "usable")
	}
	_, text := d.log.state()
	if n := strings.Count(text, "server state changed"); n != 5 {
		t.Errorf("%d events of 10 changes, want 5", n)
	}
}

// TestHealthCheckUsesTheServersProtocol checks servers of https and HTTP/2. Each has to respond with the status
// that is expected, and is unhealthy after another one.
func TestHealthCheckUsesTheServersProtocol(t *testing.T) {
	t.Parallel()
	root := certtest.Root(t, "root")
	for name, protocol := range map[string]struct{ tls, http2 bool }{
		"https": {tls: true}, "h2c": {http2: true}, "h2": {tls: true, http2: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var status, checks atomic.Int32
			status.Store(200)
			major := 1
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor != major || r.TLS != nil != protocol.tls || r.URL.Path != "/healthz" {
					t.Errorf("a check of %s with %s", r.URL.Path, r.Proto)
				}
				checks.Add(1)
				w.WriteHeader(int(status.Load()))
			}))
			s.Config.Protocols = new(http.Protocols)
			s.Config.Protocols.SetHTTP1(!protocol.http2)
			if protocol.http2 {
				major, s.EnableHTTP2 = 2, true
				s.Config.Protocols.SetHTTP2(true)
				s.Config.Protocols.SetUnencryptedHTTP2(true)
			}
			adjust := []func(*config.Config){withHealth(func(h *upstreams.Health) { h.Timeout = testTimeout })}
			if protocol.tls {
				s.TLS = &tls.Config{Certificates: []tls.Certificate{*root.Issue(t, certtest.Options{}).TLS()}}
				s.StartTLS()
				adjust = append(adjust, trust(root))
			} else {
				s.Start()
			}
			t.Cleanup(s.Close)
			if protocol.http2 {
				adjust = append(adjust, withHTTP2)
			}
			d := openDoor(t, s.URL, adjust...)
			testkit.Await(t, "checks", func() bool { return checks.Load() > 2 })
			if got := d.state(t, s.URL); got != "usable" {
				t.Errorf("the server is %s", got)
			}
			status.Store(503)
			d.awaitState(t, s.URL, "unhealthy")
			status.Store(204)
			d.awaitState(t, s.URL, "usable")
		})
	}
}

func TestExplainShowsHealthChecks(t *testing.T) {
	t.Parallel()
	d := openDoor(t, "http://127.0.0.1:1", withHealth(), withOutliers())
	want := "forwards to the upstream site: http://127.0.0.1:1; each server is checked with GET /healthz every 100ms; " +
		"outliers are ejected"
	if got := d.explain(t, "GET a /").Routes[0].Steps; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}
