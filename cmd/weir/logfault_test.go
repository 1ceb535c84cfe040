package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestEventsGoToStderrWithoutReader closes the pipe of stdout. From then on the events go to
// stderr.
func TestEventsGoToStderrWithoutReader(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := prepare(t, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	p.startInto(w)
	get(t, client(t), p.url()+"/seen")
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if parseEvent(t, line).Event == completed {
			break
		}
	}
	r.Close()
	const n = 50
	ask(t, p, "/diverted", n)
	testkit.AwaitEqual(t, "the events to be diverted", func() float64 { return metric(t, p.admin(), "weir_log_diverted_events_total") }, 3*n)
	if got := metric(t, p.admin(), "weir_log_events_dropped_total"); got != 0 {
		t.Errorf("weir_log_events_dropped_total = %v, want 0", got)
	}
	p.says("the log's stdout has no reader; its events go to stderr")
	p.signal(syscall.SIGTERM)
	p.wait(0)
	diverted := 0
	for line := range strings.Lines(p.stderr.String()) {
		if strings.HasPrefix(line, "{") && parseEvent(t, line).Event != totals {
			diverted++
		}
	}
	if diverted != 3*n {
		t.Errorf("stderr has %d events, want %d:\n%s", diverted, 3*n, p.stderr.String())
	}
}

