package front_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/testkit"
)

// limited returns a function that changes the limits of a configuration.
func limited(change func(*config.Limits)) func(*config.Config) {
	return func(c *config.Config) { change(&c.Limits) }
}

// refusedBy checks that a response refuses a request, and that the log and the
// metrics name the limit.
func (d *testDoor) refusedBy(t *testing.T, resp *http.Response, status int, limit, route string) {
	t.Helper()
	if resp.StatusCode != status {
		t.Fatalf("%d, want %d", resp.StatusCode, status)
	}
	if wantRetry := status == 429 || status == 503; (resp.Header.Get("Retry-After") != "") != wantRetry {
		t.Errorf("Retry-After of a %d is %q", status, resp.Header.Get("Retry-After"))
	}
	id := resp.Header.Get("X-Request-Id")
	e := d.log.find(t, func(e event) bool { return e.TraceID == id && e.HTTP.StatusCode == status })
	if e.Data["limit"] != limit {
		t.Errorf("the log names the limit %v, want %s:\n%s", e.Data["limit"], limit, e.raw)
	}
	if got := d.metric(t, fmt.Sprintf(`weir_limit_refusals_total{limit=%q,route=%q}`, limit, route)); got == 0 {
		t.Errorf("no refusal by %s of %s is counted", limit, route)
	}
}

// TestInFlightRefusesBeyondItsQueue fills the places for requests in flight and for waiting ones.
func TestInFlightRefusesBeyondItsQueue(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	var inside sync.WaitGroup
	inside.Add(2)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			inside.Done()
			g.await(t)
		}
		io.WriteString(w, "hello")
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		held := config.DefaultRoute("/held", "site")
		held.Limits = config.RequestLimits{InFlight: 1, Queue: config.Queue{Length: 1, Wait: testTimeout}}
		c.Routes = append(c.Routes, held)
	})
	statuses := make(chan int, 2)
	var asked sync.WaitGroup
	ask := func() {
		asked.Go(func() {
			resp, _ := get(t, httpClient(t), d.url("/held"))
			statuses <- resp.StatusCode
		})
	}
	series := func(name, limit string) float64 {
		return d.metric(t, fmt.Sprintf(`weir_limit_%s{limit=%q,route="/held"}`, name, limit))
	}
	ask()
	testkit.AwaitEqual(t, "one in flight", func() float64 { return series("in_use", "in_flight") }, 1)
	ask()
	testkit.AwaitEqual(t, "one waiting", func() float64 { return series("in_use", "queue") }, 1)
	if v := series("value", "in_flight"); v != 1 {
		t.Errorf("the limit's value is %v, want 1", v)
	}
	resp, _ := get(t, httpClient(t), d.url("/held"))
	d.refusedBy(t, resp, 503, "queue", "/held")
	if resp, _ := get(t, httpClient(t), d.url("/other")); resp.StatusCode != 200 {
		t.Errorf("another route: %s", resp.Status)
	}
	g.open()
	asked.Wait()
	if a, b := <-statuses, <-statuses; a != 200 || b != 200 {
		t.Errorf("the held and the waiting request: %d and %d, want 200", a, b)
	}
	inside.Wait()
	testkit.AwaitEqual(t, "nobody in flight", func() float64 { return series("in_use", "in_flight") }, 0)
}

// TestClientMayLeaveTheQueue disconnects a client whose request waits in the queue.
func TestClientMayLeaveTheQueue(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t)
			back := upstream(t, func(w http.ResponseWriter, r *http.Request) { g.await(t) })
			d := openDoor(t, back.URL, limited(func(l *config.Limits) {
				l.InFlight, l.Queue = 1, config.Queue{Length: 1, Wait: testTimeout}
			}))
			waiting := func() float64 { return d.metric(t, `weir_limit_in_use{limit="queue",route="all"}`) }
			var first sync.WaitGroup
			first.Go(func() { get(t, httpClient(t), d.url("/first")) })
			testkit.AwaitEqual(t, "one in flight",
				func() float64 { return d.metric(t, `weir_limit_in_use{limit="in_flight",route="all"}`) }, 1)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r, err := http.NewRequestWithContext(ctx, "GET", d.url("/second"), nil)
			if err != nil {
				t.Fatal(err)
			}
			var second sync.WaitGroup
			second.Go(func() {
				if resp, err := client.Do(r); err == nil {
					resp.Body.Close()
					t.Errorf("who has left got %s", resp.Status)
				}
			})
			testkit.AwaitEqual(t, "one waiting", waiting, 1)
			leave()
			second.Wait()
			testkit.AwaitEqual(t, "nobody waiting", waiting, 0)
			if e := d.completed(t, "/second"); e.HTTP.StatusCode != 499 {
				t.Errorf("who has left is logged with %d", e.HTTP.StatusCode)
			}
			g.open()
			first.Wait()
		})
	}
}

