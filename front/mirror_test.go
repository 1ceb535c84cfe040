package front_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/feature/edits"
	"github.com/weirhq/weir/front/feature/mirror"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
)

// mirrorTo adds an upstream "shadow" and mirrors a percentage of all requests to it.
func mirrorTo(url string, percent float64) func(*config.Config) {
	return func(c *config.Config) {
		c.Upstreams = append(c.Upstreams, upstreams.Upstream{Name: "shadow", Servers: []upstreams.Server{{URL: url}}})
		c.Routes[0].Mirror = &mirror.Config{
			To: "shadow", Share: int(percent * mirror.All / 100), InFlight: mirror.DefaultInFlight,
		}
	}
}

// mirrorResults returns the number of selected requests and the results of the mirror of
// openDoor's route, once no copy is in flight. It checks that each selected request has one
// result.
func (d *testDoor) mirrorResults(t *testing.T) (selected int, results map[string]int) {
	t.Helper()
	const route = `route="/{path...}",upstream="shadow"}`
	results = make(map[string]int)
	testkit.Await(t, "no request and no copy in flight", func() bool {
		m := d.metrics(t)
		selected = int(m["weir_mirror_selected_total{"+route])
		sum := 0
		clear(results)
		for series, n := range m {
			if result, ok := strings.CutPrefix(series, "weir_mirror_requests_total{result="); ok && n > 0 {
				result, _, _ = strings.Cut(strings.Trim(result, `"`), `"`)
				results[result] = int(n)
				sum += int(n)
			}
		}
		return m["weir_mirror_in_flight{"+route] == 0 && m["weir_requests_in_flight"] == 0 && sum == selected
	})
	return selected, results
}

// A requestBook is an upstream that records requests by their target.
type requestBook struct {
	mu       sync.Mutex
	requests map[string]recorded // guarded by mu
}

type recorded struct {
	method, host, body string
	header             http.Header
}

func (r *requestBook) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.requests[req.RequestURI] = recorded{req.Method, req.Host, string(body), req.Header}
	r.mu.Unlock()
	io.WriteString(w, "hello")
}

func (r *requestBook) of(target string) (recorded, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.requests[target]
	return got, ok
}

func newRequestBook() *requestBook { return &requestBook{requests: make(map[string]recorded)} }

// TestMirrorGetsEqualCopies compares the copies of requests with the requests, over both protocols.
func TestMirrorGetsEqualCopies(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		t.Run(name, func(t *testing.T) {
			site, shadow := newRequestBook(), newRequestBook()
			d := openDoor(t, upstream(t, site.ServeHTTP).URL, mirrorTo(upstream(t, shadow.ServeHTTP).URL, 10))
			const n = 1000
			for i := range n {
				req, err := http.NewRequest("POST", d.url(fmt.Sprintf("/a%%20b/%d?x=%d", i, i)),
					strings.NewReader(strings.Repeat("x", 1+i)))
				if err != nil {
					t.Fatal(err)
				}
				req.Host = "shop.example"
				req.Header = http.Header{"Cookie": {"a=b"}, "X-Mirrored": {"forged"}, "X-Several": {"1", "2"}}
				if resp, body := do(t, client, req); resp.StatusCode != 200 || body != "hello" {
					t.Fatalf("%s %q", resp.Status, body)
				}
			}
			selected, results := d.mirrorResults(t)
			if selected < 90 || selected > 110 || results["2xx"] != selected || len(shadow.requests) != selected {
				t.Errorf("%d selected, %v, %d received, want 100 of %d", selected, results, len(shadow.requests), n)
			}
			for target, got := range shadow.requests {
				want, _ := site.of(target)
				if got.header.Get("X-Mirrored") != "1" || want.header.Get("X-Mirrored") != "forged" {
					t.Errorf("X-Mirrored: %q, and %q in the request itself", got.header["X-Mirrored"], want.header["X-Mirrored"])
				}
				got.header.Del("X-Mirrored")
				want.header.Del("X-Mirrored")
				if fmt.Sprint(got) != fmt.Sprint(want) || got.header.Get("Traceparent") == "" {
					t.Errorf("copy\n%.600v\nof\n%.600v", got, want)
				}
			}
		})
	}
}

