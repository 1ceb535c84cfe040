package tail

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/follow"
)

// TestSameInterruptCountsOnce sends an interrupt twice, as programs do that forward it, and
// then another one.
func TestSameInterruptCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal)
		ended := make(chan error, 1)
		go func() { ended <- show(nil, signals, true, newView(io.Discard)) }()
		signals <- syscall.SIGINT
		time.Sleep(cli.SameInterrupt)
		signals <- syscall.SIGINT
		synctest.Wait()
		if len(ended) > 0 {
			t.Fatalf("the same interrupt ends it: %v", <-ended)
		}
		time.Sleep(time.Nanosecond)
		signals <- syscall.SIGINT
		if err := <-ended; err != nil {
			t.Errorf("got %v", err)
		}
	})
}

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