// TestRateRefusesBeyondTheBurst exceeds the rate as one client, as others, and with keys.
func TestRateRefusesBeyondTheBurst(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		byKey := config.DefaultRoute("/key", "site")
		byKey.Limits.Rate = config.Rate{Per: config.RatePerHeader + "X-Api-Key", Every: time.Hour, Burst: 1}
		c.Routes = append(c.Routes, byKey)
		c.Limits.Rate = config.Rate{Every: time.Hour, Burst: 5}
		c.TrustedProxies = parsePrefixes(t, "127.0.0.0/8")
	})
	send := func(path, fields string) *http.Response {
		resp, _ := ask(t, d.addr, "GET "+path+" HTTP/1.1\r\nHost: a\r\n"+fields+"\r\n")
		return resp
	}
	for i := range 5 {
		if resp := send("/", ""); resp.StatusCode != 200 {
			t.Fatalf("request %d of 5: %s", i+1, resp.Status)
		}
	}
	resp := send("/", "")
	d.refusedBy(t, resp, 429, "rate", "all")
	if got := resp.Header.Get("RateLimit-Policy"); got != `"rate";q=5;w=18000` {
		t.Errorf("RateLimit-Policy: %s", got)
	}
	if got := resp.Header.Get("RateLimit"); !strings.HasPrefix(got, `"rate";r=0;t=`) {
		t.Errorf("RateLimit: %s", got)
	}
	const other = "X-Forwarded-For: 2001:db8::"
	for i, c := range []struct {
		path, fields string
		want         int
	}{
		{"/key", other + "1\r\nX-Api-Key: a\r\n", 200},
		{"/key", other + "2\r\nX-Api-Key: a\r\n", 429},
		{"/key", other + "3\r\nX-Api-Key: b\r\n", 200},
		{"/key", other + "4\r\n", 200},
		{"/", other + "5\r\n", 200},
		{"/", other + "6\r\n", 429}, // in the same /64
		{"/", "X-Forwarded-For: 192.0.2.1\r\n", 200},
	} {
		resp := send(c.path, c.fields)
		if resp.StatusCode != c.want {
			t.Errorf("%d, %s of %q: %s, want %d", i, c.path, c.fields, resp.Status, c.want)
		}
	}
}

// TestLongBodyIsRefused sends bodies that are too long, with and without a
// Content-Length.
func TestLongBodyIsRefused(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); err == nil {
			fmt.Fprint(w, n)
		}
	})
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Limits.Body = 100_000
		free := config.DefaultRoute("/free", "site")
		free.Limits.Body = config.NoLimit
		c.Routes = append(c.Routes, free)
	})
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, c := range []struct {
			path   string
			size   int
			says   bool
			status int
		}{
			{"/", 100_000, true, 200},
			{"/", 100_001, true, 413},
			{"/", 100_000, false, 200},
			{"/", 100_001, false, 413},
			{"/", 4 << 20, false, 413},
			{"/free", 4 << 20, true, 200},
		} {
			r, err := http.NewRequest("POST", d.url(c.path), io.LimitReader(zeros{}, int64(c.size)))
			if err != nil {
				t.Fatal(err)
			}
			if r.ContentLength = -1; c.says {
				r.ContentLength = int64(c.size)
			}
			resp, body := do(t, client, r)
			if resp.StatusCode != c.status || c.status == 200 && body != fmt.Sprint(c.size) {
				t.Errorf("%s: %d bytes to %s: %s %q, want %d", name, c.size, c.path, resp.Status, body, c.status)
			}
			if c.status == 413 {
				d.refusedBy(t, resp, 413, "body", "/{path...}")
			}
		}
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// quick sets limits that are short enough for a test, but that a busy machine
// does not exceed by accident.
func quick(l *config.Limits) {
	l.ReadTimeout, l.WriteTimeout = quickly, quickly
	l.UploadRate, l.DownloadRate = 20<<10, 20<<10
	l.HeaderTimeout = quickly
}