// TestMirrorCopiesOnlyShortBodies sends bodies of all kinds. Only those that are read before the request
// is sent are copied.
func TestMirrorCopiesOnlyShortBodies(t *testing.T) {
	t.Parallel()
	site, shadow := newRequestBook(), newRequestBook()
	d := openDoor(t, upstream(t, site.ServeHTTP).URL, mirrorTo(upstream(t, shadow.ServeHTTP).URL, 100))
	long := strings.Repeat("x", 16<<10)
	for i, c := range []struct {
		fields, body string
		copied       bool
	}{
		{"", "", true},
		{"Content-Length: 0\r\n", "", true},
		{"Content-Length: 5\r\n", "hello", true},
		{"Content-Length: 16384\r\n", long, true},
		{"Content-Length: 16385\r\n", long + "x", false},
		{"Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n", false},
		{"Content-Length: 5\r\nExpect: 100-continue\r\n", "hello", false},
	} {
		target := fmt.Sprint("/", i)
		conn := dial(t, d.addr)
		conn.send("POST " + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + c.fields + "\r\n" + c.body)
		for {
			if resp, _ := conn.response("POST"); resp.StatusCode == 200 {
				break
			} else if resp.StatusCode != 100 {
				t.Fatalf("%s: %s", target, resp.Status)
			}
		}
		d.mirrorResults(t)
		want, _ := site.of(target)
		if got, copied := shadow.of(target); copied != c.copied || copied && got.body != want.body {
			t.Errorf("%q with %d bytes: copied %v with %d bytes, want %v", c.fields, len(want.body), copied,
				len(got.body), c.copied)
		}
	}
	if selected, results := d.mirrorResults(t); selected != 7 || results["2xx"] != 4 || results["body"] != 3 {
		t.Errorf("%d selected, %v, want 4 responses and 3 bodies", selected, results)
	}
}

func TestUpgradeIsNotMirrored(t *testing.T) {
	t.Parallel()
	shadow := newRequestBook()
	d := openDoor(t, slowUpstream(t, newGate(t)), mirrorTo(upstream(t, shadow.ServeHTTP).URL, 100))
	openTunnel(t, d).Close()
	if _, results := d.mirrorResults(t); results["upgrade"] != 1 || len(shadow.requests) != 0 {
		t.Errorf("%v, %d copies of an upgrade, want none", results, len(shadow.requests))
	}
}

// TestMirrorFaultsReachNoClient has mirrors that fail in every way. The clients get the responses of the
// upstream, and each copy has a result.
func TestMirrorFaultsReachNoClient(t *testing.T) {
	t.Parallel()
	site := upstream(t, hello)
	for name, c := range map[string]struct {
		shadow  func(*testing.T) string
		results string
		kind    string // of weir_upstream_errors_total; "" for none
	}{
		"refuses connections": {func(t *testing.T) string { return testkit.ClosedAddress(t) }, "failed", "refused"},
		"resets": {func(t *testing.T) string {
			return rawUpstream(t, func(c *rawConn) { c.request(); c.SetLinger(0) })
		}, "failed", "reset"},
		"closes": {func(t *testing.T) string {
			return rawUpstream(t, func(c *rawConn) { c.request() })
		}, "failed", "closed"},
		"responds with nonsense": {func(t *testing.T) string {
			return rawUpstream(t, func(c *rawConn) { c.request(); c.send("nonsense\r\n\r\n") })
		}, "failed", "bad_answer"},
		"is silent": {func(t *testing.T) string {
			return rawUpstream(t, func(c *rawConn) { io.Copy(io.Discard, c) })
		}, "failed", "timeout"},
		"never ends a response": {func(t *testing.T) string {
			return rawUpstream(t, func(c *rawConn) {
				c.request()
				for s := "HTTP/1.1 200 OK\r\n\r\n"; ; s = "x" {
					if _, err := io.WriteString(c, s); err != nil {
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
		}, "failed", "timeout"},
		"responds endlessly": {func(t *testing.T) string {
			return upstream(t, func(w http.ResponseWriter, r *http.Request) {
				for block := make([]byte, 64<<10); ; {
					if _, err := w.Write(block); err != nil {
						return
					}
				}
			}).URL[len("http://"):]
		}, "2xx", ""},
		"responds with 500": {func(t *testing.T) string {
			return upstream(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) }).URL[len("http://"):]
		}, "5xx", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDoor(t, site.URL, mirrorTo("http://"+c.shadow(t), 100), func(c *config.Config) {
				c.Routes[0].Timeout = 5 * time.Second // also for the site, on a busy machine
			})
			const n = 20
			client := httpClient(t)
			for range n {
				if resp, body := get(t, client, d.url("/")); resp.StatusCode != 200 || body != "hello" {
					t.Fatalf("%s %q", resp.Status, body)
				}
			}
			if selected, results := d.mirrorResults(t); selected != n || results[c.results] != n {
				t.Errorf("%d selected, %v, want %d in %s", selected, results, n, c.results)
			}
			for series, count := range d.metrics(t) {
				if strings.HasPrefix(series, "weir_upstream_errors_total{") && count > 0 &&
					(count < n || series != fmt.Sprintf("weir_upstream_errors_total{kind=%q,upstream=\"shadow\"}", c.kind)) {
					t.Errorf("%s is %v, want %d of kind %q", series, count, n, c.kind)
				}
			}
			for _, e := range d.log.events(t) {
				if e.Severity != 3 || e.Data["proxy_name"] == "shadow" {
					t.Errorf("an event of the mirror: %s", e.raw)
				}
			}
		})
	}
}

// serveStoppable serves in a process of its own, which a test can stop. It prints its
// address, and ends when its standard input ends.
func serveStoppable() {
	s := http.Server{Handler: http.HandlerFunc(hello)}
	l := listenLoopback()
	fmt.Println(l.Addr())
	go s.Serve(l)
	io.Copy(io.Discard, os.Stdin)
}

// startStoppable starts serveStoppable, and returns the process and its address.
func startStoppable(t *testing.T) (p *os.Process, addr string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), stoppableVariable+"=1")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		child.Process.Signal(syscall.SIGCONT)
		in.Close()
		child.Wait()
	})
	if _, err := fmt.Fscanln(out, &addr); err != nil {
		t.Fatal(err)
	}
	return child.Process, addr
}

