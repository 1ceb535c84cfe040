package front_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/internal/logfiles"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// reload reloads a door, with the configuration that it has and the given changes.
func (d *testDoor) reload(adjust ...func(*config.Config)) {
	d.t.Helper()
	c := *d.config
	for _, f := range adjust {
		f(&c)
	}
	testkit.Await(d.t, "a reload", func() bool {
		unchanged, err := d.Reload(&c)
		if err != nil && strings.HasSuffix(err.Error(), " is still being closed; try again") { // a destination of the log
			return false
		}
		if err != nil || len(unchanged) != 0 {
			d.t.Fatalf("Reload: %q, %v", unchanged, err)
		}
		return true
	})
	d.config = &c
}

// TestReloadChangesTheEvents changes the keys that determine the form of events.
func TestReloadChangesTheEvents(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	d.reload(func(c *config.Config) {
		c.Routes[0].Match = "/{id:odd}"
		c.Constraints["odd"] = "[0-9]*[13579]"
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.Namespace = "other"
		c.Log.Events, c.Log.Redact = config.EventsCompleted, []string{"token"}
		c.Log.RequestFields, c.Log.ResponseFields = []string{"x-a"}, []string{"content-type"}
	})
	for path, want := range map[string]int{"/13?token=secret": 200, "/14": 404} {
		resp, _ := ask(t, d.addr, "GET "+path+" HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\nX-A: 1\r\n\r\n")
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	d.completed(t, "/14") // before the level changes
	e := d.completed(t, "/13")
	_, text := d.log.state()
	if e.HTTP.Client != "192.0.2.7" || e.HTTP.Route != "/{id:odd}" || e.Namespace != "other" ||
		strings.Count(text, e.TraceID) != 1 || e.HTTP.Query != "token=[redacted]" ||
		e.Data["request_headers"] == nil || e.Data["response_headers"] == nil {
		t.Errorf("after the reload: %s", e.raw)
	}
	d.reload(func(c *config.Config) { c.Log.Level, c.Log.Format = "warn", "ltsv" })
	before := d.log.size()
	get(t, httpClient(t), d.url("/15"))
	if n := d.log.size(); n != before {
		t.Errorf("an event of severity INFO was written at the level warn")
	}
	d.reload(func(c *config.Config) { c.Log.Level = "info" })
	get(t, httpClient(t), d.url("/17"))
	testkit.Await(t, "an event in LTSV", func() bool {
		_, text := d.log.state()
		return strings.Contains(text, "/17\t")
	})
}

// TestReloadKeepsEngine changes the keys that need a new process, and another one.
func TestReloadKeepsEngine(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	loops := d.config.Engine == config.EngineLoops
	for _, c := range []struct {
		adjust func(*config.Config)
		want   []string
	}{
		{func(c *config.Config) { c.Engine = "another" }, []string{"engine"}},
		{func(c *config.Config) { c.Log.Queue.WhenFull = "block" }, []string{"log.queue.when_full"}},
	} {
		cfg := *d.config
		c.adjust(&cfg)
		cfg.Drain.Timeout = time.Hour
		unchanged, err := d.Reload(&cfg)
		if want := c.want; err != nil || (loops || want[0] == "engine") != slices.Equal(unchanged, want) {
			t.Errorf("Reload: %q, %v, want %q", unchanged, err, want)
		}
	}
	d.reload() // with a drain that ends
	get(t, httpClient(t), d.url("/"))
}

// TestReloadChangesTheListeners adds a listener and removes the first one, which has connections
// of every kind.
func TestReloadChangesTheListeners(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	d := openDoor(t, slowUpstream(t, g), func(c *config.Config) {
		c.Drain.Delay = 5 * time.Second   // within which next sends its request
		c.Routes[0].Timeout = testTimeout // a busy machine needs more than usual
	})
	slow := dial(t, d.addr)
	slow.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
	tunnel := openTunnel(t, d)
	idle, next := dial(t, d.addr), dial(t, d.addr)
	for _, c := range []*rawConn{idle, next} {
		c.send("GET /.. HTTP/1.1\r\nHost: a\r\n\r\n")
		if resp, _ := c.response("GET"); resp.Close {
			t.Fatal("a connection is closed before the reload")
		}
	}
	h2 := dialHTTP2(t, d.addr)
	stream := h2.begin(true, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/slow")
	testkit.AwaitEqual(t, "all in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 3)

	first := d.addr
	added := peer.FreeAddress(t)
	d.reload(func(c *config.Config) { c.Listen = []string{"127.0.0.1:0", added} })
	if addrs := d.Addrs(); len(addrs) != 2 || addrs[0].String() != first || addrs[1].String() != added {
		t.Errorf("listening on %v, want %s and %s", addrs, first, added)
	}
	for _, addr := range []string{first, added} {
		if resp, _ := get(t, httpClient(t), "http://"+addr+"/.."); resp.StatusCode != 400 {
			t.Errorf("%s: %s", addr, resp.Status)
		}
	}
	d.reload(func(c *config.Config) { c.Listen = []string{added} })
	next.send("GET /.. HTTP/1.1\r\nHost: a\r\n\r\n")
	if resp, _ := next.response("GET"); !resp.Close {
		t.Error("a response on a removed listener is without Connection: close")
	}
	testkit.Await(t, "the removed listener to be closed", func() bool { return !listens(first) })
	if n, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle connection of the removed listener: %d bytes, %v; want it closed", n, err)
	}
	tunnel.echo("still here")
	g.open()
	if resp, body := slow.response("GET"); resp.StatusCode != 200 || body != "slow " || !resp.Close {
		t.Errorf("the request in flight: %d, %q, Connection: close %v", resp.StatusCode, body, resp.Close)
	}
	if status, whole := h2.finish(stream); status != 200 || !whole {
		t.Errorf("over HTTP/2: %d, whole %v", status, whole)
	}
	tunnel.Close()
	get(t, httpClient(t), "http://"+added+"/..")
}

// TestRemovedListenersQueueIsServed removes a listener while clients connect. Each client
// whose connection the kernel accepts gets a response.
func TestRemovedListenersQueueIsServed(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL, func(c *config.Config) { c.Drain.Delay = 50 * time.Millisecond })
	stays := peer.FreeAddress(t)
	for range 10 {
		going := peer.FreeAddress(t)
		d.reload(func(c *config.Config) { c.Listen = []string{stays, going} })
		var clients sync.WaitGroup
		var connected atomic.Int64
		for range 8 {
			clients.Go(func() {
				for {
					began := time.Now()
					c, err := net.Dial("tcp", going)
					if err != nil {
						return
					}
					connected.Add(1)
					c.SetDeadline(time.Now().Add(testTimeout))
					io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
					late := time.Since(began) > 100*time.Millisecond // a removed listener waits 250 ms for a first request
					text, err := io.ReadAll(c)
					if late && len(text) == 0 { // the machine is busy
						c.Close()
						continue
					}
					if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 ") {
						t.Errorf("a client that was connected: %.30q, %v", text, err)
					}
					c.Close()
				}
			})
		}
		testkit.Await(t, "clients", func() bool { return connected.Load() > 50 })
		d.reload(func(c *config.Config) { c.Listen = []string{stays} })
		clients.Wait()
	}
}

