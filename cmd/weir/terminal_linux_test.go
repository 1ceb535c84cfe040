package main

import (
	"bufio"
	"strings"
	"testing"

	"github.com/creack/pty"
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
