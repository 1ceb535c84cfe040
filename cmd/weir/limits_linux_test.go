package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	proc "github.com/weirhq/weir/internal/process"
	"github.com/weirhq/weir/internal/testkit"
)

// limitedDoor starts a door with a limit of open files.
func limitedDoor(t *testing.T, files uint64, config string) *process {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	p := prepare(t, "serve", "--config", configFile(t, config))
	// The shell sets both limits for the process that it execs.
	sh := "ulimit -n " + fmt.Sprint(files) + ` && exec "$0" "$@"`
	p.cmd.Args = append([]string{"sh", "-c", sh, p.cmd.Path}, p.cmd.Args[1:]...)
	p.cmd.Path = "/bin/sh"
	if _, err := os.Stat(p.cmd.Path); err != nil {
		t.Skipf("needs a shell to limit open files: %v", err)
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// needFiles skips the test if it may not have that many open files.
func needFiles(t *testing.T, n uint64) {
	t.Helper()
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Cur < n {
		t.Skipf("needs %d open files and may have %d: %v", n, l.Cur, err)
	}
}

// outcomes counts the outcomes of requests.
type outcomes struct {
	ok, refused, failed atomic.Int64
	mu                  sync.Mutex      // guards the fields below
	why                 map[string]int  // errors of failed requests
	refusedAfter        []time.Duration // time until the refusal
}

func (y *outcomes) refuse(took time.Duration) {
	y.refused.Add(1)
	y.mu.Lock()
	defer y.mu.Unlock()
	y.refusedAfter = append(y.refusedAfter, took)
}

func (y *outcomes) fail(err error) {
	y.failed.Add(1)
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.why == nil {
		y.why = make(map[string]int)
	}
	y.why[fmt.Sprint(err)]++
}

// exchange sends a request on a connection and reads the response.
func exchange(c net.Conn, r *bufio.Reader) (status int, last bool, err error) {
	resp, err := exchangeAt(c, r, "/")
	if err != nil {
		return 0, true, err
	}
	return resp.StatusCode, resp.Close, nil
}

// exchangeAt is exchange with a target. It has read the body.
func exchangeAt(c net.Conn, r *bufio.Reader, target string) (*http.Response, error) {
	if _, err := io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp, err
}

// TestFewFilesFailNoEarlierClient opens 1,000 connections to a door that may have 256 open files,
// while earlier clients go on. The process survives, no earlier client fails, the
// others are refused immediately, and the door recovers when they are gone. In
// soak the connections come one after the other, 2,000 per second: all at once
// they would wait for each other on the door's cores.
func TestFewFilesFailNoEarlierClient(t *testing.T) {
	t.Parallel()
	needFiles(t, 2500)
	clients, lasting := 1000, inSoak(2*time.Second, 20*time.Second)
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := limitedDoor(t, 256, "log: {events: completed}\n"+allTo(b.url()))
	addr := strings.TrimPrefix(p.url(), "http://")

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var established, knocking outcomes
	var running sync.WaitGroup
	for range 20 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(c)
		if status, _, err := exchange(c, r); status != 200 || err != nil {
			t.Fatalf("before the crowd: %d, %v", status, err)
		}
		running.Go(func() {
			defer c.Close()
			for ctx.Err() == nil {
				status, _, err := exchange(c, r)
				if status != 200 || err != nil {
					established.fail(fmt.Errorf("%d %w", status, err))
					return
				}
				established.ok.Add(1)
				pause(ctx, 20*time.Millisecond)
			}
		})
	}
	const every = 500 * time.Millisecond
	for i := range clients {
		running.Go(func() {
			if soaking {
				pause(ctx, every*time.Duration(i)/time.Duration(clients))
			}
			for ctx.Err() == nil {
				knock(ctx, addr, &knocking)
				pause(ctx, every)
			}
		})
	}
	began, cpu := time.Now(), cpuTime(t, p.cmd.Process.Pid)
	health := client(t)
	var healthy int
	each := func() bool {
		return healthy > 0 && established.ok.Load() > 0 && knocking.ok.Load() > 0 && knocking.refused.Load() > 0
	}
	for time.Since(began) < lasting || !each() && time.Since(began) < patience {
		if a := get(t, health, p.admin()+"/healthz"); a.StatusCode == 200 {
			healthy++
		}
		health.CloseIdleConnections() // a new connection for each request
		pause(ctx, 100*time.Millisecond)
	}
	cores := float64(cpuTime(t, p.cmd.Process.Pid)-cpu) / float64(time.Since(began))
	stop()
	running.Wait()
	p.alive()
	slowest := slices.Max(append(knocking.refusedAfter, 0))
	t.Logf("established: %d ok, %d failed; knocking: %d ok, %d refused (p99 after %v, slowest after %v), %d "+
		"failed; health checks: %d; CPU: %.2f of %d cores",
		established.ok.Load(), established.failed.Load(), knocking.ok.Load(), knocking.refused.Load(),
		p99(knocking.refusedAfter), slowest, knocking.failed.Load(), healthy, cores, runtime.NumCPU())
	if established.failed.Load() > 0 || established.ok.Load() == 0 {
		t.Errorf("of those that were in, %d requests failed: %v", established.failed.Load(), established.why)
	}
	if knocking.ok.Load() == 0 || knocking.refused.Load() == 0 {
		t.Error("want some of the crowd to be let in, and some to be refused")
	}
	if all := knocking.ok.Load() + knocking.refused.Load() + knocking.failed.Load(); knocking.failed.Load() > all/100 {
		t.Errorf("%d of %d in the crowd had neither a response nor a refusal: %v", knocking.failed.Load(),
			all, knocking.why)
	}
	if healthy == 0 {
		t.Error("no health check was answered")
	}

	began = time.Now()
	c := client(t)
	testkit.Await(t, "a request to be answered", func() bool {
		resp, err := c.Get(p.url() + "/after")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == 200
	})
	recovered := time.Since(began)
	t.Logf("recovered after %v", recovered)
	if soaking {
		const soon = 50 * time.Millisecond
		if p99 := p99(knocking.refusedAfter); p99 > soon || slowest > soon+slack {
			t.Errorf("refused after %v (p99) and %v at most, want %v", p99, slowest, soon)
		}
		if most := 0.2 * float64(runtime.NumCPU()); cores > most {
			t.Errorf("%.2f cores are used, want %.2f at most", cores, most)
		}
		if recovered > 100*time.Millisecond {
			t.Errorf("recovered after %v, want 100ms at most", recovered)
		}
	}
	c.CloseIdleConnections()
	testkit.AwaitEqual(t, "no connection to be open", func() float64 { return metric(t, p.admin(), "weir_limit_in_use", `limit="max_connections"`) }, 0)
	refused := metric(t, p.admin(), "weir_limit_refusals_total", `limit="max_connections"`) +
		metric(t, p.admin(), "weir_limit_refusals_total", `limit="open_files"`)
	if refused < float64(knocking.refused.Load()) {
		t.Errorf("%v refusals are counted, %d were received", refused, knocking.refused.Load())
	}
	if failed := metric(t, p.admin(), "weir_upstream_errors_total"); failed != 0 {
		t.Errorf("%v failures of the upstream are counted", failed)
	}
}

// knock opens a connection for a few requests.
func knock(ctx context.Context, addr string, y *outcomes) {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		y.fail(err)
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Now().Add(patience)) })()
	r := bufio.NewReader(c)
	began := time.Now()
	for range 3 {
		status, last, err := exchange(c, r)
		switch {
		case err != nil:
			y.fail(err)
			return
		case status == 503:
			y.refuse(time.Since(began))
			return
		case status != 200:
			y.fail(fmt.Errorf("status %d", status))
			return
		}
		y.ok.Add(1)
		if last {
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// TestDoorSurvivesWithoutFiles takes all files from a running door and gives them back. The door
// neither exits nor spins, responds with 503, and responds to health checks.
func TestDoorSurvivesWithoutFiles(t *testing.T) {
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, allTo(b.url()))
	addr := strings.TrimPrefix(p.url(), "http://")
	p.admin()
	pid := p.cmd.Process.Pid
	before := fileLimit(t, p)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	if status, _, err := exchange(c, r); status != 200 || err != nil {
		t.Fatalf("%d, %v", status, err)
	}
	few := before
	few.Cur = uint64(testkit.Descriptors(t, p.cmd.Process.Pid)) // the lowest free number is this high
	setFileLimit(t, p, few)
	refused := 0
	cpu := cpuTime(t, pid)
	began := time.Now()
	for range 20 {
		d, err := net.DialTimeout("tcp", addr, patience)
		if err != nil {
			t.Fatal(err)
		}
		d.SetDeadline(time.Now().Add(patience))
		status, _, err := exchange(d, bufio.NewReader(d))
		closeBothSides(d)
		switch {
		case status == 503 || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE):
			refused++
		case status != 200: // it evicted an idle connection to the upstream
			t.Fatalf("without a file: %d, %v; want 503 or a reset", status, err)
		}
		if status, _, err := exchange(c, r); status != 200 || err != nil {
			t.Fatalf("a connection of before: %d, %v", status, err)
		}
	}
	if a := get(t, client(t), p.admin()+"/healthz"); a.StatusCode != 200 {
		t.Errorf("health: %s", a.Status)
	}
	pause(t.Context(), time.Second)
	took, used := time.Since(began), cpuTime(t, pid)-cpu
	t.Logf("%v of CPU in %v", used, took)
	if used > took/2 {
		t.Errorf("%v of CPU in %v without a file: it spins", used, took)
	}
	p.alive()
	if n := metric(t, p.admin(), "weir_limit_refusals_total", `limit="open_files"`); n < float64(refused) {
		t.Errorf("%v refusals for want of a file are counted, want %d", n, refused)
	}
	setFileLimit(t, p, before)
	if a := get(t, client(t), p.url()+"/"); a.StatusCode != 200 {
		t.Errorf("with files again: %s", a.Status)
	}
}

