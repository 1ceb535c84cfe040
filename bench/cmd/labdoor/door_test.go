package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/bench/labservice"
)

// ask sends n requests to the door and checks the responses.
func ask(t *testing.T, d *door, n int) {
	t.Helper()
	for range n {
		w := httptest.NewRecorder()
		d.ServeHTTP(w, httptest.NewRequest("GET", "/economy", nil))
		if w.Code != 200 || w.Body.Len() != 1024 {
			t.Fatalf("got %d and %d bytes, want 200 and 1024", w.Code, w.Body.Len())
		}
	}
}

// leave closes the door and returns its measures.
func leave(t *testing.T, d *door) map[string]float64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "measures.json")
	t.Setenv(labservice.MeasuresFile, file)
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var measures []labservice.Measure
	if err := json.Unmarshal(text, &measures); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range measures {
		got[m.Name] = m.Value
	}
	return got
}

func TestEveryLoggerLogsThreeEvents(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(loggers)) {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			d := newDoor(loggers[name](&out), true, 0)
			ask(t, d, 100)
			got := leave(t, d)
			want := 300
			if name == "none" {
				want = 0
			}
			if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != want ||
				got["log lines emitted"] != float64(want) || got["log lines dropped by the logger"] != 0 {
				t.Errorf("got %d lines, and measures %v; want %d and none dropped", lines, got, want)
			}
			if _, timed := got["log call p99"]; timed != (want > 0) {
				t.Errorf("calls timed: %v, want %v: %v", timed, want > 0, got)
			}
			if got["log call p50"] > got["log call p99"] || got["log call p99"] > got["log call max"] {
				t.Errorf("the times do not grow: %v", got)
			}
		})
	}
}

func TestCallsOfTheWarmUpAreNotTimed(t *testing.T) {
	d := newDoor(loggers["weir"](new(bytes.Buffer)), true, time.Hour)
	ask(t, d, 10)
	got := leave(t, d)
	if _, timed := got["log call p50"]; timed || got["log lines emitted"] != 30 {
		t.Errorf("got %v, want 30 lines and no times", got)
	}
}

// A stopped is a writer that blocks until its lock is free.
type stopped struct {
	sync.Mutex
	taken bytes.Buffer
}

func (s *stopped) Write(b []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.taken.Write(b)
}

// TestDroppedLinesAreCounted checks that the count of lines is exact, including those that report drops, whatever a
// queue drops while its reader is blocked.
func TestDroppedLinesAreCounted(t *testing.T) {
	var out stopped
	d := newDoor(loggers["weir-queued"](&out), false, 0)
	out.Lock()
	ask(t, d, 10_000)
	out.Unlock()
	got := leave(t, d)
	lines := float64(bytes.Count(out.taken.Bytes(), []byte("\n")))
	dropped := got["log lines dropped by the logger"]
	if dropped == 0 || got["log lines emitted"]-dropped != lines || got["log lines emitted"] < 30_000 {
		t.Errorf("got %v lines of %v emitted, %v dropped; want some dropped and the others there", lines,
			got["log lines emitted"], dropped)
	}
}

// TestFailedWritesAreCounted checks that failed writes of the log are counted.
func TestFailedWritesAreCounted(t *testing.T) {
	for _, name := range []string{"zerolog", "phuslu", "zap", "slog", "weir", "ons-v1", "ons-v2"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		w.Close()
		d := newDoor(loggers[name](w), false, 0)
		ask(t, d, 10)
		if got := leave(t, d); got["log lines dropped by the logger"] < 30 {
			t.Errorf("%s: got %v, want all lines dropped", name, got)
		}
	}
}

func TestUnknownLoggerIsRefused(t *testing.T) {
	err := run("127.0.0.1:0", "log4j", false, 0)
	if err == nil || !strings.Contains(err.Error(), "log4j") || !strings.Contains(err.Error(), "weir-queued") {
		t.Errorf("got %v, want the name and those that there are", err)
	}
}
