package sink_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// An eventSink has the methods that all sinks of this package share.
type eventSink interface {
	log.EventWriter
	Stats() sink.Stats
}

// TestStatsAddUpDespiteFaults logs from several goroutines to a writer that fails in every
// way, calls Stats in the meantime and counts the lines at the end.
func TestStatsAddUpDespiteFaults(t *testing.T) {
	for name, open := range map[string]func(w io.Writer) (eventSink, func()){
		"Direct": func(w io.Writer) (eventSink, func()) {
			d := sink.NewDirect(w)
			return d, func() { d.Close() }
		},
		"Queue": func(w io.Writer) (eventSink, func()) {
			q := sink.NewQueue(w, sink.QueueOptions{Bytes: 4 << 10, WhenFull: sink.Block})
			return q, func() { closeQueue(t, q) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &flaky{}
			out, end := open(w)
			flood(t, out, 8, 250)
			end()
			s := out.Stats()
			whole, own := wholeEvents(t, w.got.String())
			if s.Emitted < 2000+own || s.Waiting != 0 || whole+own != s.Written || s.Lost() == 0 {
				t.Errorf("%d whole lines and %d of the sink; Stats = %+v", whole, own, s)
			}
		})
	}
}

// flood logs from several goroutines, and checks that the counts of every
// snapshot add up.
func flood(t *testing.T, out eventSink, producers, each int) {
	t.Helper()
	var work, watch sync.WaitGroup
	done := make(chan struct{})
	watch.Go(func() {
		tick := time.NewTicker(100 * time.Microsecond) // the other goroutines need the CPU too
		defer tick.Stop()
		for {
			if err := identity(out.Stats()); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	for p := range producers {
		work.Go(func() {
			for i := range each {
				out.WriteEvent(log.Level(i%5-1), fmt.Appendf(nil, "[event %d of producer %d]\n", i, p))
			}
		})
	}
	work.Wait()
	close(done)
	watch.Wait()
}

// wholeEvents counts the events of flood that are whole lines, and the events
// of the sink itself.
func wholeEvents(t *testing.T, got string) (whole, own uint64) {
	t.Helper()
	for line := range strings.Lines(got) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "[event") && strings.HasSuffix(line, "]") {
			whole++
		} else if strings.HasPrefix(line, "{") && json.Valid([]byte(line)) {
			own++
		}
		if strings.Count(line, "[") > 1 {
			t.Errorf("two events on one line: %q", line)
		}
	}
	return whole, own
}