// TestReloadMovesTheAdminListener moves the admin listener, and turns it off and on.
func TestReloadMovesTheAdminListener(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	first := d.AdminAddr().String()
	second := peer.FreeAddress(t)
	client := httpClient(t)
	get(t, client, "http://"+first+"/readyz")
	d.reload(func(c *config.Config) { c.Admin = second })
	if resp, _ := get(t, client, "http://"+second+"/readyz"); resp.StatusCode != 200 {
		t.Errorf("the new admin listener: %s", resp.Status)
	}
	testkit.Await(t, "the first one to be closed", func() bool { return !listens(first) })
	d.reload(func(c *config.Config) { c.Admin = config.AdminOff })
	testkit.Await(t, "the second one to be closed", func() bool { return !listens(second) })
	if addr := d.AdminAddr(); addr != nil {
		t.Errorf("the address of no admin listener: %v", addr)
	}
	d.reload(func(c *config.Config) { c.Admin = second })
	if n := d.metric(t, `weir_reloads_total{result="applied"}`); n != 3 {
		t.Errorf("%v reloads are counted, want 3", n)
	}
}

// TestReloadThatCannotListenChangesNothing has an address that is in use. Nothing changes.
func TestReloadThatCannotListenChangesNothing(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	d := openDoor(t, upstream(t, hello).URL)
	other := peer.FreeAddress(t)
	for name, adjust := range map[string]func(*config.Config){
		"listen": func(c *config.Config) { c.Listen = []string{other, taken.Addr().String()} },
		"admin":  func(c *config.Config) { c.Listen, c.Admin = []string{other}, taken.Addr().String() },
	} {
		c := *d.config
		c.Routes = []config.Route{config.DefaultRoute("/nothing", "site")}
		adjust(&c)
		if _, err := d.Reload(&c); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("Reload: %v, want an error of %s", err, name)
		}
		if listens(other) {
			t.Errorf("%s: an address was bound", name)
		}
		if resp, _ := get(t, httpClient(t), d.url("/")); resp.StatusCode != 200 {
			t.Errorf("%s: %s after the failed reload", name, resp.Status)
		}
	}
}

