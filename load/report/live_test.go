package report_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/report"
)

// progressAt returns the progress of a run of 30 s at that time.
func progressAt(elapsed time.Duration) load.Progress {
	n := int64(10_000 * elapsed.Seconds())
	p := load.Progress{
		Elapsed: elapsed, Duration: 30 * time.Second, Asked: n, Sent: n, Requests: n - 64, Errors: n / 10_000 / 8,
		Status: map[string]int64{"2xx": n - 64, "5xx": n / 9000}, Connections: 64, InFlight: 64,
		Latency: &load.Latency{P50: 812, P90: 1430, P99: 4310, P999: 20_100, Max: 44_000},
	}
	if second := int(elapsed.Seconds()); second > 0 {
		p.Last = load.Second{
			Start: float64(second - 1), Seconds: 1, Asked: 10_000, Sent: 10_000,
			Requests: 10_000 - int64(second*second%7)*500, P99: load.Micros(3000 + 800*(second*second%5)),
		}
	}
	return p
}

// onAgents returns the progress of a run on agents, of which two do not report.
func onAgents(p load.Progress) load.Progress {
	p.Agents, p.Reporting, p.Quiet = 8, 6, []string{"load-3", "an-agent-with-a-long-name.\x1b[31mzone-b.example"}
	return p
}

const above = "$ weir load\n"

