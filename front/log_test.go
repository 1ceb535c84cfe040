package front_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// openLog opens a log with files as its streams, and closes it when the test
// ends.
func openLog(t *testing.T, cfg *config.Config, complain func(error)) (l *front.Log, stdout, stderr *os.File) {
	t.Helper()
	dir := t.TempDir()
	stdout, stderr = create(t, filepath.Join(dir, "stdout")), create(t, filepath.Join(dir, "stderr"))
	l, err := front.OpenLog(cfg, front.LogOptions{Stdout: stdout, Stderr: stderr, Complain: complain})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(t.Context()) })
	return l, stdout, stderr
}

func create(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		t.Errorf("%s ends in the middle of a line", file)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// TestLogGoesEverywhere logs from several goroutines to two streams and a file.
// Each gets all events, and the totals at the end.
func TestLogGoesEverywhere(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	file := filepath.Join(t.TempDir(), "weir.log")
	cfg.Log.To = []string{config.LogToStdout, file, config.LogToStderr}
	l, stdout, stderr := openLog(t, cfg, nil)
	const producers, each = 4, 500
	logger := log.New(l, log.Options{Namespace: cfg.Namespace})
	var all sync.WaitGroup
	for p := range producers {
		all.Go(func() {
			for i := range each {
				logger.Info("counted").Str("id", fmt.Sprintf("%d/%d", p, i)).Send()
			}
		})
	}
	all.Wait()
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{stdout.Name(), file, stderr.Name()} {
		seen := map[string]bool{}
		for _, line := range lines(t, name) {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v in %q", err, line)
			}
			if e.Event == "counted" {
				seen[e.Data["id"].(string)] = true
			} else if e.Event != "log totals" || e.Namespace != cfg.Namespace {
				t.Errorf("%s has the event %s", name, line)
			}
		}
		if len(seen) != producers*each {
			t.Errorf("%s has %d events, want %d", name, len(seen), producers*each)
		}
	}
	if s := l.Stats(); s.Emitted != 3*(producers*each+1) || s.Written != s.Emitted || s.Lost() != 0 || s.Waiting != 0 {
		t.Errorf("the log counts %+v, want %d events, written all", s, 3*(producers*each+1))
	}
	for i, d := range l.Destinations() {
		if d.To != cfg.Log.To[i] || d.Stats.Written != producers*each+1 {
			t.Errorf("destination %d is %s and has %d events", i, d.To, d.Stats.Written)
		}
	}
	if _, err := l.Write([]byte("{}\n")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close, Write returns %v, want %v", err, os.ErrClosed)
	}
}

