//go:build unix

package stream_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
	"github.com/weirhq/weir/log/stream"
)

// BenchmarkCPU measures the CPU time of a line at 20,000 lines in a second: to a file, and to a
// server without a protocol.
func BenchmarkCPU(b *testing.B) {
	type destination interface {
		WriteEvent(log.Level, []byte) (int, error)
		Close(context.Context) error
	}
	o := sink.QueueOptions{Linger: 5 * time.Millisecond}
	for _, c := range []struct {
		name string
		open func() (destination, error)
	}{
		{"file", func() (destination, error) {
			f, err := sink.OpenFile(filepath.Join(b.TempDir(), "log"), sink.FileOptions{})
			return sink.NewQueue(f, o), err
		}},
		{"memory", func() (destination, error) { return stream.New(distant{}, stream.Options{Queue: o}) }},
		{"spill", func() (destination, error) {
			return stream.New(distant{}, stream.Options{Queue: o, Spill: stream.Spill{Folder: b.TempDir()}})
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			out, err := c.open()
			if err != nil {
				b.Fatal(err)
			}
			began := cpuTime()
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for n := 0; b.Loop(); n++ {
				if n%20 == 0 {
					<-tick.C
				}
				out.WriteEvent(log.LevelInfo, benchmarkLine)
			}
			out.Close(b.Context())
			b.ReportMetric(float64(cpuTime()-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpuTime returns the CPU time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
