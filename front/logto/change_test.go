package logto_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log/stream"
)

// A down is a server that is not available.
type down struct{}

func (down) Deliver(context.Context, stream.Batch) error { return errors.New("connection refused") }
func (down) Close() error                                { return nil }

// openWith opens a log whose server is one of the test's own.
func openWith(t *testing.T, cfg logto.Config, server stream.Destination) (*logto.Log, error) {
	t.Helper()
	return logto.Open(cfg, logto.Options{
		Complain: func(err error) { t.Error(err) },
		Servers: map[string]func(string) (stream.Destination, error){
			"nats": func(string) (stream.Destination, error) { return server, nil },
		},
	})
}

// TestAbandonLeavesSpilledEvents fails to start, and to reload, with a server that is down and a file that cannot be
// written. Both fail at once, and the events on the disk are delivered later, each once.
func TestAbandonLeavesSpilledEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := logto.Default()
	cfg.Heartbeat, cfg.Spill.Folder = 0, filepath.Join(dir, "spill")
	cfg.To = []string{"nats://server/subject"}
	l, err := openWith(t, cfg, down{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 100
	for i := range n {
		fmt.Fprintf(l, `{"event":"counted","n":%d}`+"\n", i)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(ended); err != nil {
		t.Fatal(err)
	}

	bad, file := cfg, cfg
	bad.To = []string{cfg.To[0], filepath.Join(dir, "missing", "weir.log")}
	file.To = []string{filepath.Join(dir, "weir.log")}
	if l, err = openWith(t, file, down{}); err != nil {
		t.Fatal(err)
	}
	defer l.Close(t.Context())
	for what, fail := range map[string]func() error{
		"a start":  func() error { _, err := openWith(t, bad, down{}); return err },
		"a reload": func() error { _, err := l.Prepare(bad); return err },
	} {
		failed := make(chan error, 1)
		go func() { failed <- fail() }()
		select {
		case err := <-failed:
			if err == nil {
				t.Errorf("%s succeeds without its file", what)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s waits for the server", what)
		}
	}
	checkDelivered(t, cfg, n)
}

// checkDelivered delivers the events on the disk to a server, and checks that each of n events comes once.
func checkDelivered(t *testing.T, cfg logto.Config, n int) {
	t.Helper()
	server := new(memory)
	l, err := openWith(t, cfg, server)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, line := range server.lines {
		if strings.Contains(line, "counted") {
			times[line]++
		}
	}
	for line, count := range times {
		if count > 1 {
			t.Errorf("%d times %s", count, line)
		}
	}
	if s := l.Stats(); len(times) != n || s.Recovered < uint64(n) || s.Lost() != 0 {
		t.Errorf("the server has %d events, want %d; %+v", len(times), n, s)
	}
}