func TestLiveDrawsTheProgress(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		progress      load.Progress
	}{
		{"live-80.txt", 80, 24, progressAt(12_300 * time.Millisecond)},
		{"live-40.txt", 40, 24, progressAt(12_300 * time.Millisecond)},
		{"live-120.txt", 120, 24, progressAt(29_900 * time.Millisecond)},
		{"live-low.txt", 80, 5, progressAt(12_300 * time.Millisecond)},
		{"live-agents.txt", 80, 24, onAgents(progressAt(12_300 * time.Millisecond))},
		{"live-start.txt", 80, 24, progressAt(100 * time.Millisecond)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(t, c.width, c.height)
			fmt.Fprint(s, above)
			l := report.NewLive(s, "http://127.0.0.1:20000/hello", s.size, true)
			s.writes = 0
			frames := 0
			for at := time.Duration(0); at < c.progress.Elapsed; at += 100 * time.Millisecond {
				l.Show(progressAt(at))
				frames++
			}
			l.Show(c.progress)
			if frames++; s.writes != frames {
				t.Errorf("%d frames took %d writes, want one each", frames, s.writes)
			}
			if !s.hidden {
				t.Error("the cursor is shown while the block is, want it hidden")
			}
			golden(t, c.name, []byte(s.String()))
			l.Clear()
			if s.hidden {
				t.Error("the cursor is hidden after Clear, want it shown")
			}
			if diff := cmp.Diff(above+"\n", s.String()); diff != "" {
				t.Errorf("after Clear the screen is not as it was before (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLiveFollowsTheTerminalsWidth(t *testing.T) {
	s := newScreen(t, 120, 40)
	fmt.Fprint(s, above)
	l := report.NewLive(s, "http://127.0.0.1:20000/hello", s.size, true)
	for i, width := range []int{120, 90, 31, 30, 76, 20, 120} {
		s.resize(width)
		l.Show(progressAt(time.Duration(i+5) * time.Second))
		first, rest, _ := strings.Cut(strings.TrimPrefix(s.String(), above), "\n")
		if !strings.HasPrefix("http://127.0.0.1:20000/hello", strings.TrimSuffix(first, "…")) ||
			strings.Contains(rest, "http:") {
			t.Errorf("at width %d the screen is not one block:\n%s", width, s)
		}
	}
}

func TestLiveSteersNothing(t *testing.T) {
	s := newScreen(t, 80, 24)
	p := progressAt(time.Second)
	p.Status = map[string]int64{hostile: 1, longWord: 2}
	report.NewLive(s, hostile+longWord, s.size, true).Show(p) // s fails the test if it does not know a sequence
	if text := s.String(); !strings.Contains(text, `\x1b[2J`) {
		t.Errorf("the screen does not show the URL's control characters as escapes:\n%s", text)
	}
}

// TestLiveWithoutColorsDrawsInPlace has a terminal that does not report its
// size.
func TestLiveWithoutColorsDrawsInPlace(t *testing.T) {
	s := newScreen(t, 80, 24)
	var b bytes.Buffer
	l := report.NewLive(io.MultiWriter(s, &b), "http://h/", func() (int, int) { return 0, 0 }, false)
	l.Show(progressAt(time.Second))
	l.Show(progressAt(2 * time.Second))
	if n := strings.Count(s.String(), "http://h/"); n != 1 {
		t.Errorf("the block is on the screen %d times, want once:\n%s", n, s)
	}
	l.Clear()
	l.Clear()
	if got := s.String(); got != "\n" || s.hidden {
		t.Errorf("after Clear the screen shows %q, cursor hidden: %v; want nothing, and a cursor", got, s.hidden)
	}
	if sgr.MatchString(b.String()) {
		t.Errorf("colours in %q, want none", b.String())
	}
}

func TestLiveShowsTheRemainder(t *testing.T) {
	for _, c := range []struct {
		name     string
		progress load.Progress
		want     string
	}{
		{"by time", load.Progress{Elapsed: 10 * time.Second, Duration: 30 * time.Second}, "20 s left"},
		{"by number", load.Progress{Elapsed: 10 * time.Second, Sent: 100, Of: 400}, "30 s left"},
		{"by what ends first", load.Progress{Elapsed: 10 * time.Second, Duration: 15 * time.Second, Sent: 100, Of: 400},
			"5 s left"},
		{"by number, nothing sent", load.Progress{Elapsed: 10 * time.Second, Of: 400}, "10 s"},
		{"late", load.Progress{Elapsed: 31 * time.Second, Duration: 30 * time.Second}, "0 s left"},
		{"waiting", load.Progress{Elapsed: 31 * time.Second, Duration: 30 * time.Second, Waiting: true, InFlight: 1},
			"waiting for 1 last response"},
		{"done", load.Progress{Elapsed: 95 * time.Second, Done: true}, "done after 1 min 35 s"},
		{"endless", load.Progress{Elapsed: 95 * time.Second}, "1 min 35 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(t, 80, 24)
			report.NewLive(s, "http://h/", s.size, false).Show(c.progress)
			if line := strings.Split(s.String(), "\n")[1]; !strings.HasSuffix(line, c.want) {
				t.Errorf("the bar's line is %q, want it to end in %q", line, c.want)
			}
		})
	}
}

// TestLiveMayBeClearedWhileDrawn is for the race detector: a signal clears the block while
// the run draws it.
func TestLiveMayBeClearedWhileDrawn(t *testing.T) {
	var mu sync.Mutex
	var b bytes.Buffer
	l := report.NewLive(locked{&mu, &b}, "http://h/", func() (int, int) { return 80, 24 }, true)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range 50 {
				l.Show(progressAt(time.Duration(i) * time.Second))
				l.Clear()
			}
		})
	}
	wg.Wait()
	if got := b.String(); !strings.HasSuffix(got, "\x1b[?25h") {
		t.Errorf("the last that was written is %q, want the cursor shown", got[len(got)-20:])
	}
}

type locked struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func TestPlainWritesALineEachTenSeconds(t *testing.T) {
	var b bytes.Buffer
	l := report.NewPlain(&b)
	for at := time.Duration(0); at <= 25*time.Second; at += 100 * time.Millisecond {
		l.Show(progressAt(at))
	}
	last := progressAt(25 * time.Second)
	last.Done, last.FromDue = true, true
	last.Status[hostile] = 1
	l.Show(last)
	golden(t, "plain.txt", b.Bytes())
}

// TestPlainOmitsMissingLatencies checks that no latencies are written if there are
// none.
func TestPlainOmitsMissingLatencies(t *testing.T) {
	var b bytes.Buffer
	report.NewPlain(&b).Show(load.Progress{Elapsed: 250 * time.Millisecond, Done: true, Errors: 3,
		Last: load.Second{Seconds: 0.25}})
	if got, want := b.String(), "done after 250 ms: 0 responses, 0/s on average, 3 errors\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