const quickly = 2 * time.Second

// TestSlowUploadsAreCut checks that clients that stall or trickle are cut, for short
// bodies that are read before the upstream is chosen and for longer ones.
// Clients that keep the pace or have a slow upstream are not.
func TestSlowUploadsAreCut(t *testing.T) {
	t.Parallel()
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(2 * quickly) // longer than a client may pause
		}
		if n, err := io.Copy(io.Discard, r.Body); err == nil {
			fmt.Fprint(w, n)
		}
	})
	d := openDoor(t, back.URL, limited(quick))
	for _, c := range []struct {
		name, path    string
		length, piece int // piece bytes every pause
		pause         time.Duration
		want          int
	}{
		{"a short body, stalled", "/", 1000, 1, 0, 408},
		{"a long body, stalled", "/", 1 << 20, 1, 0, 408},
		{"a short body, trickling", "/", 10_000, 10, 10 * time.Millisecond, 408},
		{"a long body, trickling", "/", 1 << 20, 10, 10 * time.Millisecond, 408},
		{"a good pace", "/", 800_000, 5000, 20 * time.Millisecond, 200}, // for longer than quickly
		{"a slow upstream", "/slow", 4 << 20, 4 << 20, 0, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, d.addr)
			conn.send(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", c.path, c.length))
			var sending sync.WaitGroup
			sending.Go(func() {
				for sent := 0; sent < c.length; sent += c.piece {
					if _, err := conn.Write(make([]byte, min(c.piece, c.length-sent))); err != nil {
						return
					}
					if c.pause == 0 {
						return
					}
					time.Sleep(c.pause)
				}
			})
			began := time.Now()
			resp, _ := conn.response("POST")
			if resp.StatusCode != c.want {
				t.Errorf("%s after %v, want %d", resp.Status, time.Since(began), c.want)
			}
			if c.want == 408 {
				d.refusedBy(t, resp, 408, "upload_rate", "/{path...}")
			}
			conn.Close()
			sending.Wait()
		})
	}
}

// TestSlowDownloadsAreCut checks that clients that read nothing are cut, and clients
// that keep the pace are not.
func TestSlowDownloadsAreCut(t *testing.T) {
	t.Parallel()
	const size = 64 << 20 // more than the sockets hold
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { io.CopyN(w, zeros{}, size) })
	d := openDoor(t, back.URL, limited(quick))
	t.Run("HTTP/1.1, stalled", func(t *testing.T) {
		t.Parallel()
		conn := dial(t, d.addr)
		conn.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
		d.cutAsSlow(t, "/1")
	})
	t.Run("HTTP/2, stalled", func(t *testing.T) {
		t.Parallel()
		h2 := dialHTTP2(t, d.addr) // never opens its window
		h2.begin(true, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/2")
		d.cutAsSlow(t, "/2")
	})
	t.Run("good", func(t *testing.T) {
		t.Parallel()
		resp, err := httpClient(t).Get(d.url("/good"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var n int64
		for range 5 { // pauses that are shorter than allowed
			m, err := io.CopyN(io.Discard, resp.Body, 1<<20)
			if n += m; err != nil {
				t.Fatal(err)
			}
			time.Sleep(quickly / 4)
		}
		m, err := io.Copy(io.Discard, resp.Body)
		if n += m; n != size || err != nil {
			t.Errorf("%d bytes, %v; want %d", n, err, size)
		}
	})
}

// TestSilentUpstreamCutsNoClient has an upstream that pauses for longer than a client may:
// within a head, before the end of a response, and within a body. No client is
// cut.
func TestSilentUpstreamCutsNoClient(t *testing.T) {
	t.Parallel()
	const pause, size = 2 * quickly, 24 << 20 // more than sockets hold
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		if r.Method == "POST" {
			n, _ := io.CopyN(io.Discard, r.Body, 256<<10)
			time.Sleep(pause)
			rest, _ := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n+rest)
			return
		}
		for range 2 {
			io.WriteString(w, "a line\n")
			c.Flush()
			time.Sleep(pause)
		}
	})
	d := openDoor(t, back.URL, limited(quick))
	for name, client := range map[string]*http.Client{"HTTP/1.1": httpClient(t), "HTTP/2": h2cClient(t)} {
		for _, c := range []struct{ method, want string }{{"GET", "a line\na line\n"}, {"POST", fmt.Sprint(size)}} {
			t.Run(name+" "+c.method, func(t *testing.T) {
				t.Parallel()
				r, err := http.NewRequest(c.method, d.url("/"), http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				if c.method == "POST" {
					r.Body, r.ContentLength = io.NopCloser(io.LimitReader(zeros{}, size)), size
				}
				if resp, body := do(t, client, r); resp.StatusCode != 200 || body != c.want {
					t.Errorf("%s %q, want 200 and %q", resp.Status, body, c.want)
				}
			})
		}
	}
}