// closeBothSides returns when the peer has closed the connection too, and its file
// is free again.
func closeBothSides(c net.Conn) {
	c.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, c)
	c.Close()
}

// exchangeWithoutFiles sends requests on one connection of a door and checks the statuses. The
// door may open no file for those that want 503.
func exchangeWithoutFiles(t *testing.T, p *process, statuses ...int) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	all := fileLimit(t, p)
	none := all
	none.Cur = 3 // below every free number
	for _, want := range statuses {
		limit := all
		if want == 503 {
			limit = none
		}
		setFileLimit(t, p, limit)
		if status, _, err := exchange(c, r); status != want || err != nil {
			t.Fatalf("with %d files: %d, %v; want %d", limit.Cur, status, err, want)
		}
	}
}

// fileLimit returns the limit of open files of a process.
func fileLimit(t *testing.T, p *process) (l unix.Rlimit) {
	t.Helper()
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &l); err != nil {
		t.Skipf("needs prlimit(2) on its own child: %v", err)
	}
	return l
}

// setFileLimit sets the limit of open files of a process.
func setFileLimit(t *testing.T, p *process, l unix.Rlimit) {
	t.Helper()
	if err := unix.Prlimit(p.cmd.Process.Pid, unix.RLIMIT_NOFILE, &l, nil); err != nil {
		t.Fatal(err)
	}
}

