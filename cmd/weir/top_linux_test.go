package main

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/weirhq/weir/internal/peer"
	"github.com/weirhq/weir/internal/testkit"
)

// TestTop shows a front door in a file and on a terminal, until a signal and over a restart of the front door.
func TestTop(t *testing.T) {
	t.Parallel()
	admin := peer.FreeAddress(t)
	config := configFile(t, "routes: [{match: /hello, respond: {status: 200, text: hello}}]\n")
	serve := func() *process {
		return start(t, "serve", "--listen", "127.0.0.1:0", "--admin", admin, "--config", config)
	}
	p := serve()
	p.admin()
	plain := start(t, "top", admin)
	shown := func(words string) {
		t.Helper()
		testkit.Await(t, words, func() bool {
			text, err := os.ReadFile(plain.stdout)
			return err == nil && strings.Contains(string(text), words)
		})
	}
	shown("  ready  ")
	get(t, client(t), p.url()+"/hello")
	get(t, client(t), p.url()+"/elsewhere")
	shown("  2xx ")
	shown("  4xx ")

	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	screen := prepare(t, "top", admin)
	screen.cmd.Stdout = terminal
	screen.cmd.Env = append(screen.cmd.Environ(), "TERM=xterm")
	if err := screen.start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	text := readUntil(t, master, "total 2")
	if !strings.HasPrefix(text, "\x1b[?1049h") {
		t.Errorf("the screen begins with %.40q", text)
	}
	screen.signal(syscall.SIGINT)
	if rest := readUntil(t, master, "\x1b[?1049l"); !strings.HasSuffix(rest, "\x1b[?25h\x1b[?1049l") {
		t.Errorf("the screen ends with %q", rest)
	}
	screen.wait(0)

	p.signal(syscall.SIGTERM)
	p.wait(0)
	shown("not connected, trying again")
	if err := os.Truncate(plain.stdout, 0); err != nil {
		t.Fatal(err)
	}
	serve().admin()
	shown("  ready  ")
	plain.signal(syscall.SIGTERM)
	plain.wait(0)
	runs(t, 1, "top", peer.FreeAddress(t)).says("sends no state: .*connection refused")
	runs(t, 2, "top", "20001").says("hint: write host:port, as in weir top")
}

// readUntil reads a terminal until it has shown some words.
func readUntil(t *testing.T, terminal io.Reader, words string) string {
	t.Helper()
	var text strings.Builder
	buf := make([]byte, 1<<10)
	for !strings.Contains(text.String(), words) {
		n, err := terminal.Read(buf)
		text.Write(buf[:n])
		if err != nil {
			t.Fatalf("the terminal has %q and ends (%v), want %q", text.String(), err, words)
		}
	}
	return text.String()
}
