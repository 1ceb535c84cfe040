package tail

import (
	"io"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/follow"
)

// TestSameInterrupt sends an interrupt twice, as programs do that forward it, and
// then another one.
func TestSameInterrupt(t *testing.T) {
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

// TestStart checks that statistics count all lines of a followed file.
func TestStart(t *testing.T) {
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
