package tail

import (
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/follow"
)

func TestStatsCountAllLinesOfAFile(t *testing.T) {
	last := func(n int) follow.Start { return follow.Start{Lines: n, FromEnd: true} }
	for _, c := range []struct {
		name string
		cmd  Command
		want follow.Start
	}{
		{"a file", Command{}, follow.Start{}},
		{"followed", Command{Follow: true}, last(followedLines)},
		{"counted", Command{Follow: true, Stats: true}, follow.Start{}},
		{"asked for", Command{Follow: true, Stats: true, Lines: &start{last(3)}}, last(3)},
	} {
		if got := c.cmd.start(); got != c.want {
			t.Errorf("%s: got %+v want %+v", c.name, got, c.want)
		}
	}
}

// TestTerminalGetsRawEvents checks that --format raw --events-only shows events on a terminal.
func TestTerminalGetsRawEvents(t *testing.T) {
	const event = `{"created_at":"2026-11-21T09:30:16Z","event":"x"}` + "\n"
	var out strings.Builder
	v := newView(&out)
	v.form, v.escape, v.eventsOnly = formRaw, true, true
	v.setReaders()
	if err := v.take(&part{from: new(input), data: []byte("other\n" + event)}); err != nil {
		t.Fatal(err)
	}
	if out.String() != event {
		t.Errorf("got %q, want %q", out.String(), event)
	}
}
