package tail

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/log/record"
)

// TestLiveStatsReplaceThemselves draws the table several times: each replaces the one before and
// fits a small terminal.
func TestLiveStatsReplaceThemselves(t *testing.T) {
	s := newStats(false, true)
	start := s.drawnAt
	drawn := 0
	for second := 1; second <= 3; second++ {
		for i := range 100 {
			s.add(&record.Record{
				CreatedAt: "2026-11-21T09:30:15Z",
				Severity:  record.Severity(i % 6),
				HTTP: &record.HTTP{
					StatusCode: 500, Method: "GET", Path: fmt.Sprint("/\x1b", i, strings.Repeat("/\x1b", 50)),
				},
			})
		}
		s.other([]byte("no event\n"))
		var b strings.Builder
		s.draw(&b, start.Add(time.Duration(second)*time.Second))
		text := b.String()
		if second > 1 {
			above, rest, _ := strings.Cut(text, "\x1b[J")
			if want := fmt.Sprintf("\r\x1b[%dA", drawn); above != want {
				t.Errorf("second %d begins with %q want %q", second, above, want)
			}
			text = rest
		}
		drawn = strings.Count(text, "\n")
		if drawn > 23 || strings.Contains(text, "\x1b") {
			t.Errorf("second %d: %d lines, want less than a terminal has, and no escape:\n%q", second, drawn, text)
		}
		if !strings.Contains(text, "now 100.0 events per second\n") {
			t.Errorf("second %d: no rate of that second:\n%s", second, text)
		}
		for line := range strings.Lines(text) {
			if len([]rune(line)) > 81 {
				t.Errorf("second %d: a line of %d characters: %q", second, len(line), line)
			}
		}
	}
	var b strings.Builder
	err := s.finish(&b)
	if err != nil || strings.Contains(b.String(), "now") || !strings.HasPrefix(b.String(), "\r\x1b[") {
		t.Errorf("at the end: %q, %v", b.String(), err)
	}
}

// TestStatsBoundTheirRoutes counts more routes than the limit.
func TestStatsBoundTheirRoutes(t *testing.T) {
	s := newStats(false, false)
	for i := range 2 * maxRoutes {
		s.add(&record.Record{HTTP: &record.HTTP{StatusCode: 200, Path: fmt.Sprint("/", i)}})
	}
	_, routes := s.rows()
	if got, want := len(routes), maxRoutes+1; got != want {
		t.Errorf("got %d routes want %d", got, want)
	}
	if got, want := routes[0], maxRoutes; got.Name != otherRoutes || got.Events != want {
		t.Errorf("got %q with %d events want %q with %d", got.Name, got.Events, otherRoutes, want)
	}
}
