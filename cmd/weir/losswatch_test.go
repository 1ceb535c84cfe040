package main

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/weirhq/weir/log/sink"
)

// broken fails like a pipe without a reader, until it has one.
type broken struct{ mended bool }

func (b *broken) Write(p []byte) (int, error) {
	if !b.mended {
		return 0, syscall.EPIPE
	}
	return len(p), nil
}

// TestLossWatch loses events and then does not: each is said once.
func TestLossWatch(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	pipe := &broken{}
	out := sink.NewQueue(pipe, sink.QueueOptions{WhenFull: sink.Block})
	w := lossWatch{out: out, to: &said}
	event := func() {
		before := out.Stats().Waiting
		out.Write([]byte("{}\n"))
		await(t, "the event to be written or lost", func() bool { return out.Stats().Waiting == before })
		w.look()
	}
	w.look()
	event()
	event()
	w.look() // nothing has happened since: neither lost nor written
	pipe.mended = true
	event()
	event()
	if err := out.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "weir: the log loses events: broken pipe; /metrics counts them\n" +
		"weir: the log is written again; 2 events were lost so far\n"
	if got := said.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