// stop stops a child process and returns when it has stopped.
func stop(t *testing.T, p *os.Process) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	for !status.Stopped() {
		if _, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil); err != nil && err != syscall.EINTR {
			t.Fatal(err)
		}
	}
}

// TestStoppedMirrorDelaysNoClient stops the process of the mirror. Copies are dropped at the limit, without
// a delay for clients, and are sent again when the process continues.
func TestStoppedMirrorDelaysNoClient(t *testing.T) {
	t.Parallel()
	shadow, addr := startStoppable(t)
	const limit = 5
	d := openDoor(t, upstream(t, hello).URL, mirrorTo("http://"+addr, 100), func(c *config.Config) {
		c.Routes[0].Mirror.InFlight = limit
	})
	client := httpClient(t)
	send := func(n int) {
		for range n {
			if resp, body := get(t, client, d.url("/")); resp.StatusCode != 200 || body != "hello" {
				t.Fatalf("%s %q", resp.Status, body)
			}
		}
	}
	send(1)
	d.mirrorResults(t)
	stop(t, shadow)
	send(100) // none waits for its copy: the copies are in flight afterwards
	if n := d.metric(t, `weir_mirror_in_flight{route="/{path...}",upstream="shadow"}`); n != limit {
		t.Errorf("%v copies in flight, want %d", n, limit)
	}
	if err := shadow.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	d.mirrorResults(t)
	send(1)
	selected, results := d.mirrorResults(t)
	if selected != 102 || results["2xx"] != 2+limit || results["full"] != 100-limit {
		t.Errorf("%d selected, %v, want %d responses and %d without a slot", selected, results, 2+limit, 100-limit)
	}
}

// heldShadow starts an upstream whose responses wait for a gate. arrived counts requests.
func heldShadow(t *testing.T, g *gate) (url string, arrived *atomic.Int64) {
	arrived = new(atomic.Int64)
	return upstream(t, func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		select {
		case <-g.ch:
		case <-r.Context().Done():
		}
	}).URL, arrived
}

