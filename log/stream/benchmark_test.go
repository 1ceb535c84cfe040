package stream_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// A distant is a server that stores nothing and responds after a delay.
type distant struct{ delay time.Duration }

func (d distant) Deliver(context.Context, stream.Batch) error {
	if d.delay > 0 {
		time.Sleep(d.delay)
	}
	return nil
}

func (distant) Close() error { return nil }

var benchmarkLine = append(bytes.Repeat([]byte("x"), 399), '\n')

// BenchmarkThroughput measures how many lines of 400 bytes a Sink delivers in a second to a
// server with some delay, by the size of its batches.
func BenchmarkThroughput(b *testing.B) {
	for _, spill := range []bool{false, true} {
		for _, delay := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond} {
			for _, batch := range []int{56 << 10, 256 << 10, 1 << 20} {
				b.Run(fmt.Sprintf("spill=%v/delay=%v/batch=%dKiB", spill, delay, batch>>10), func(b *testing.B) {
					o := stream.Options{Queue: sink.QueueOptions{WhenFull: sink.Block}, Batch: batch}
					if spill {
						o.Spill.Folder = b.TempDir()
					}
					out, err := stream.New(distant{delay}, o)
					if err != nil {
						b.Fatal(err)
					}
					began := time.Now()
					for b.Loop() {
						out.WriteEvent(log.LevelInfo, benchmarkLine)
					}
					if err := out.Close(b.Context()); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(out.Stats().Written)/time.Since(began).Seconds(), "lines/s")
				})
			}
		}
	}
}
