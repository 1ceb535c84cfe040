package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// TestAllFaultsAtOnceLeakNothing combines every fault of clients, upstream and log, for half
// an hour in soak. Memory stays within the configured bounds, good requests are
// answered, every event is accounted for, and in the end no file or goroutine is
// leaked.
func TestAllFaultsAtOnceLeakNothing(t *testing.T) {
	const connections, inFlight, queue = 200, 100, 1 << 20
	needFiles(t, 4*connections)
	back := httptest.NewServer(http.HandlerFunc(faultyAnswer))
	defer back.Close()
	p := prepare(t, "serve", "--config", configFile(t, fmt.Sprintf(
		"log: {queue: {size: 1MiB}}\nlimits: {max_connections: %d, in_flight: %d, queue: {length: 50, wait: 50ms}, "+
			"client_timeouts: {header: 1s}}\n"+
			"defaults: {limits: {client_timeouts: {read: 1s, write: 1s}, upload_rate: 1KiB/s, download_rate: 1KiB/s}}\n", connections,
		inFlight)+allTo(back.URL)))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.startInto(w)
	length := inSoak(4*time.Second, 30*time.Minute)
	ctx, stop := context.WithTimeout(t.Context(), length+patience)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { readInStretches(ctx, r) })

	addr := strings.TrimPrefix(p.url(), "http://")
	for range 100 {
		misbehave(ctx, addr, 0)
	}
	// Idle connections to the upstream are no leak.
	filesBeside := func() int {
		return testkit.Descriptors(t, p.cmd.Process.Pid) - int(metric(t, p.admin(), "weir_limit_in_use", `limit="upstream_connections"`))
	}
	base, files, routines := residentMemory(t, p), filesBeside(), goroutines(t, p)
	var good atomic.Int64
	for i := range connections + 50 {
		running.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				if misbehave(ctx, addr, n) {
					good.Add(1)
				}
			}
		})
	}
	held := []int64{base}
	// A busy machine needs more than the length for the first good request.
	for end := time.Now().Add(length); time.Now().Before(end) || good.Load() == 0 && ctx.Err() == nil; {
		held = append(held, residentMemory(t, p))
		pause(ctx, 50*time.Millisecond)
	}
	stop()
	running.Wait()

	// A connection may hold a header of 64 KiB and two buffers of 32 KiB, and one
	// to the upstream two buffers. The heap may grow by 16 MiB between two
	// collections.
	bound := (base + queue + connections*128<<10 + inFlight*64<<10 + 16<<20) * 12 / 10
	tenth := func(n int) int64 {
		from := len(held) * n / 10
		// a busy machine takes fewer than ten samples
		return slices.Max(held[from:max(len(held)*(n+1)/10, from+1)]) >> 20
	}
	held = append(held, residentMemory(t, p))
	most := slices.Max(held)
	t.Logf("%d good requests; MiB of memory: %d at the start, at most %d in the first tenth, %d in the fifth, %d "+
		"in the last, %d at the end; %d in all, %d are allowed",
		good.Load(), base>>20, tenth(0), tenth(4), tenth(9), held[len(held)-1]>>20, most>>20, bound>>20)
	if most > bound && !raceEnabled { // the race detector multiplies memory
		t.Errorf("the process held %d MiB, want %d at most", most>>20, bound>>20)
	}
	if good.Load() == 0 {
		t.Error("no good request was answered")
	}
	testkit.Await(t, "an empty queue whose events add up", func() bool {
		var lost float64
		for _, reason := range []string{"closed", "full", "write_error"} {
			for _, severity := range []string{"debug", "info", "warn", "error", "fatal"} {
				lost += metric(t, p.admin(), "weir_log_events_dropped_total", `reason="`+reason+`"`,
					`severity="`+severity+`"`)
			}
		}
		return metric(t, p.admin(), "weir_log_queue_events") == 0 &&
			metric(t, p.admin(), "weir_log_events_emitted_total") == metric(t, p.admin(),
				"weir_log_events_written_total")+lost
	})
	t.Logf("files %d -> %d, goroutines %d -> %d", files, filesBeside(), routines, goroutines(t, p))
	testkit.Await(t, fmt.Sprintf("no more than the %d files of the beginning", files),
		func() bool { return filesBeside() <= files })
	// Each event loop keeps some coroutines, which count as goroutines.
	most = int64(routines + 16*runtime.GOMAXPROCS(0))
	testkit.Await(t, fmt.Sprintf("at most %d goroutines, after %d at the beginning", most, routines),
		func() bool { return int64(goroutines(t, p)) <= most })
}

// faultyAnswer responds as the path asks.
func faultyAnswer(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/reset":
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	case "/stall":
		pause(r.Context(), time.Second)
	case "/large":
		io.Copy(w, io.LimitReader(endlessly{}, 4<<20))
	default:
		io.Copy(io.Discard, r.Body)
	}
}

// endlessly is a reader of the letter x.
type endlessly struct{}

func (endlessly) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// misbehave runs client behaviour number n. It reports whether a good request was
// answered.
func misbehave(ctx context.Context, addr string, n int) (good bool) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		pause(ctx, 10*time.Millisecond)
		return false
	}
	defer c.Close()
	things := []struct {
		sent string
		stay time.Duration
	}{
		{"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 0},
		{"GET /reset HTTP/1.1\r\nHost: a\r\n\r\n", 20 * time.Millisecond},
		{"GET /stall HTTP/1.1\r\nHost: a\r\n\r\n", 50 * time.Millisecond},
		{"GET /large HTTP/1.1\r\nHost: a\r\n\r\n", 300 * time.Millisecond},
		{"GET / HTTP/1.1\r\nHost: a\r\nX-Half: ", 300 * time.Millisecond},
		{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nhalf", 300 * time.Millisecond},
		{"\x16\x03\x01\x00\xa5 no HTTP at all\r\n\r\n", 20 * time.Millisecond},
		{"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + strings.Repeat("x", 100_000) + "\r\n\r\n", 20 * time.Millisecond},
	}
	thing := things[n%len(things)]
	if _, err := io.WriteString(c, thing.sent); err != nil {
		return false
	}
	if thing.stay > 0 {
		pause(ctx, thing.stay)
		return false
	}
	answer, _ := io.ReadAll(c)
	return strings.HasPrefix(string(answer), "HTTP/1.1 200 ")
}

// readInStretches alternates between reading the log and pausing for as long,
// until ctx ends. Then it reads to the end of the pipe.
func readInStretches(ctx context.Context, r *os.File) {
	buffer := make([]byte, 64<<10)
	still := time.Now().Add(300 * time.Millisecond)
	for ctx.Err() == nil {
		if time.Now().After(still) {
			pause(ctx, 300*time.Millisecond)
			still = time.Now().Add(300 * time.Millisecond)
		}
		if _, err := r.Read(buffer); err != nil {
			return
		}
	}
	go func() {
		defer r.Close()
		io.Copy(io.Discard, r)
	}()
}

// goroutines returns the number of goroutines of the process.
func goroutines(t *testing.T, p *process) int {
	t.Helper()
	c := client(t)
	defer c.CloseIdleConnections()
	a := get(t, c, p.admin()+"/debug/pprof/goroutine?debug=1")
	var n int
	if _, err := fmt.Sscanf(a.body, "goroutine profile: total %d", &n); err != nil {
		t.Fatalf("%v in %.60q", err, a.body)
	}
	return n
}
