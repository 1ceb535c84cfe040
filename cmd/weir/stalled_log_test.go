package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestLogReaderStandsStill ends a door whose log reader has stalled while events
// wait. SIGTERM still ends the door, which reports the number of unwritten events.
func TestLogReaderStandsStill(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fill(t, w)
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := prepare(t, "serve", "--config", configFile(t, "drain: 0s\n"+allTo(b.url())))
	p.cmd.Stdout = w
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	send(t, p.url(), 1)
	await(t, "three events that wait for the reader", func() bool {
		return metric(t, p.admin(), "weir_log_queue_events") == 3
	})
	p.signal(syscall.SIGTERM)
	p.wait(1)
	p.says("the log ends early: the log's reader has stalled")
	p.says("the log to stdout lacks 3 of 3 events .closed info: 3.")
	p.says("with 3 events to write")
}

// fill writes to a pipe until it is full. It writes whole pages, because a partly
// filled last page would accept more bytes.
func fill(t *testing.T, w *os.File) {
	t.Helper()
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	page := make([]byte, os.Getpagesize())
	var full error
	err = raw.Write(func(fd uintptr) bool {
		for full == nil {
			_, full = syscall.Write(int(fd), page)
		}
		return true
	})
	if err != nil || !errors.Is(full, syscall.EAGAIN) {
		t.Fatalf("filling a pipe: %v, %v; want EAGAIN", err, full)
	}
}

// TestOneReaderStandsStill runs weir serve 2>&1 | reader, and the reader stalls.
// Messages on stderr must not keep the door from ending.
func TestOneReaderStandsStill(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := prepare(t, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	readGreeting(t, p, r)
	w.Close()
	ask(t, p, "/", 150) // 450 events of 330 bytes: twice the capacity of a pipe
	await(t, "events to wait", func() bool { return metric(t, p.admin(), "weir_log_queue_events") > 0 })
	// Longer than the door takes to detect the stall and to write a message about
	// it.
	await(t, "a long write", func() bool { return metric(t, p.admin(), "weir_log_longest_write_seconds") > 2.5 })
	p.signal(syscall.SIGTERM)
	p.wait(1)
}

// readGreeting reads the messages of a starting door from the pipe of its stderr,
// and stores them in p.stderr.
func readGreeting(t *testing.T, p *process, r io.Reader) {
	t.Helper()
	lines := bufio.NewReader(r)
	for !strings.Contains(p.stderr.String(), "curl") { // its last line
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(&p.stderr, line)
	}
}
