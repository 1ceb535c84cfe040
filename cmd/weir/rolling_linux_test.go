package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestRollingRestartFailsNoRequest restarts three front doors of a load balancer, one after the other, while
// clients send GET and POST requests. None fails, each POST reaches the upstream once, and the events of
// the front doors are complete.
func TestRollingRestartFailsNoRequest(t *testing.T) {
	t.Parallel()
	type setup struct{ balancer, engine string }
	all := []setup{{"haproxy", "loops"}, {"nginx", "goroutines"}}
	if soaking {
		all = append(all, setup{"haproxy", "goroutines"}, setup{"nginx", "loops"})
	}
	for _, s := range all {
		t.Run(s.balancer+" "+s.engine, func(t *testing.T) {
			t.Parallel()
			testRollingRestart(t, s.balancer, s.engine)
		})
	}
}

// A fleet is three front doors, each at an address of the loopback network of its own.
type fleet struct {
	t       *testing.T
	config  string    // listens on :8080, with the admin listener on :20001
	ports   [2]string // of the listener and of the admin listener
	running [3]*process
	outputs []string // the files with the events of all processes
}

// startFleet starts three front doors with the same configuration.
func startFleet(t *testing.T, config string) *fleet {
	t.Helper()
	f := &fleet{t: t, config: config}
	for i := range f.ports {
		_, f.ports[i], _ = net.SplitHostPort(peer.FreeAddress(t))
	}
	for n := range f.running {
		f.start(n)
	}
	return f
}

func (f *fleet) host(n int) string { return fmt.Sprintf("127.0.0.%d", 11+n) }

func (f *fleet) start(n int) {
	f.t.Helper()
	file := filepath.Join(f.t.TempDir(), "weir.yaml")
	text := strings.NewReplacer(`":8080"`, f.host(n)+":"+f.ports[0], `":20001"`, f.host(n)+":"+f.ports[1]).Replace(f.config)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.running[n] = start(f.t, "serve", "--config", file)
	f.running[n].says("admin on")
	f.outputs = append(f.outputs, f.running[n].stdout)
}

// awaitRequests waits until the load balancer sends requests to a front door.
func (f *fleet) awaitRequests(n int) {
	f.t.Helper()
	testkit.Await(f.t, fmt.Sprintf("requests at %s", f.host(n)), func() bool {
		info, err := os.Stat(f.running[n].stdout)
		return err == nil && info.Size() > 0
	})
}

// completed returns how often each path is in an event, all of which are completed requests with the
// status 200.
func (f *fleet) completed() map[string]int {
	f.t.Helper()
	paths := make(map[string]int)
	for _, name := range f.outputs {
		text, err := os.ReadFile(name)
		if err != nil {
			f.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			e := parseEvent(f.t, line)
			if e.Event == totals {
				continue
			}
			if e.Event != completed || e.status() != 200 {
				f.t.Errorf("the event %s", line)
			}
			paths[e.HTTP.Path]++
		}
	}
	return paths
}

// startBalancer starts HAProxy or nginx with its configuration in deploy/balancer before the front doors,
// and returns its address.
func (f *fleet) startBalancer(name string) string {
	f.t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		f.t.Skipf("needs %s: %v", name, err)
	}
	address := peer.FreeAddress(f.t)
	files := map[string]string{"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}
	text, err := os.ReadFile(filepath.Join(deployFolder, "balancer", files[name]))
	if err != nil {
		f.t.Fatal(err)
	}
	pairs := []string{"bind :8080", "bind " + address, "listen 8080", "listen " + address, "port 20001", "port " + f.ports[1]}
	for n := range f.running {
		pairs = append(pairs, fmt.Sprintf("door-%d:8080", n+1), f.host(n)+":"+f.ports[0])
	}
	folder := f.t.TempDir()
	changed := strings.NewReplacer(pairs...).Replace(string(text))
	if err := os.WriteFile(filepath.Join(folder, files[name]), []byte(changed), 0o644); err != nil {
		f.t.Fatal(err)
	}
	if name == "haproxy" {
		runMover(f.t, folder, address, name, "-db", "-f", files[name])
	} else {
		runMover(f.t, folder, address, name, "-p", ".", "-c", files[name], "-g", "daemon off; pid nginx.pid; error_log nginx.log;")
	}
	return address
}

// A numbered client sends requests, each with a path of its own, on a connection that it uses as long
// as the server permits.
type numberedClient struct {
	pooledConn
	next   *atomic.Int64
	failed *atomic.Int64
	first  *atomic.Value // the first error
}

func (c *numberedClient) run(ended <-chan struct{}) {
	defer c.close()
	tick := time.NewTicker(inSoak(40*time.Millisecond, 20*time.Millisecond))
	defer tick.Stop()
	for {
		n := c.next.Add(1)
		request := fmt.Sprintf("GET /n/%d HTTP/1.1\r\nHost: a\r\n\r\n", n)
		if n%2 == 0 {
			request = fmt.Sprintf("POST /n/%d HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", n)
		}
		if err := c.roundTrip(request); err != nil {
			c.failed.Add(1)
			c.first.CompareAndSwap(nil, fmt.Sprintf("request %d: %v", n, err))
		}
		select {
		case <-tick.C:
		case <-ended:
			return
		}
	}
}

func testRollingRestart(t *testing.T, balancer, engine string) {
	var mu sync.Mutex
	served := make(map[string]int) // guarded by mu
	site := testkit.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		defer mu.Unlock()
		served[r.URL.Path]++
	}))
	// The delay is longer than in docs, because a busy balancer closes its unused connections late.
	f := startFleet(t, "listen: \":8080\"\nadmin: \":20001\"\nengine: "+engine+"\ndrain: {delay: 8s, timeout: 30s}\n"+
		"log: {events: completed}\n"+allTo(site.URL))
	address := f.startBalancer(balancer)

	var next, failed atomic.Int64
	var first atomic.Value
	var running sync.WaitGroup
	ended := make(chan struct{})
	stop := sync.OnceFunc(func() {
		close(ended)
		running.Wait()
	})
	t.Cleanup(stop)
	for range inSoak(4, 50) {
		c := &numberedClient{pooledConn{addr: address}, &next, &failed, &first}
		running.Go(func() { c.run(ended) })
	}
	for n := range f.running {
		f.awaitRequests(n)
	}
	for range inSoak(1, 5) {
		for n, p := range f.running {
			p.signal(syscall.SIGTERM)
			p.wait(0)
			f.start(n)
			f.awaitRequests(n)
		}
	}
	stop()
	for _, p := range f.running {
		p.signal(syscall.SIGTERM)
	}
	for _, p := range f.running {
		p.wait(0)
	}
	if n := failed.Load(); n > 0 {
		t.Errorf("%d of %d requests failed, the first: %v", n, next.Load(), first.Load())
	}
	events := f.completed()
	again := 0
	for n := range next.Load() {
		path := fmt.Sprintf("/n/%d", n+1)
		if served[path] == 0 || served[path] != events[path] || served[path] > 1 && (n+1)%2 == 0 {
			t.Errorf("%s was served %d times, and has %d events", path, served[path], events[path])
		}
		again += served[path] - 1
	}
	t.Logf("%d requests, %d GET requests sent again by %s", next.Load(), again, balancer)
}
