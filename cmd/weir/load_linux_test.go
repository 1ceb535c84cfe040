package main

import (
	"io"
	"strings"
	"testing"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/internal/testkit"
)

// TestLoadShowsProgressOnTerminal checks the output to a terminal during and after a run.
func TestLoadShowsProgressOnTerminal(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	master, slave := openTerminal(t)
	p := prepare(t, "load", "-d", "300ms", "-r", "200", "-c", "2", "--max-connections", "4", w.URL)
	p.cmd.Stdout, p.cmd.Stderr = slave, slave
	err := p.start()
	slave.Close()
	if err != nil {
		t.Fatal(err)
	}
	shown := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error when no process has the terminal open
		shown <- string(text)
	}()
	p.wait(cli.ExitOK)
	text := testkit.Receive(t, "the terminal's end", shown)
	hidden, visible := strings.LastIndex(text, "\x1b[?25l"), strings.LastIndex(text, "\x1b[?25h")
	if hidden < 0 || visible < hidden {
		t.Errorf("the cursor was hidden at %d and shown at %d, want it shown last: %q", hidden, visible, text)
	}
	if !strings.Contains(text[max(0, visible):], "99%") {
		t.Errorf("no report after the progress: %q", text)
	}
}