// TestMissingFileIsNotBlamedOnUpstream lowers the file limit so that no upstream connection can
// be opened. The client gets 503 with Retry-After, and the upstream is not marked
// as failed.
func TestMissingFileIsNotBlamedOnUpstream(t *testing.T) {
	t.Parallel()
	b := start(t, "backend", "--listen", "127.0.0.1:0", "--header", "Connection: close")
	p := door(t, allTo(b.url()))
	exchangeWithoutFiles(t, p, 200, 503, 503, 200)
	if n := metric(t, p.admin(), "weir_limit_refusals_total", `limit="open_files"`); n != 2 {
		t.Errorf("%v refusals for want of a file are counted, want 2", n)
	}
	if n := metric(t, p.admin(), "weir_upstream_errors_total", ""); n != 0 {
		t.Errorf("the upstream is blamed for %v failures", n)
	}
}

// TestUpstreamGetsAnUnusedFileOfAnother leaves the door no free file while it keeps unused
// connections to one upstream, and sends as many requests to another upstream at the
// same time. Each gets the file of an unused connection, whichever loop has it.
func TestUpstreamGetsAnUnusedFileOfAnother(t *testing.T) {
	const clients = 16
	first := start(t, "backend", "--listen", "127.0.0.1:0", "--latency", "200ms")
	second := start(t, "backend", "--listen", "127.0.0.1:0", "--latency", "200ms")
	p := door(t, fmt.Sprintf("upstreams: {first: {servers: [%q]}, second: {servers: [%q]}}\n"+
		"routes: [{match: /first, to: first}, {match: /second, to: second}]\n", first.url(), second.url()))
	var conns [clients]net.Conn
	var readers [clients]*bufio.Reader
	for i := range conns {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.url(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[i], readers[i] = c, bufio.NewReader(c)
	}
	fromAll := func(target string) {
		t.Helper()
		var wg sync.WaitGroup
		for i := range conns {
			wg.Go(func() {
				if a, err := exchangeAt(conns[i], readers[i], target); err != nil || a.StatusCode != 200 {
					t.Errorf("%s: %v, %v; want 200", target, a, err)
				}
			})
		}
		wg.Wait()
	}
	fromAll("/first")
	few := fileLimit(t, p)
	few.Cur = uint64(testkit.Descriptors(t, p.cmd.Process.Pid)) // the lowest free number is this high
	setFileLimit(t, p, few)
	fromAll("/second")
}

// cpuTime returns the CPU time that a process has used.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := proc.ReadStat(pid)
	if err != nil {
		t.Skipf("needs /proc: %v", err)
	}
	return stat.User + stat.System
}

// slack is for a machine that also runs the clients and other tests.
const slack = 50 * time.Millisecond

func p99(d []time.Duration) time.Duration { return quantile(d, 99) }

// quantile sorts d and returns the given percentile.
func quantile(d []time.Duration, percent int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[len(d)*percent/100]
}

// TestFolderWithoutFreeFileGives503 lowers the file limit so that no file of a folder can be opened.
func TestFolderWithoutFreeFileGives503(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "index.html"), []byte("home"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := door(t, "upstreams: {a: {servers: http://127.0.0.1:1}}\nroutes: [{match: '/{path...}', files: {root: "+root+"}}]\n")
	exchangeWithoutFiles(t, p, 200, 503, 200)
	if n := metric(t, p.admin(), "weir_limit_refusals_total", `limit="open_files"`); n != 1 {
		t.Errorf("%v refusals for want of a file are counted, want 1", n)
	}
}