// TestLogRotates rotates a file by size, moves it, and reopens it. No event is
// lost.
func TestLogRotates(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	dir := t.TempDir()
	file := filepath.Join(dir, "weir.log")
	cfg.Log.To, cfg.Log.Rotate.Size, cfg.Log.Heartbeat = []string{file}, 16<<10, 0
	l, _, _ := openLog(t, cfg, func(err error) { t.Error(err) })
	const n = 1000
	for i := range n {
		fmt.Fprintf(l, `{"event":"counted","data":{"id":"%d","more":"%s"}}`+"\n", i, strings.Repeat("x", 100))
		if i == n/2 {
			if err := l.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(file, filepath.Join(dir, "moved")); err != nil {
				t.Fatal(err)
			}
			if err := l.Reopen(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < n*140/cfgSize(cfg) {
		t.Errorf("%d files, want at least %d", len(files), n*140/cfgSize(cfg))
	}
	seen := map[string]bool{}
	for _, f := range files {
		for _, line := range lines(t, filepath.Join(dir, f.Name())) {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v in %q", err, line)
			}
			seen[e.Data["id"].(string)] = true
		}
	}
	if len(seen) != n {
		t.Errorf("the files have %d events, want %d", len(seen), n)
	}
}

func cfgSize(cfg *config.Config) int { return int(cfg.Log.Rotate.Size) }

// TestOpenLogFails checks that the error names the destination, and that no
// goroutine or open file remains.
func TestOpenLogFails(t *testing.T) {
	cfg := config.Default()
	missing := filepath.Join(t.TempDir(), "no", "such", "folder", "weir.log")
	cfg.Log.To = []string{config.LogToStdout, missing}
	_, err := front.OpenLog(cfg, front.LogOptions{Stdout: os.Stdout, Stderr: os.Stderr})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "log.to: ") ||
		!strings.Contains(err.Error(), missing) {
		t.Errorf("OpenLog: %v, want one that names log.to and %s", err, missing)
	}
	cfg.Log.To, cfg.Log.Queue.WhenFull = []string{config.LogToStdout}, "explode"
	if _, err := front.OpenLog(cfg, front.LogOptions{Stdout: os.Stdout, Stderr: os.Stderr}); err == nil ||
		!strings.Contains(err.Error(), "log.queue.when_full") {
		t.Errorf("OpenLog: %v, want one that names log.queue.when_full", err)
	}
}

// TestOneFileTwice uses two names of one file.
func TestOneFileTwice(t *testing.T) {
	dir := t.TempDir()
	name, other := filepath.Join(dir, "weir.log"), filepath.Join(dir, "link.log")
	if err := os.Symlink(name, other); err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Log.To = []string{name, config.LogToStdout, other}
	want := "log.to: " + other + " is the same file as " + name
	if _, err := front.OpenLog(cfg, front.LogOptions{Stdout: os.Stdout, Stderr: os.Stderr}); err == nil || err.Error() != want {
		t.Errorf("OpenLog: %v, want %s", err, want)
	}
}

// TestLogPage reads the page /log of the admin listener. One of the two
// destinations has lost its reader.
func TestLogPage(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	back := upstream(t, hello)
	cfg := doorConfig(back.URL)
	file := filepath.Join(t.TempDir(), "weir.log")
	cfg.Log.To, cfg.Log.Heartbeat = []string{config.LogToStderr, file}, 0
	out, err := front.OpenLog(cfg, front.LogOptions{Stdout: os.Stdout, Stderr: w})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close(t.Context()) })
	d := serveDoor(t, cfg, out)
	const n = 20
	for range n {
		get(t, httpClient(t), d.url("/"))
	}
	eventually(t, "all events to be done with", func() bool {
		s := out.Stats()
		return s.Emitted == 2*3*n && s.Waiting == 0
	})
	var page struct {
		CPU          map[string]float64
		FileErrors   int `json:"file_errors"`
		Destinations []struct {
			To               string
			Emitted, Written int
			Dropped          []struct {
				Reason, Severity string
				Events           int
			}
			LastError string `json:"last_error"`
		}
	}
	_, body := get(t, httpClient(t), "http://"+d.AdminAddr().String()+"/log")
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if len(page.Destinations) != 2 {
		t.Fatalf("the page has %d destinations:\n%s", len(page.Destinations), body)
	}
	broken, whole := page.Destinations[0], page.Destinations[1]
	if broken.To != "stderr" || broken.Written != 0 || broken.Emitted != 3*n || len(broken.Dropped) != 1 ||
		broken.Dropped[0].Reason != string(sink.WriteError) || broken.Dropped[0].Severity != "info" ||
		broken.Dropped[0].Events != 3*n || !strings.Contains(broken.LastError, "broken pipe") {
		t.Errorf("of stderr the page says %+v", broken)
	}
	if whole.To != file || whole.Written != 3*n || len(whole.Dropped) != 0 || whole.LastError != "" {
		t.Errorf("of the file the page says %+v", whole)
	}
	if got := len(lines(t, file)); got != 3*n {
		t.Errorf("the file has %d events, want %d", got, 3*n)
	}
	for _, key := range []string{"share", "window_seconds", "encoding_seconds", "writing_seconds", "measuring_seconds",
		"process_seconds"} {
		if _, ok := page.CPU[key]; !ok {
			t.Errorf("the page has no cpu.%s", key)
		}
	}
	m := d.metrics(t)
	for series, want := range map[string]float64{
		`weir_log_destination_events_total{result="written",to="` + file + `"}`: 3 * n,
		`weir_log_destination_events_total{result="dropped",to="stderr"}`:       3 * n,
		`weir_log_destination_events_total{result="written",to="stderr"}`:       0,
		`weir_log_destination_queue_bytes{to="stderr"}`:                         0,
		`weir_log_events_dropped_total{reason="write_error",severity="info"}`:   3 * n,
		`weir_log_events_dropped_total{reason="full",severity="info"}`:          0,
		`weir_log_diverted_events_total`:                                        0,
		`weir_log_file_errors_total`:                                            0,
		`weir_log_queue_size_bytes`:                                             2 * 8 << 20,
	} {
		if got, ok := m[series]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", series, got, ok, want)
		}
	}
	if m["weir_log_queue_high_water_bytes"] == 0 || m["weir_log_longest_write_seconds"] == 0 {
		t.Errorf("high water %v, longest write %v", m["weir_log_queue_high_water_bytes"], m["weir_log_longest_write_seconds"])
	}
}

