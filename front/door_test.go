package front_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log/sink"
)

// testTimeout is the timeout for conditions that should hold soon. No passing test
// waits that long.
const testTimeout = 3 * time.Minute

// A testDoor is a front door on free ports of the loopback interface.
type testDoor struct {
	*front.Door
	t      testing.TB
	config *config.Config
	addr   string
	log    *logBook
	drain  context.CancelFunc
	served chan error   // receives the result of Serve
	close  func() error // drains the front door and returns the result of Serve
}

// openDoor starts a front door that forwards everything to the upstream "site"
// at the given URL, unless adjust changes the configuration. The end of the
// test drains it.
func openDoor(t testing.TB, upstream string, adjust ...func(*config.Config)) *testDoor {
	t.Helper()
	d := newDoor(t, upstream, adjust...)
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	return d
}

// newDoor returns the front door that openDoor starts.
func newDoor(t testing.TB, upstream string, adjust ...func(*config.Config)) *testDoor {
	t.Helper()
	cfg := doorConfig(upstream, adjust...)
	d := &testDoor{t: t, config: cfg, log: newLogBook(), served: make(chan error, 1)}
	var err error
	if d.Door, err = engines.New(cfg, sink.NewDirect(d.log)); err != nil {
		t.Fatal(err)
	}
	return d
}

func doorConfig(upstream string, adjust ...func(*config.Config)) *config.Config {
	cfg := config.Default()
	cfg.Listen, cfg.Admin = []string{"127.0.0.1:0"}, "127.0.0.1:0"
	cfg.Drain = config.Drain{Timeout: testTimeout}
	cfg.Engine = cmp.Or(os.Getenv("WEIR_ENGINE"), cfg.Engine) // make test runs all tests with each engine
	cfg.Upstreams = []upstreams.Upstream{{Name: "site", Servers: []upstreams.Server{{URL: upstream}}}}
	cfg.Routes = []config.Route{config.DefaultRoute("/{path...}", "site")}
	for _, f := range adjust {
		f(cfg)
	}
	return cfg
}

// serve serves until the test ends or close is called.
func (d *testDoor) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	d.addr, d.drain = d.Addrs()[0].String(), cancel
	go func() { d.served <- d.Serve(ctx) }()
	d.close = sync.OnceValue(func() error {
		d.drain()
		return d.awaitServe()
	})
	d.t.Cleanup(func() { d.close() })
}

// awaitServe returns the result of Serve.
func (d *testDoor) awaitServe() error {
	select {
	case err := <-d.served:
		return err
	case <-time.After(2 * testTimeout):
		d.t.Error("Serve does not return")
		return errors.New("still serving")
	}
}

func (d *testDoor) url(path string) string { return "http://" + d.addr + path }

// events waits for at least n events and returns all.
func (d *testDoor) events(n int) []event {
	d.t.Helper()
	return d.log.wait(d.t, n)
}

// completed waits for the completed event with the given path.
func (d *testDoor) completed(t testing.TB, path string) event {
	t.Helper()
	return d.log.find(t, func(e event) bool { return e.Event == "http request completed" && e.HTTP.Path == path })
}

// upstream starts a server that is used as an upstream.
func upstream(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := testkit.Serve(t, h)
	return s
}

// hello responds with 200 and a body of five bytes.
func hello(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }

// httpClient returns a client with its own connections.
func httpClient(t testing.TB) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{
		Transport:     tr,
		Timeout:       testTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// h2cClient returns an httpClient that uses HTTP/2 with prior knowledge.
func h2cClient(t testing.TB) *http.Client {
	c := httpClient(t)
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	c.Transport.(*http.Transport).Protocols = p
	return c
}

// do sends a request and returns the response and its body.
var do = testkit.Do

func get(t testing.TB, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, c, r)
}

// A rawConn is a client that sends raw bytes.
type rawConn struct {
	*net.TCPConn
	t testing.TB
	r *bufio.Reader
}

func dial(t testing.TB, addr string) *rawConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(testTimeout))
	return &rawConn{c.(*net.TCPConn), t, bufio.NewReader(c)}
}

func (c *rawConn) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatal(err)
	}
}

// response reads a response to a request with the given method, including its
// body.
func (c *rawConn) response(method string) (*http.Response, string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("reading a response: %v", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("reading a response's body: %v", err)
	}
	return resp, string(b)
}

// ask sends raw bytes on a new connection and returns the first response.
func ask(t testing.TB, addr, raw string) (*http.Response, string) {
	t.Helper()
	c := dial(t, addr)
	c.send(raw)
	method, _, _ := strings.Cut(raw, " ")
	return c.response(method)
}

// request reads a request with its body, or returns nil at the end.
func (c *rawConn) request() *http.Request {
	r, err := http.ReadRequest(c.r)
	if err != nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil
	}
	return r
}

// rawUpstream starts a server that calls serve for each connection, and returns
// its address. Connections are closed when serve returns or the test ends.
func rawUpstream(t testing.TB, serve func(c *rawConn)) string {
	t.Helper()
	return testkit.ServeConns(t, func(nc *net.TCPConn) { serve(&rawConn{nc, t, bufio.NewReader(nc)}) })
}

// A gate is closed until open is called, which may happen more than once.
type gate struct {
	once sync.Once
	ch   chan struct{}
}

func newGate(t testing.TB) *gate {
	g := &gate{ch: make(chan struct{})}
	t.Cleanup(g.open)
	return g
}

func (g *gate) open() { g.once.Do(func() { close(g.ch) }) }

// await waits until the gate is open.
func (g *gate) await(t testing.TB) {
	t.Helper()
	select {
	case <-g.ch:
	case <-time.After(testTimeout):
		t.Error("waited in vain")
	}
}

// repeat calls f again and again in n goroutines, each with a client of its own, until stop is
// called. stop waits for the last calls.
func repeat(t testing.TB, n int, f func(*http.Client)) (stop func()) {
	end := make(chan struct{})
	var running sync.WaitGroup
	for range n {
		running.Go(func() {
			c := httpClient(t)
			for {
				select {
				case <-end:
					return
				default:
					f(c)
				}
			}
		})
	}
	return func() {
		close(end)
		running.Wait()
	}
}
