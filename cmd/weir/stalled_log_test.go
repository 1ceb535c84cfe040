package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestStalledLogReaderDelaysNoEnd ends a door whose log reader has stalled while events
// wait. SIGTERM still ends the door, which reports the number of unwritten events.
func TestStalledLogReaderDelaysNoEnd(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	testkit.FillPipe(t, w)
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := prepare(t, "serve", "--config", configFile(t, "drain: off\n"+allTo(b.url())))
	p.startInto(w)
	send(t, p.url(), 1)
	testkit.AwaitEqual(t, "three events that wait for the reader", func() float64 { return metric(t, p.admin(), "weir_log_queue_events") }, 3)
	p.signal(syscall.SIGTERM)
	p.wait(1)
	p.says("the log ends early: the log's reader has stalled")
	p.says("the log to stdout lacks 3 of 3 events .closed info: 3.")
	p.says("with 3 events to write")
}

// TestStalledReaderOfStderrDelaysNoEnd runs weir serve 2>&1 | reader, and the reader stalls.
// Messages on stderr must not keep the door from ending.
func TestStalledReaderOfStderrDelaysNoEnd(t *testing.T) {
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
	testkit.Await(t, "events to wait", func() bool { return metric(t, p.admin(), "weir_log_queue_events") > 0 })
	// Longer than the door takes to detect the stall and to write a message about
	// it.
	testkit.Await(t, "a long write", func() bool { return metric(t, p.admin(), "weir_log_longest_write_seconds") > 2.5 })
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