// serveDoor starts a front door with a log that the test owns.
func serveDoor(t *testing.T, cfg *config.Config, out front.Output) *testDoor {
	t.Helper()
	d := newDoorOver(t, cfg, out)
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	return d
}

// TestLogClosesWithStalledPipe closes a log with a file and a pipe without a
// reader. The file gets everything, including its totals, within the timeout
// for the pipe.
func TestLogClosesWithStalledPipe(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fill(t, w)
	cfg := config.Default()
	file := filepath.Join(t.TempDir(), "weir.log")
	cfg.Log.To = []string{config.LogToStderr, file}
	cfg.Log.Queue.Linger = time.Hour
	l, err := front.OpenLog(cfg, front.LogOptions{Stderr: w})
	if err != nil {
		t.Fatal(err)
	}
	log.New(l, log.Options{Namespace: "test"}).Info("counted").Send()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- l.Close(ctx) }()
	eventually(t, "the file has its totals", func() bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "log totals") && strings.HasSuffix(string(text), "\n")
	})
	cancel()
	if err := <-closed; err == nil || !strings.HasPrefix(err.Error(), "stderr: ") || strings.Contains(err.Error(), file) {
		t.Errorf("Close: %v, want what stderr lacks alone", err)
	}
	got := lines(t, file)
	if len(got) != 2 || !strings.Contains(got[0], "counted") || !strings.Contains(got[1], "log totals") {
		t.Errorf("the file has\n%s\nwant an event and the totals", strings.Join(got, "\n"))
	}
	for _, d := range l.Destinations() {
		if s := d.Stats; s.Emitted != s.Written+s.Lost()+s.Waiting {
			t.Errorf("%s: emitted %d, written %d, lost %d, waiting %d", d.To, s.Emitted, s.Written, s.Lost(), s.Waiting)
		}
	}
}

// fill fills a pipe until no byte fits, and returns the number of bytes. It
// writes whole pages, because a partial last page would have space left.
func fill(t *testing.T, w *os.File) (written int64) {
	t.Helper()
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	page := make([]byte, os.Getpagesize())
	var full error
	err = raw.Write(func(fd uintptr) bool {
		for full == nil {
			var n int
			n, full = syscall.Write(int(fd), page)
			written += int64(max(n, 0))
		}
		return true
	})
	if err != nil || !errors.Is(full, syscall.EAGAIN) {
		t.Fatalf("filling a pipe: %v, %v; want EAGAIN", err, full)
	}
	return written
}

func newDoorOver(t *testing.T, cfg *config.Config, out front.Output) *testDoor {
	t.Helper()
	d := &testDoor{t: t, config: cfg, log: newLogBook(), served: make(chan error, 1)}
	var err error
	if d.Door, err = engines.New(cfg, out); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPanicFlushesTheLog has a queue that lingers for an hour, and code that
// panics. When the client has the response, the event of the panic is written.
func TestPanicFlushesTheLog(t *testing.T) {
	t.Parallel()
	back := upstream(t, hello)
	cfg := doorConfig(back.URL)
	cfg.Log.Queue.Linger = time.Hour
	out, stdout, _ := openLog(t, cfg, nil)
	d := newDoorOver(t, cfg, out)
	d.WrapAction("/", explodesBefore)
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	d.serve()
	if resp, _ := get(t, httpClient(t), d.url("/")); resp.StatusCode != 500 {
		t.Fatalf("the answer is %s, want 500", resp.Status)
	}
	text, err := os.ReadFile(stdout.Name())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"event":"panic while serving a request"`) {
		t.Errorf("the client has its answer, and the log is:\n%s", text)
	}
}
