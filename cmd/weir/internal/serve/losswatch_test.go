package serve

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/weirhq/weir/front/logto"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// TestLossWatchPrintsEachTroubleOnce plays the states of two destinations, one per tick. Each trouble
// is printed once, and so is its end.
func TestLossWatchPrintsEachTroubleOnce(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	w := newLossWatch(&said)
	full := func(n uint64) []sink.Loss {
		return []sink.Loss{{Level: log.LevelInfo, Reason: sink.Full, Events: n}}
	}
	broken := func(n uint64) []sink.Loss {
		return []sink.Loss{{Level: log.LevelInfo, Reason: sink.WriteError, Events: n}}
	}
	for i, tick := range []struct {
		file, stdout sink.Stats
		diverted     uint64
		want         string
	}{
		{},
		{file: sink.Stats{Written: 5, Waiting: 2}},
		{file: sink.Stats{Written: 9, Waiting: 2}}, // busy, not waiting
		{file: sink.Stats{Written: 9, Waiting: 4, LastError: syscall.ENOSPC},
			want: "weir: the log waits: a.log: the last error was: no space left on device\n"},
		{file: sink.Stats{Written: 9, Waiting: 9, LastError: syscall.ENOSPC}},
		{file: sink.Stats{Written: 9, Waiting: 9, Dropped: full(3), LastError: syscall.ENOSPC},
			want: "weir: the log loses events: a.log: the queue is full; the last error was: no space left on " +
				"device; /metrics counts them\n"},
		{file: sink.Stats{Written: 9, Waiting: 9, Dropped: full(5), LastError: syscall.ENOSPC}},
		// no request in this tick
		{file: sink.Stats{Written: 9, Waiting: 9, Dropped: full(5), LastError: syscall.ENOSPC}},
		{file: sink.Stats{Written: 18, Dropped: full(5)},
			want: "weir: the log is written again: a.log; 5 events are lost so far\n"},
		{file: sink.Stats{Written: 20, Dropped: full(5)}, stdout: sink.Stats{Dropped: broken(1),
			LastError: syscall.EPIPE},
			want: "weir: the log loses events: stdout: the last error was: broken pipe; /metrics counts them\n"},
		{file: sink.Stats{Written: 22, Dropped: full(5)}, stdout: sink.Stats{Dropped: broken(1), Written: 1,
			LastError: syscall.EPIPE}, diverted: 1,
			want: "weir: the log's stdout has no reader; its events go to stderr\n" +
				"weir: the log is written again: stdout; 1 events are lost so far\n"},
		{file: sink.Stats{Written: 22, Dropped: full(5)}, stdout: sink.Stats{Dropped: broken(1), Written: 2,
			Waiting: 1}, diverted: 2},
		{file: sink.Stats{Written: 22, Dropped: full(5)}, stdout: sink.Stats{Dropped: broken(1), Written: 2,
			Waiting: 1}, diverted: 2,
			want: "weir: the log waits: stdout: its reader is too slow or has stalled\n"},
	} {
		w.check([]logto.Destination{{To: "a.log", Stats: tick.file}, {To: "stdout", Stats: tick.stdout,
			Diverted: tick.diverted}})
		if got := said.String(); got != tick.want {
			t.Errorf("tick %d: got %q, want %q", i, got, tick.want)
		}
		said.Reset()
	}
}
