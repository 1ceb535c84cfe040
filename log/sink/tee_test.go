package sink_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

var _ log.EventWriter = (*sink.Tee)(nil)

// TestBlockedPartDelaysNoOther blocks one of three parts: the others get every event
// without delay, and the Stats of the blocked part count the rest.
func TestBlockedPartDelaysNoOther(t *testing.T) {
	for name, c := range map[string]struct {
		o     sink.QueueOptions
		waits time.Duration // in total
	}{
		"drop":  {sink.QueueOptions{Bytes: 1 << 10, WhenFull: sink.Drop}, 0},
		"shed":  {sink.QueueOptions{Bytes: 1 << 10}, 0},
		"block": {sink.QueueOptions{Bytes: 1 << 10, WhenFull: sink.Block, Wait: time.Millisecond}, 1000 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				still := make(chan struct{})
				var first, last bytes.Buffer
				parts := []*sink.Queue{
					sink.NewQueue(&first, sink.QueueOptions{WhenFull: sink.Block}),
					sink.NewQueue(writerFunc(func(p []byte) (int, error) { <-still; return len(p), nil }), c.o),
					sink.NewQueue(&last, sink.QueueOptions{WhenFull: sink.Block}),
				}
				tee := sink.NewTee(parts[0], parts[1], parts[2])
				began := time.Now()
				var want strings.Builder
				var failed uint64
				for i := range 1000 {
					line := fmt.Sprintf("[event %d]\n", i)
					want.WriteString(line)
					if n, err := tee.WriteEvent(log.LevelInfo, []byte(line)); err != nil {
						failed++
						if !errors.Is(err, sink.ErrFull) || n != 0 {
							t.Fatalf("WriteEvent = %d, %v; want 0, %v", n, err, sink.ErrFull)
						}
					}
				}
				if waited := time.Since(began); waited > c.waits {
					t.Errorf("the caller waited for %v, want at most %v", waited, c.waits)
				}
				close(still)
				for i, part := range parts {
					if err := part.Close(context.Background()); err != nil {
						t.Error(err)
					}
					s := part.Stats()
					if err := identity(s); err != nil {
						t.Errorf("part %d: %v", i, err)
					}
					if i != 1 && (s.Written != 1000 || s.Lost() != 0) {
						t.Errorf("part %d: %+v, want 1000 written", i, s)
					}
					if i == 1 && (s.Lost() != failed || failed == 0) {
						t.Errorf("the part that stands still has lost %d, callers were told of %d", s.Lost(), failed)
					}
				}
				if first.String() != want.String() || last.String() != want.String() {
					t.Error("the other parts have not every event in its order")
				}
			})
		})
	}
}

func TestTeeAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	nowhere := writerFunc(func(p []byte) (int, error) { return len(p), nil })
	tee := sink.NewTee(sink.NewDirect(nowhere), sink.NewDirect(nowhere))
	line := []byte("a line\n")
	if n := testing.AllocsPerRun(1000, func() { tee.Write(line) }); n != 0 {
		t.Errorf("Write allocates %v times", n)
	}
}
