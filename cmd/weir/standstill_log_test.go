package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
)

// TestDoorEndsWithABlockedLog has a log whose reader has stalled, with when_full: block.
// Requests wait for the log for ever, but the door still ends.
func TestDoorEndsWithABlockedLog(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	testkit.FillPipe(t, w)
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := prepare(t, "serve", "--config", configFile(t, "drain: 100ms\n"+
		"log:\n  queue:\n    size: 16KiB\n    when_full: block\n"+
		"limits:\n  max_connections: 40\n"+allTo(b.url())))
	p.startInto(w)
	var clients sync.WaitGroup
	defer clients.Wait()
	for range 60 { // some are refused, which is logged as well
		clients.Go(func() {
			c := &http.Client{Transport: &http.Transport{}, Timeout: patience}
			defer c.CloseIdleConnections()
			for {
				resp, err := c.Get(p.url())
				if err != nil {
					return
				}
				resp.Body.Close()
				if resp.StatusCode != 200 {
					return
				}
			}
		})
	}
	testkit.Await(t, "requests to wait", func() bool { return metric(t, p.admin(), "weir_log_queue_events") > 60 })
	p.signal(syscall.SIGTERM)
	p.wait(1)
}

// TestSignalsWorkBesideAStalledFIFO logs to a named pipe whose reader has stalled. The door
// must still react to SIGHUP and to a later SIGTERM.
func TestSignalsWorkBesideAStalledFIFO(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(name, os.O_RDWR, 0) // keeps the pipe open and never reads
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.SetWriteDeadline(time.Time{}); err != nil {
		t.Skipf("a named pipe that writes wait for: %v", err)
	}
	testkit.FillPipe(t, r)
	b := start(t, "backend", "--listen", "127.0.0.1:0")
	p := door(t, fmt.Sprintf("drain: off\nlog:\n  to: %s\n%s", name, allTo(b.url())))
	send(t, p.url(), 1)
	testkit.AwaitEqual(t, "events to wait", func() float64 { return metric(t, p.admin(), "weir_log_queue_events") }, 3)
	p.signal(syscall.SIGHUP)
	p.says("weir: reloaded")
	for range 30 { // each takes a second; the channel has fewer places
		p.signal(syscall.SIGHUP)
		pause(t.Context(), time.Millisecond) // otherwise the kernel merges two signals
	}
	p.signal(syscall.SIGTERM)
	p.wait(1)
	p.says("the log to .*fifo lacks 3 of 3 events")
}
