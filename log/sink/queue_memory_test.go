package sink_test

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/internal/waittest"
	"github.com/weirhq/weir/log/sink"
)

// TestMemoryOfQueueStaysBelowLimit floods a queue whose writer blocks, from several goroutines,
// with lines of several lengths. The heap must grow by little more than the
// queue's limit, and shrink again after the lines are written.
func TestMemoryOfQueueStaysBelowLimit(t *testing.T) {
	const size, allowed = 8 << 20, 512 << 10
	for _, length := range []int{20, 400, 16 << 10} {
		w := newGated()
		before := heap()
		q := sink.NewQueue(gatedDiscard{w}, sink.QueueOptions{Bytes: size, WhenFull: sink.Drop})
		line := append(bytes.Repeat([]byte("x"), length-1), '\n')
		var work sync.WaitGroup
		for range 4 {
			work.Go(func() {
				for range 2 * size / length / 4 {
					q.WriteEvent(log.LevelError, line)
				}
			})
		}
		<-w.began
		work.Wait()
		if grown := heap() - before; grown > size+allowed || grown < size/2 {
			t.Errorf("lines of %d bytes: the heap grew by %d KiB, want %d KiB and %d more at most", length, grown>>10, size>>10, allowed>>10)
		} else {
			t.Logf("lines of %d bytes: %d KiB of heap hold %d KiB of lines", length, grown>>10, q.Stats().WaitingBytes>>10)
		}
		if s := q.Stats(); s.Lost() == 0 || s.HighWaterBytes < s.WaitingBytes || identity(s) != nil {
			t.Errorf("Stats = %+v", s)
		}
		go func() {
			for range w.began {
				w.end <- struct{}{}
			}
		}()
		w.end <- struct{}{}
		waittest.Await(t, fmt.Sprintf("lines of %d bytes that neither wait nor use memory", length), func() bool {
			return q.Stats().Waiting == 0 && (length != 400 || heap()-before <= 2<<20)
		})
		closeQueue(t, q)
		close(w.began)
	}
}

// A gatedDiscard discards its input.
type gatedDiscard struct{ *gated }

func (w gatedDiscard) Write(p []byte) (int, error) {
	w.began <- struct{}{}
	<-w.end
	return len(p), nil
}

// heap returns the bytes in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
