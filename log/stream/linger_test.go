package stream_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// An arrival is a delivery as a server sees it.
type arrival struct {
	after time.Duration // since the first line
	lines int
}

// A clocked is a server that notes the deliveries.
type clocked struct {
	began    time.Time
	arrivals []arrival
}

func (c *clocked) Deliver(_ context.Context, b stream.Batch) error {
	c.arrivals = append(c.arrivals, arrival{time.Since(c.began), b.Count})
	return nil
}

func (*clocked) Close() error { return nil }

// TestLingerDeliversLinesTogether logs a line each 10 ms for 0.4 s. They are delivered together, at most Linger after
// the first of them, and the last ones when the Sink is closed. No line comes at the moment of a
// delivery, when it may be delivered with the others or after them.
func TestLingerDeliversLinesTogether(t *testing.T) {
	for name, spill := range map[string]bool{"memory": false, "spill": true} {
		t.Run(name, func(t *testing.T) {
			o := stream.Options{Queue: sink.QueueOptions{Linger: time.Millisecond}, Linger: 105 * time.Millisecond}
			if spill {
				o.Spill.Folder = t.TempDir()
			}
			synctest.Test(t, func(t *testing.T) {
				to := &clocked{began: time.Now()}
				out, err := stream.New(to, o)
				if err != nil {
					t.Fatal(err)
				}
				const lines = 40
				for range lines {
					out.WriteEvent(log.LevelInfo, []byte("line\n"))
					time.Sleep(10 * time.Millisecond)
				}
				if err := out.Close(t.Context()); err != nil {
					t.Error(err)
				}
				sum := 0
				for i, a := range to.arrivals {
					oldest := time.Duration(sum) * 10 * time.Millisecond
					if wait := a.after - oldest; wait > o.Queue.Linger+o.Linger {
						t.Errorf("delivery %d: a line has waited for %s", i+1, wait)
					}
					sum += a.lines
				}
				if end := to.arrivals[len(to.arrivals)-1].after; sum != lines || len(to.arrivals) > 5 || end > 400*time.Millisecond {
					t.Errorf("%d lines in %d deliveries until %s, want %d in at most 5 until 400ms: %v", sum,
						len(to.arrivals), end, lines, to.arrivals)
				}
			})
		})
	}
}
