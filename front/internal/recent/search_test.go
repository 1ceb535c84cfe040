package recent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/tracematch"
)

// logWith writes a log of events, and returns its path.
func logWith(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weir.log")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func line(second int, id, event string) string {
	return fmt.Sprintf(`{"created_at":"2026-11-21T09:30:%02dZ","event":%q,"trace_id":%q}`+"\n", second, event, id)
}

// TestSearchFindsTheEventsOfOneRequest searches a file of several blocks, whose events are at its ends and across the
// bounds of blocks.
func TestSearchFindsTheEventsOfOneRequest(t *testing.T) {
	const id = "kQmzRzXbabcdefgh"
	other := line(1, "another-request-", strings.Repeat("x", 997))
	lines := []string{line(3, id, "third")}
	for i := range 4000 {
		lines = append(lines, other)
		if i%1000 == 500 {
			lines = append(lines, line(20+i/1000, id, "inner"))
		}
	}
	lines = append(lines, "no event "+id+"\n", line(2, id, "second"), `{"created_at":"2026-11-21T09:30:59Z","trace_id":"`+id)
	wanted, _ := tracematch.Parse(id)
	got, err := search(context.Background(), logWith(t, lines...), wanted)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Whole || got.Searched < 4<<20 {
		t.Errorf("searched %d bytes, the whole file: %v", got.Searched, got.Whole)
	}
	var events []string
	for _, text := range got.Events {
		events = append(events, strings.Fields(text)[2])
	}
	if want := "second third inner inner inner inner"; strings.Join(events, " ") != want {
		t.Errorf("events are %q, want %q", got.Events, want)
	}
}

// TestSearchStartsAtTheEnd searches a file that is longer than a search may be. It has no blocks on the disk before its
// last lines.
func TestSearchStartsAtTheEnd(t *testing.T) {
	const id = "kQmzRzXbabcdefgh"
	path := logWith(t, line(1, id, "first"))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("\n"+line(2, id, "last")), 2*mostSearched); err != nil {
		t.Fatal(err)
	}
	f.Close()
	wanted, _ := tracematch.Parse(id)
	got, err := search(context.Background(), path, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Events) != 1 || !strings.Contains(got.Events[0], "last") || got.Whole || got.Searched > mostSearched {
		t.Errorf("found %q in %d bytes, whole %v", got.Events, got.Searched, got.Whole)
	}
}

func TestOneSearchRunsAtATime(t *testing.T) {
	s := NewSearcher()
	s.busy <- struct{}{}
	wanted, _ := tracematch.Parse("a")
	if _, err := s.Search(context.Background(), logWith(t), wanted); err != ErrBusy {
		t.Errorf("a second search: %v, want %v", err, ErrBusy)
	}
	<-s.busy
	if _, err := s.Search(context.Background(), logWith(t), wanted); err != nil {
		t.Error(err)
	}
	if _, err := s.Search(context.Background(), t.TempDir(), wanted); err == nil {
		t.Error("a folder was searched")
	}
	if len(s.busy) != 0 {
		t.Error("a search that has ended still runs")
	}
}