// cutAsSlow checks that a response was cut because the client read too slowly.
func (d *testDoor) cutAsSlow(t *testing.T, path string) {
	t.Helper()
	e := d.completed(t, path)
	if e.Data["failure"] != "client_slow" || e.Data["limit"] != "download_rate" || e.Data["cut"] != true {
		t.Errorf("the event of a slow reader is %s", e.raw)
	}
	if got := d.metric(t, `weir_limit_refusals_total{limit="download_rate",route="/{path...}"}`); got == 0 {
		t.Error("no refusal is counted")
	}
	testkit.AwaitEqual(t, "nothing in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 0)
}

// TestSlowHeadsGet408 never completes the head of the first or the second request of
// a connection, or never begins one.
func TestSlowHeadsGet408(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, limited(quick))
	const head = "GET / HTTP/1.1\r\nHost: a\r\n"
	var slow sync.WaitGroup
	for begin, want := range map[string]string{
		head:                 "HTTP/1.1 408 Request Timeout\r\n",
		"GE":                 "HTTP/1.1 408 Request Timeout\r\n",
		head + "\r\n" + head: "HTTP/1.1 200 OK\r\n",
		"":                   "",
	} {
		slow.Go(func() {
			conn := dial(t, d.addr)
			conn.send(begin)
			answer, err := io.ReadAll(conn.r)
			if err != nil || !strings.HasPrefix(string(answer), want) || len(answer) > 0 &&
				!strings.Contains(string(answer), "408") {
				t.Errorf("%q: %q, %v; want %q and a 408", begin, answer, err, want)
			}
		})
	}
	slow.Wait()
	if got := d.metric(t, `weir_limit_refusals_total{limit="header_timeout",route="all"}`); got != 3 {
		t.Errorf("%v refusals are counted, want 3", got)
	}
	if got := d.metric(t, "weir_unused_connections_total"); got != 1 {
		t.Errorf("%v unused connections are counted, want 1", got)
	}
	if e := d.log.find(t,
		func(e event) bool { return e.Event == "http request refused" }); e.Data["limit"] != "header_timeout" {
		t.Errorf("the event of a slow head is %s", e.raw)
	}
}

// TestLongHeadGets431 sends heads of up to the limit, and longer ones.
func TestLongHeadGets431(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, limited(func(l *config.Limits) { l.Head = 8 << 10 }))
	for size, want := range map[int]int{6 << 10: 200, 9 << 10: 431} {
		resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("x", size)+"\r\n\r\n")
		if resp.StatusCode != want {
			t.Errorf("a head of %d bytes: %s, want %d", size, resp.Status, want)
		}
	}
	if got := d.metric(t, `weir_limit_refusals_total{limit="headers",route="all"}`); got != 1 {
		t.Errorf("%v refusals are counted, want 1", got)
	}
}

