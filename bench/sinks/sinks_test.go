package sinks

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// few is a load that no row drops events of.
var few = Load{Requests: 200, Burst: 50, Every: time.Millisecond, Timed: 2}

func TestEveryEventIsALine(t *testing.T) {
	for _, r := range Rows {
		t.Run(r.Name, func(t *testing.T) {
			dir := t.TempDir()
			report, err := Work(r, filepath.Join(dir, "events.log"), few)
			if err != nil {
				t.Fatal(err)
			}
			want := uint64(3 * Producers * few.Requests)
			if report.Events != want || report.Dropped != 0 || report.CPU <= 0 || report.Took <= 0 ||
				report.P50 > report.P999 {
				t.Errorf("got %+v, want %d events, none dropped, and the time", report, want)
			}
			if r.Silent {
				want = 0
			}
			if got := checkedLines(t, dir); got != want {
				t.Errorf("got %d lines, want %d", got, want)
			}
		})
	}
}

// checkedLines counts the lines and checks that each is an event.
func checkedLines(t *testing.T, dir string) (lines uint64) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range logs {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue // phuslu/log makes a link too
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var event struct{ Event string }
			if err := json.Unmarshal(line, &event); err != nil || !strings.Contains(event.Event, "request") {
				t.Fatalf("%q is no event: %v", line, err)
			}
			lines++
		}
	}
	return lines
}

func TestPassCountsWhatCameOut(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "sinkrow")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", tool,
		"../cmd/sinkrow").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bench := &Bench{Tool: tool, Dir: t.TempDir()}
	for name, target := range map[string]Target{"file": File, "pipe": Pipe} {
		for _, r := range Rows {
			t.Run(r.Name+" to a "+name, func(t *testing.T) {
				cost, err := bench.Pass(t.Context(), r, target, few)
				if err != nil {
					t.Fatal(err)
				}
				if cost.Lost() > 0 && !r.Silent {
					t.Errorf("got %+v, want every event", cost)
				}
			})
		}
	}
	if _, err := bench.Pass(t.Context(), Row{Name: "unknown"}, Pipe, few); err == nil ||
		!strings.Contains(err.Error(), "unknown") {
		t.Errorf("a row that is not there: got %v", err)
	}
	if left, err := os.ReadDir(bench.Dir); err != nil || len(left) > 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestLossIsNoticed(t *testing.T) {
	cost := func(lines, dropped uint64) Cost { return Cost{Report{Events: 100, Dropped: dropped}, lines} }
	for _, c := range []struct {
		name string
		row  Row
		cost Cost
		ok   bool
	}{
		{"all came out", Row{Kind: Unbuffered}, cost(100, 0), true},
		{"ours counted its drops", Row{Kind: Ours}, cost(90, 10), true},
		{"ours did not", Row{Kind: Ours}, cost(90, 9), false},
		{"ours told of them in the log", Row{Kind: Ours}, Cost{Report{Events: 100, Own: 1, Dropped: 10}, 91}, true},
		{"an unbuffered peer lost some", Row{Kind: Unbuffered}, cost(99, 0), false},
		{"a buffered peer did", Row{Kind: Buffered}, cost(90, 0), true},
		{"more came out than went in", Row{Kind: Buffered}, cost(101, 0), false},
		{"the silent row is silent", Row{Kind: Bare, Silent: true}, cost(0, 0), true},
	} {
		if err := c.row.check(c.cost); (err == nil) != c.ok {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestCountLinesRejectsTornLine(t *testing.T) {
	for text, want := range map[string]uint64{"": 0, "a\n": 1, "a\n\nb\n": 3} {
		if got, err := countLines(strings.NewReader(text)); got != want || err != nil {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	if _, err := countLines(strings.NewReader("a\nb")); err == nil {
		t.Error("a torn last line is no error")
	}
}

func TestQuantileReturnsTheRank(t *testing.T) {
	var sorted []time.Duration
	for i := range 1000 {
		sorted = append(sorted, time.Duration(i+1))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 500, 0.999: 999} {
		if got := quantile(sorted, q); got != want {
			t.Errorf("%v: got %d, want %d", q, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: got %d", got)
	}
}
