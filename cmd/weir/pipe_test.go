package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestTailShowsAllEventsOfServe runs weir serve | weir tail. Every event is shown, including
// the last ones of the drain, and then tail ends, too.
func TestTailShowsAllEventsOfServe(t *testing.T) {
	t.Parallel()
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	tail := prepare(t, "tail", "--format", "human", "--where", "http.status_code == 200")
	tail.cmd.Stdin = reads
	serve := prepare(t, "serve", "--listen", "127.0.0.1:0", "--admin", "off")
	serve.cmd.Stdout = writes
	for _, p := range []*process{tail, serve} {
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
	}
	reads.Close()
	writes.Close()

	const requests = 100
	url, c := serve.url(), client(t)
	for i := range requests {
		req, err := http.NewRequest("GET", fmt.Sprintf("%s/%d", url, i), nil)
		if err != nil {
			t.Fatal(err)
		}
		do(t, c, req)
	}
	serve.signal(syscall.SIGTERM)
	serve.wait(0)
	tail.wait(0)

	shown, err := os.ReadFile(tail.stdout)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(shown), "\n"), "\n")
	if len(lines) != requests {
		t.Fatalf("%d lines, want %d", len(lines), requests)
	}
	for i, line := range lines {
		if want := fmt.Sprintf(" INFO  http request completed GET /%d 200 ", i); !strings.Contains(line, want) {
			t.Errorf("line %d is %q, want %q in it", i, line, want)
		}
	}
}
