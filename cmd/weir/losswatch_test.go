package main

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/weirhq/weir/log/sink"
)

// full fails like a disk that is, until there is room.
type full struct{ room bool }

func (f *full) Write(p []byte) (int, error) {
	if !f.room {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// TestLossWatch loses events and then does not: each is said once.
func TestLossWatch(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	disk := &full{}
	out := sink.NewQueue(disk, sink.QueueOptions{WhenFull: sink.Block})
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
	disk.room = true
	event()
	event()
	if err := out.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "weir: the log loses events: no space left on device; /metrics counts them\n" +
		"weir: the log is written again; 2 events were lost so far\n"
	if got := said.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