// TestLostEventsAreCountedWithoutReader closes the pipe of stdout and stderr. The lost events
// are counted.
func TestLostEventsAreCountedWithoutReader(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := prepare(t, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	readGreeting(t, p, r)
	r.Close()
	const n = 50
	ask(t, p, "/lost", n)
	p.alive()
	testkit.AwaitEqual(t, "the lost events to be counted", func() float64 {
		return metric(t, p.admin(), "weir_log_events_dropped_total", `reason="write_error"`, `severity="info"`)
	}, 3*n)
	for name, want := range map[string]float64{
		"weir_log_events_emitted_total": 3 * n,
		"weir_log_events_written_total": 0,
		"weir_log_queue_events":         0,
	} {
		if got := metric(t, p.admin(), name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	p.signal(syscall.SIGTERM)
	p.wait(0)
}

// TestFullDiskKeepsEventsQueued has a log file that cannot be written. Its events stay queued
// until the door ends.
func TestFullDiskKeepsEventsQueued(t *testing.T) {
	t.Parallel()
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skipf("needs %s, which Linux has: %v", full, err)
	}
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, "log: {to: "+full+"}\n"+allTo(b.url()))
	const n = 50
	ask(t, p, "/waits", n)
	// The last event may be logged after the client has its response.
	testkit.AwaitEqual(t, "the events to wait", func() float64 { return metric(t, p.admin(), "weir_log_queue_events") }, 3*n)
	for _, name := range []string{"weir_log_events_dropped_total", "weir_log_events_written_total"} {
		if got := metric(t, p.admin(), name); got != 0 {
			t.Errorf("%s = %v, want 0", name, got)
		}
	}
	p.says("the log waits: /dev/full: .*no space left on device")
	p.signal(syscall.SIGTERM)
	p.wait(1)
	p.says("the log to /dev/full lacks 150 of 150 events")
	p.says("the log ends early: .*no space left on device: .*with 150 events to write")
}

// TestShedLogReportsItsLoss has a stalled log reader and a queue that fills quickly. Every
// request is answered. The metrics, stderr and, once it is read again, the log
// itself report the loss.
func TestShedLogReportsItsLoss(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := prepare(t, "serve", "--config", configFile(t, "log: {queue: {size: 32KiB}}\n"+allTo(b.url())))
	p.startInto(w)
	const n = 300 // 900 events of about 330 bytes: four times the capacity of pipe and queue
	ask(t, p, "/some", n)
	p.says("the log loses events: stdout: the queue is full")
	emitted := func() float64 { return metric(t, p.admin(), "weir_log_events_emitted_total") }
	testkit.AwaitEqual(t, "all events to be emitted", emitted, 3*n)
	dropped := metric(t, p.admin(), "weir_log_events_dropped_total", `reason="full"`, `severity="info"`)
	if dropped == 0 {
		t.Error("nothing was dropped")
	}
	if high := metric(t, p.admin(), "weir_log_queue_high_water_bytes"); high == 0 || high > 32<<10 {
		t.Errorf("weir_log_queue_high_water_bytes = %v, want up to %d", high, 32<<10)
	}
	p.signal(syscall.SIGTERM)
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	p.wait(0)
	emittedInAll := p.says(fmt.Sprintf(`the log to stdout lacks %v of (\d+) events .full info: %v.`, dropped, dropped))
	if want := strconv.Itoa(int(dropped) + strings.Count(string(text), "\n")); emittedInAll != want {
		t.Errorf("%s events were emitted, but %s are in the log or dropped", emittedInAll, want)
	}
	requests, gap, last := 0, 0.0, event{}
	for line := range strings.Lines(string(text)) {
		last = parseEvent(t, line)
		switch last.Event {
		case "log events dropped":
			gap += last.Data["count"].(map[string]any)["info"].(map[string]any)["full"].(float64)
		case totals:
		default:
			requests++
		}
	}
	if float64(requests)+dropped != 3*n || gap != dropped {
		t.Errorf("the log has %d events of requests and tells of %v dropped ones; dropped are %v of %d", requests,
			gap, dropped, 3*n)
	}
	if last.Event != totals || last.Data["dropped"] != dropped {
		t.Errorf("the log does not end with its totals: %s", last.line)
	}
}

// ask sends n requests and fails the test unless each gets 200.
func ask(t *testing.T, p *process, path string, n int) {
	t.Helper()
	c := client(t)
	for range n {
		if a := get(t, c, p.url()+path); a.StatusCode != 200 {
			t.Fatalf("%s: %s", path, a.Status)
		}
	}
}

// TestMovedLogFilesLoseNoEvent renames the log file ten times while requests arrive, each time
// followed by SIGHUP or SIGUSR1. Every event is in exactly one of the files.
func TestMovedLogFilesLoseNoEvent(t *testing.T) {
	t.Parallel()
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	dir := t.TempDir()
	log := filepath.Join(dir, "weir.log")
	p := door(t, "log: {to: [stdout, "+log+"], heartbeat: off}\n"+allTo(b.url()))
	var answered atomic.Int64
	url := p.url()
	stop := repeatedly(t, 3, func(c *http.Client) bool {
		resp, err := c.Get(fmt.Sprintf("%s/%d", url, answered.Add(1)))
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("while the file moves: %v, %v", resp, err)
			return false
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return true
	})
	for i := range 10 {
		before := answered.Load()
		testkit.Await(t, "requests", func() bool { return answered.Load() > before+20 })
		if err := os.Rename(log, fmt.Sprintf("%s.%d", log, i)); err != nil {
			t.Fatal(err)
		}
		p.signal([]syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1}[i%2])
		testkit.Await(t, "a new file", func() bool { _, err := os.Stat(log); return err == nil })
	}
	stop()
	p.signal(syscall.SIGTERM)
	p.wait(0)

	files, err := filepath.Glob(log + "*")
	if err != nil || len(files) != 11 {
		t.Fatalf("%d files, %v; want 11", len(files), err)
	}
	want := 3 * int(answered.Load())
	moved := map[string]int{}
	for _, file := range files {
		countEvents(t, file, moved)
	}
	streamed := map[string]int{}
	countEvents(t, p.stdout, streamed)
	if len(moved) != want || len(streamed) != want {
		t.Errorf("the files have %d events, stdout has %d, want %d", len(moved), len(streamed), want)
	}
	for id, n := range moved {
		if n != 1 || streamed[id] != 1 {
			t.Errorf("%s: %d times in the files, %d on stdout", id, n, streamed[id])
		}
	}
}

// countEvents counts the events of each request in a file of complete lines.
func countEvents(t *testing.T, file string, counts map[string]int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		e := parseEvent(t, line)
		counts[e.HTTP.Path+" "+e.Event]++
	}
}