// TestReloadFreesConnectionsOfMirror removes a mirror with copies in flight. The connections that were kept
// for copies are free for requests then.
func TestReloadFreesConnectionsOfMirror(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	url, arrived := heldShadow(t, g)
	back := upstream(t, hello)
	d := openDoor(t, back.URL, mirrorTo(url, 100))
	for range 3 {
		get(t, httpClient(t), d.url("/"))
	}
	testkit.AwaitEqual(t, "copies arrived", arrived.Load, 3)
	const most = `weir_limit_value{limit="in_flight",route="all"}`
	mirrored := d.metric(t, most)
	if _, err := d.Reload(doorConfig(back.URL)); err != nil {
		t.Fatal(err)
	}
	byMemory, _ := d.LimitFromMemory() // with little memory, both values are lower
	if all := d.metric(t, most); byMemory == 0 && (mirrored >= all || mirrored < all*3/4) {
		t.Errorf("%v requests may be in flight with a mirror, %v without", mirrored, all)
	}
	get(t, httpClient(t), d.url("/"))
	g.open()
	if selected, results := d.mirrorResults(t); selected != 3 || results["2xx"] != 3 {
		t.Errorf("%d selected, %v, want 3 responses", selected, results)
	}
}

// TestDrainCutsMirrorCopiesAfterTimeout drains with copies in flight. They may end within drain.timeout, and are
// cut afterwards. The end of the front door does not depend on them.
func TestDrainCutsMirrorCopiesAfterTimeout(t *testing.T) {
	t.Parallel()
	for name, timeout := range map[string]time.Duration{"ended": 0, "cut": 200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t)
			var arrived, ended atomic.Int64
			shadow := upstream(t, func(w http.ResponseWriter, r *http.Request) {
				arrived.Add(1)
				select {
				case <-g.ch:
					ended.Add(1)
				case <-r.Context().Done():
				}
			})
			d := openDoor(t, upstream(t, hello).URL, mirrorTo(shadow.URL, 100), func(c *config.Config) {
				c.Drain.Timeout = cmp.Or(timeout, testTimeout)
			})
			client := httpClient(t)
			get(t, client, d.url("/"))
			client.CloseIdleConnections()
			testkit.AwaitEqual(t, "the copy arrived", arrived.Load, 1)
			d.drain()
			if timeout == 0 {
				testkit.AwaitNoListener(t, d.addr)
				select {
				case err := <-d.served:
					t.Fatalf("Serve has returned %v before the copy ended", err)
				case <-time.After(50 * time.Millisecond):
				}
				g.open()
			}
			if err := d.close(); err != nil {
				t.Errorf("Serve: %v", err)
			}
			if timeout == 0 && ended.Load() != 1 {
				t.Error("the copy was cut")
			}
		})
	}
}

// TestMirrorCopiesEditedRequests mirrors requests that the route changes. A copy has the changes too.
func TestMirrorCopiesEditedRequests(t *testing.T) {
	t.Parallel()
	site, shadow := newRequestBook(), newRequestBook()
	d := openDoor(t, upstream(t, site.ServeHTTP).URL, mirrorTo(upstream(t, shadow.ServeHTTP).URL, 100),
		func(c *config.Config) {
			r := &c.Routes[0]
			r.Rewrite.To = "/new/{path}"
			r.RequestHeaders = edits.Config{
				Set:    []edits.Field{{Name: "Host", Value: "inside.example"}, {Name: "X-Path", Value: "{path}"}},
				Add:    []edits.Field{{Name: "X-Added", Value: "2"}},
				Remove: []string{"x-secret"},
			}
		})
	req, err := http.NewRequest("GET", d.url("/a%20b?c=d"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"X-Secret": {"s"}, "X-Added": {"1"}, "X-Path": {"forged"}}
	do(t, httpClient(t), req)
	d.mirrorResults(t)
	want, _ := site.of("/new/a%20b?c=d")
	got, _ := shadow.of("/new/a%20b?c=d")
	got.header.Del("X-Mirrored")
	if fmt.Sprint(got) != fmt.Sprint(want) || want.host != "inside.example" || want.header.Get("X-Path") != "a%20b" ||
		want.header["X-Secret"] != nil || len(want.header["X-Added"]) != 2 {
		t.Errorf("copy\n%v\nof\n%v", got, want)
	}
}

func TestMirrorCopiesRequestsOfSplit(t *testing.T) {
	t.Parallel()
	shadow := newRequestBook()
	d := openDoor(t, "", splitDoor(nil, []upstreams.Upstream{named(t, "a"), named(t, "b")}, 1, 1),
		mirrorTo(upstream(t, shadow.ServeHTTP).URL, 50))
	for i := range 100 {
		get(t, httpClient(t), d.url(fmt.Sprint("/", i)))
	}
	if selected, results := d.mirrorResults(t); results["2xx"] != selected || selected < 40 || selected > 60 {
		t.Errorf("%d selected, %v, want 50", selected, results)
	}
}