// TestReloadChangesConnectionLimits changes limits of connections that are open.
func TestReloadChangesConnectionLimits(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	c := dial(t, d.addr)
	long := "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 20<<10) + "\r\n\r\n"
	c.send(long)
	if resp, _ := c.response("GET"); resp.StatusCode != 200 {
		t.Errorf("a long head before the reload: %s", resp.Status)
	}
	client := h2cClient(t)
	request, err := http.NewRequest("GET", d.url("/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X", strings.Repeat("x", 20<<10))
	if resp, _ := do(t, client, request); resp.StatusCode != 200 {
		t.Errorf("a long head over HTTP/2 before the reload: %s", resp.Status)
	}
	d.reload(func(c *config.Config) { c.Limits.Head = 8 << 10 })
	c.send(long)
	if resp, _ := c.response("GET"); resp.StatusCode != 431 {
		t.Errorf("a long head after the reload: %s, want 431", resp.Status)
	}
	testkit.Await(t, "a new HTTP/2 connection with the new limit", func() bool {
		resp, err := client.Do(request)
		if err == nil {
			resp.Body.Close()
		}
		return err != nil || resp.StatusCode == 431
	})
	d.reload(func(c *config.Config) { c.Limits.IdleTimeout = 300 * time.Millisecond })
	idle := dial(t, d.addr)
	idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	idle.response("GET")
	if n, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle connection: %d bytes, %v; want it closed", n, err)
	}
	testkit.AwaitEqual(t, "no connection", func() float64 { return d.inUse(t, "max_connections") }, 0)

	d.reload(func(c *config.Config) { c.Limits.IdleTimeout = time.Minute })
	open := []*rawConn{dial(t, d.addr), dial(t, d.addr)}
	for _, c := range open {
		c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		c.response("GET")
	}
	d.reload(func(c *config.Config) { c.Limits.ConnectionsPerClient = 2 }) // both connections count
	if resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); resp.StatusCode != 503 {
		t.Errorf("the third connection of a client: %s, want 503", resp.Status)
	}
	d.reload(func(c *config.Config) { c.Limits.ConnectionsPerClient, c.Limits.MaxConnections = 0, 2 })
	if resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); resp.StatusCode != 503 {
		t.Errorf("the third connection: %s, want 503", resp.Status)
	}
	d.reload(func(c *config.Config) { c.Limits.MaxConnections = 3 })
	if resp, _ := ask(t, d.addr, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); resp.StatusCode != 200 {
		t.Errorf("the third connection of three: %s", resp.Status)
	}
}

// TestReloadSendsGoAway removes a listener with an idle HTTP/2 connection.
func TestReloadSendsGoAway(t *testing.T) {
	t.Parallel()
	d := openDoor(t, upstream(t, hello).URL)
	h2 := dialHTTP2(t, d.addr)
	stream := h2.begin(true, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "/")
	if status, whole := h2.finish(stream); status != 200 || !whole {
		t.Fatalf("before the reload: %d, whole %v", status, whole)
	}
	added := peer.FreeAddress(t)
	d.reload(func(c *config.Config) { c.Listen = []string{added} })
	for {
		f, err := h2.framer.ReadFrame()
		if err != nil {
			t.Fatalf("no GOAWAY: %v", err)
		}
		if _, ok := f.(*http2.GoAwayFrame); ok {
			return
		}
	}
}

// TestReloadShortensTheDrain shortens the drain of a door with a request that does not end.
func TestReloadShortensTheDrain(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	d := openDoor(t, slowUpstream(t, g))
	c := dial(t, d.addr)
	c.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
	testkit.AwaitEqual(t, "in flight", func() float64 { return d.metric(t, "weir_requests_in_flight") }, 1)
	d.reload(func(c *config.Config) { c.Drain.Timeout = 10 * time.Millisecond })
	if err := d.close(); err == nil || err.Error() != "1 request was cut after 10ms" {
		t.Errorf("Serve: %v", err)
	}
	if _, err := d.Reload(d.config); err == nil {
		t.Error("a front door that has ended was reloaded")
	}
}