// TestConnectionsBeyondLimitGet503 opens too many connections. Each surplus one gets 503 and
// is closed immediately; the others continue to work.
func TestConnectionsBeyondLimitGet503(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	for limit, set := range map[string]func(*config.Limits){
		"max_connections":        func(l *config.Limits) { l.MaxConnections = 4 },
		"connections_per_client": func(l *config.Limits) { l.ConnectionsPerClient = 4 },
	} {
		t.Run(limit, func(t *testing.T) {
			d := openDoor(t, back.URL, limited(set))
			var admitted []*rawConn
			for range 4 {
				c := dial(t, d.addr)
				c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
				c.response("GET")
				admitted = append(admitted, c)
			}
			for range 30 {
				c := dial(t, d.addr)
				c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
				resp, _ := c.response("GET")
				if resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !resp.Close {
					t.Fatalf("%s, %v", resp.Status, resp.Header)
				}
				if b, err := c.r.ReadByte(); err != io.EOF {
					t.Fatalf("the connection goes on with %q, %v", b, err)
				}
			}
			for _, c := range admitted {
				c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
				if resp, _ := c.response("GET"); resp.StatusCode != 200 {
					t.Errorf("an admitted connection: %s", resp.Status)
				}
			}
			if got := d.metric(t, fmt.Sprintf(`weir_limit_refusals_total{limit=%q,route="all"}`, limit)); got != 30 {
				t.Errorf("%v refusals are counted, want 30", got)
			}
			admitted[0].Close()
			testkit.Await(t, "room for another", func() bool {
				nc, err := net.Dial("tcp", d.addr)
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				nc.SetDeadline(time.Now().Add(testTimeout))
				io.WriteString(nc, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
				resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
				if err != nil {
					return false
				}
				resp.Body.Close()
				return resp.StatusCode == 200
			})
			d.close()
			told := 0.0
			for _, e := range d.log.events(t) {
				if e.Event == "connections turned away" {
					if e.Data["limit"] != limit {
						t.Errorf("the log names %v", e.Data["limit"])
					}
					told += e.Data["count"].(float64)
				}
			}
			if told < 30 {
				t.Errorf("the log tells of %v connections, want 30 at least", told)
			}
		})
	}
}

// TestTrustedProxiesMayConnect checks that connections_per_client does not
// apply to trusted proxies.
func TestTrustedProxiesMayConnect(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	d := openDoor(t, back.URL, func(c *config.Config) {
		c.Limits.ConnectionsPerClient = 1
		c.TrustedProxies = parsePrefixes(t, "127.0.0.1/32")
	})
	for range 5 {
		c := dial(t, d.addr)
		c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		if resp, _ := c.response("GET"); resp.StatusCode != 200 {
			t.Errorf("%s", resp.Status)
		}
	}
}

// TestReloadKeepsCounting holds a request in flight during reloads. It counts
// for the new limits, whether they have changed or not.
func TestReloadKeepsCounting(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	back := upstream(t, func(w http.ResponseWriter, r *http.Request) { g.await(t) })
	one := limited(func(l *config.Limits) { l.InFlight = 1 })
	d := openDoor(t, back.URL, one)
	var first sync.WaitGroup
	first.Go(func() { get(t, httpClient(t), d.url("/")) })
	testkit.AwaitEqual(t, "one in flight",
		func() float64 { return d.metric(t, `weir_limit_in_use{limit="in_flight",route="all"}`) }, 1)
	if _, err := d.Reload(doorConfig(back.URL, one)); err != nil {
		t.Fatal(err)
	}
	resp, _ := get(t, httpClient(t), d.url("/"))
	d.refusedBy(t, resp, 503, "in_flight", "all")
	changed := doorConfig(back.URL, limited(func(l *config.Limits) { l.InFlight, l.MaxConnections = 2, 7 }))
	if keys, err := d.Reload(changed); err != nil || len(keys) != 0 {
		t.Errorf("Reload: %v, %v", keys, err)
	}
	if got := d.metric(t, `weir_limit_value{limit="max_connections",route="all"}`); got != 7 {
		t.Errorf("%v connections are allowed after the reload, want 7", got)
	}
	if got := d.metric(t, `weir_limit_value{limit="in_flight",route="all"}`); got != 2 {
		t.Errorf("the limit is %v, want 2", got)
	}
	if got := d.metric(t, `weir_limit_in_use{limit="in_flight",route="all"}`); got != 1 {
		t.Errorf("%v are in flight after the reload, want 1", got)
	}
	if _, err := d.Reload(doorConfig(back.URL, one)); err != nil {
		t.Fatal(err)
	}
	resp, _ = get(t, httpClient(t), d.url("/"))
	d.refusedBy(t, resp, 503, "in_flight", "all")
	g.open()
	first.Wait()
}

// TestRefusedRequestAllocatesLittle counts the allocations of a refused request.
func TestRefusedRequestAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	back := upstream(t, hello)
	d := openDoor(t, back.URL, limited(func(l *config.Limits) {
		l.Rate = config.Rate{Per: config.RatePerRoute, Every: time.Hour}
	}))
	get(t, httpClient(t), d.url("/"))
	const most = 20
	if n := mallocsUntil(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "429 Too Many Requests\n"); n > most {
		t.Errorf("%.1f allocations for a refused request, want %d at most", n, most)
	}
}

func parsePrefixes(t *testing.T, prefixes ...string) []netip.Prefix {
	t.Helper()
	var parsed []netip.Prefix
	for _, p := range prefixes {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, prefix)
	}
	return parsed
}
