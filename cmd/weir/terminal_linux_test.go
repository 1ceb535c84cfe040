package main

import (
	"bufio"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/weirhq/weir/internal/testkit"
)

// TestTerminalGetsHumanEvents checks log.format: auto on a terminal.
func TestTerminalGetsHumanEvents(t *testing.T) {
	t.Parallel()
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := prepare(t, "serve", "--config", configFile(t, "log: {format: auto}\n"+allTo(b.url())))
	p.cmd.Stdout = terminal
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	send(t, p.url(), 1)
	line, err := bufio.NewReader(master).ReadString('\n')
	if err != nil || !strings.Contains(line, " http request received GET /") || strings.Contains(line, "{") {
		t.Errorf("the terminal has %q, %v; want an event in human form", line, err)
	}
}

// TestDumbTerminalGetsNoControls shows a load and events on a terminal with TERM=dumb, which would print control
// sequences as they are.
func TestDumbTerminalGetsNoControls(t *testing.T) {
	t.Parallel()
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	events := filepath.Join(t.TempDir(), "events.log")
	testkit.AppendFile(t, events, eventLine(1))
	for _, args := range [][]string{{"load", "-n", "20", b.url()}, {"tail", events}} {
		master, terminal, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		p := prepare(t, args...)
		p.cmd.Stdout, p.cmd.Stderr = terminal, terminal
		p.cmd.Env = append(p.cmd.Environ(), "TERM=dumb")
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close()
		shown := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(master) // an error at the end
			shown <- string(text)
		}()
		p.cmd.Wait()
		if text := <-shown; text == "" || strings.Contains(text, "\x1b") {
			t.Errorf("%q: the terminal has %q, want no control sequences", args, text)
		}
	}
}