// TestReloadOfLogLosesNoEvent changes the destinations while clients send requests. Every event is
// in exactly one file, once, and the counts are exact.
func TestReloadOfLogLosesNoEvent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	cfg := doorConfig(upstream(t, hello).URL, func(c *config.Config) {
		c.Log.To, c.Log.Heartbeat = []string{path("0.log")}, 0
	})
	out, stdout, _ := logfiles.Open(t, cfg.Log.Config, func(err error) { t.Error(err) })
	d := &testDoor{t: t, config: cfg, served: make(chan error, 1)}
	var err error
	if d.Door, err = engines.New(cfg, out); err != nil {
		t.Fatal(err)
	}
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	var sent atomic.Int64
	var clients sync.WaitGroup
	var stop atomic.Bool
	for range 4 {
		client := httpClient(t)
		clients.Go(func() {
			for !stop.Load() {
				get(t, client, d.url(fmt.Sprintf("/%d", sent.Add(1))))
			}
		})
	}
	const reloads = 60
	for i := range reloads {
		before := sent.Load()
		d.reload(func(c *config.Config) {
			c.Log.Queue.Linger = time.Duration(i%3) * time.Millisecond
			c.Log.Queue.Size = (1 + i%2) * (4 << 20)
			c.Log.Rotate = logto.Rotate{Size: int64(i%2) << 20, Keep: i % 2 * 1000}
			switch i % 4 {
			case 0: // another file
				c.Log.To = []string{path(fmt.Sprintf("%d.log", i%3))}
			case 2: // stdout, which is a file here
				c.Log.To = []string{logto.ToStdout}
			} // else only other options
		})
		testkit.Await(t, "requests", func() bool { return sent.Load() > before+20 })
	}
	stop.Store(true)
	clients.Wait()
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := out.Close(t.Context()); err != nil {
		t.Error(err)
	}
	events := map[string]int{} // by trace id and name
	var total uint64
	for _, file := range append(logFiles(t, dir), stdout.Name()) {
		for _, line := range logfiles.Lines(t, file) {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v in %q of %s", err, line, file)
			}
			events[e.TraceID+" "+e.Event]++
			total++
		}
	}
	for e, n := range events {
		if n != 1 {
			t.Errorf("%d times: %s", n, e)
		}
	}
	if want := 3 * int(sent.Load()); len(events) != want {
		t.Errorf("the files have %d events, want %d", len(events), want)
	}
	if s := out.Stats(); s.Emitted != total || s.Written != total || s.Waiting != 0 || s.Lost() != 0 {
		t.Errorf("the log counts %+v, want %d events", s, total)
	}
	var names []string
	for _, dest := range out.Destinations() {
		names = append(names, dest.To)
	}
	slices.SortFunc(names, cmp.Compare)
	if len(slices.Compact(names)) != len(out.Destinations()) {
		t.Errorf("a destination is counted twice: %q", names)
	}
}

// logFiles returns the files of a log whose destinations are in a folder.
func logFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestReloadReplacesAStalledLog removes a destination whose reader has stalled. The new one gets
// the next events, and the old one its events when the reader goes on.
func TestReloadReplacesAStalledLog(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	file := filepath.Join(t.TempDir(), "weir.log")
	cfg := doorConfig(upstream(t, hello).URL, func(c *config.Config) { c.Log.Heartbeat = 0 })
	out, err := logto.Open(cfg.Log.Config, logto.Options{Stdout: w, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	d := &testDoor{t: t, config: cfg, served: make(chan error, 1)}
	if d.Door, err = engines.New(cfg, out); err != nil {
		t.Fatal(err)
	}
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	client := httpClient(t)
	const first = 300 // their events exceed the buffer of the pipe
	for i := range first {
		get(t, client, d.url(fmt.Sprintf("/%d", i)))
	}
	d.reload(func(c *config.Config) { c.Log.To = []string{file} })
	get(t, client, d.url("/after"))
	testkit.Await(t, "the events in the new file", func() bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Count(string(text), `"/after"`) == 3
	})
	c := *d.config
	c.Log.To = []string{logto.ToStdout}
	if _, err := d.Reload(&c); err == nil || !strings.Contains(err.Error(), "still being closed") {
		t.Errorf("the stalled destination again: %v", err)
	}
	old := make(chan string)
	go func() {
		text, _ := io.ReadAll(r)
		old <- string(text)
	}()
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := out.Close(t.Context()); err != nil {
		t.Error(err)
	}
	w.Close()
	// The last event of the last request may be in either.
	if a, b := strings.Count(<-old, "\n"), len(logfiles.Lines(t, file)); a+b != 3*(first+1) || a < 3*first-1 {
		t.Errorf("the stalled destination has %d events, and the new one %d, want %d", a, b, 3*(first+1))
	}
	if s := out.Stats(); s.Written != 3*(first+1) || s.Lost() != 0 {
		t.Errorf("the log counts %+v", s)
	}
}

// listens reports whether an address accepts connections.
func listens(addr string) bool {
	c, err := net.Dial("tcp", addr)
	if err == nil {
		c.Close()
	}
	return err == nil
}
