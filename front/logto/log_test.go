package logto_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/front/internal/logfiles"
	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/stream"
)

// An event is an event in a file.
type event struct {
	Event, Namespace string
	Data             map[string]any
}

// TestLogGoesEverywhere logs from several goroutines to two streams and a file.
// Each gets all events, and the totals at the end.
func TestLogGoesEverywhere(t *testing.T) {
	t.Parallel()
	cfg := logto.Default()
	file := filepath.Join(t.TempDir(), "weir.log")
	cfg.To = []string{logto.ToStdout, file, logto.ToStderr}
	l, stdout, stderr := logfiles.Open(t, cfg, nil)
	const producers, each = 4, 500
	logger := log.New(l, log.Options{Namespace: "front"})
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
		for _, line := range logfiles.Lines(t, name) {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v in %q", err, line)
			}
			if e.Event == "counted" {
				seen[e.Data["id"].(string)] = true
			} else if e.Event != "log totals" || e.Namespace != "front" {
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
		if d.To != cfg.To[i] || d.Stats.Written != producers*each+1 {
			t.Errorf("destination %d is %s and has %d events", i, d.To, d.Stats.Written)
		}
	}
	if _, err := l.Write([]byte("{}\n")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close, Write returns %v, want %v", err, os.ErrClosed)
	}
}

// TestRotationLosesNoEvent rotates a file by size, moves it, and reopens it. No event is
// lost.
func TestRotationLosesNoEvent(t *testing.T) {
	t.Parallel()
	cfg := logto.Default()
	dir := t.TempDir()
	file := filepath.Join(dir, "weir.log")
	cfg.To, cfg.Rotate.Size, cfg.Heartbeat = []string{file}, 16<<10, 0
	l, _, _ := logfiles.Open(t, cfg, func(err error) { t.Error(err) })
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
		for _, line := range logfiles.Lines(t, filepath.Join(dir, f.Name())) {
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

func cfgSize(cfg logto.Config) int { return int(cfg.Rotate.Size) }

// TestOpenErrorNamesTheDestination checks that the error names the destination, and that no
// goroutine or open file remains.
func TestOpenErrorNamesTheDestination(t *testing.T) {
	cfg := logto.Default()
	missing := filepath.Join(t.TempDir(), "no", "such", "folder", "weir.log")
	cfg.To = []string{logto.ToStdout, missing}
	_, err := logto.Open(cfg, logto.Options{Stdout: os.Stdout, Stderr: os.Stderr})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "log.to: ") ||
		!strings.Contains(err.Error(), missing) {
		t.Errorf("Open: %v, want one that names log.to and %s", err, missing)
	}
	cfg.To, cfg.Queue.WhenFull = []string{logto.ToStdout}, "explode"
	if _, err := logto.Open(cfg, logto.Options{Stdout: os.Stdout, Stderr: os.Stderr}); err == nil ||
		!strings.Contains(err.Error(), "log.queue.when_full") {
		t.Errorf("Open: %v, want one that names log.queue.when_full", err)
	}
}

func TestFileWithTwoNamesIsRefused(t *testing.T) {
	dir := t.TempDir()
	name, other := filepath.Join(dir, "weir.log"), filepath.Join(dir, "link.log")
	if err := os.Symlink(name, other); err != nil {
		t.Fatal(err)
	}
	cfg := logto.Default()
	cfg.To = []string{name, logto.ToStdout, other}
	want := "log.to: " + other + " is the same file as " + name
	if _, err := logto.Open(cfg, logto.Options{Stdout: os.Stdout, Stderr: os.Stderr}); err == nil || err.Error() != want {
		t.Errorf("Open: %v, want %s", err, want)
	}
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
	testkit.FillPipe(t, w)
	cfg := logto.Default()
	file := filepath.Join(t.TempDir(), "weir.log")
	cfg.To = []string{logto.ToStderr, file}
	cfg.Queue.Linger = time.Hour
	l, err := logto.Open(cfg, logto.Options{Stderr: w})
	if err != nil {
		t.Fatal(err)
	}
	log.New(l, log.Options{Namespace: "test"}).Info("counted").Send()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- l.Close(ctx) }()
	for text := []byte(nil); !strings.Contains(string(text), "log totals") || text[len(text)-1] != '\n'; {
		if text, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-closed; err == nil || !strings.HasPrefix(err.Error(), "stderr: ") || strings.Contains(err.Error(), file) {
		t.Errorf("Close: %v, want what stderr lacks alone", err)
	}
	got := logfiles.Lines(t, file)
	if len(got) != 2 || !strings.Contains(got[0], "counted") || !strings.Contains(got[1], "log totals") {
		t.Errorf("the file has\n%s\nwant an event and the totals", strings.Join(got, "\n"))
	}
	for _, d := range l.Destinations() {
		if s := d.Stats; s.Emitted != s.Written+s.Lost()+s.Waiting {
			t.Errorf("%s: emitted %d, written %d, lost %d, waiting %d", d.To, s.Emitted, s.Written, s.Lost(), s.Waiting)
		}
	}
}

// A memory is a server that keeps the lines of its clients.
type memory struct{ lines []string }

func (m *memory) open(url string) (stream.Destination, error) {
	if strings.Contains(url, "refused") {
		return nil, errors.New("refused by the client")
	}
	return m, nil
}

func (m *memory) Deliver(_ context.Context, b stream.Batch) error {
	for line := range bytes.Lines(b.Lines) {
		m.lines = append(m.lines, string(line))
	}
	return nil
}

func (m *memory) Close() error { return nil }

func TestUnusableServerIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ to, format, want string }{
		{"nats://u:secret@server/subject", "json", "log.to: nats://server/subject: this program has no client for nats"},
		{"otlp+http://u:secret@refused", "json", "log.to: otlp+http://refused: refused by the client"},
		{"otlp+http://u:secret@collector", "ltsv",
			"log.format: otlp+http://collector cannot parse the format ltsv; it needs json"},
	} {
		cfg := logto.Default()
		cfg.To, cfg.Format = []string{c.to}, c.format
		_, err := logto.Open(cfg, logto.Options{
			Servers: map[string]func(string) (stream.Destination, error){"otlp+http": new(memory).open},
		})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.to, err, c.want)
		}
	}
}

func TestFormatAutoIsJSONForServer(t *testing.T) {
	t.Parallel()
	server := new(memory)
	cfg := logto.Default()
	cfg.To, cfg.Format = []string{"otlp+http://u:p@collector"}, "auto"
	out, err := logto.Open(cfg, logto.Options{
		Servers: map[string]func(string) (stream.Destination, error){"otlp+http": server.open},
	})
	if err != nil {
		t.Fatal(err)
	}
	log.New(out, log.Options{Format: log.FormatAuto}).Info("event").Send()
	if err := out.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(server.lines) == 0 || !json.Valid([]byte(server.lines[0])) {
		t.Errorf("the server has %q", server.lines)
	}
}
