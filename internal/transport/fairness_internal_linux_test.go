package transport

import (
	"io"
	"slices"
	"testing"
	"time"
)

// TestFairness checks that a task that can always continue, because of a long response to a
// fast client or because of many small answers to a pipeline, delays others on its loop by
// less than a millisecond. A few longer delays are due to other processes.
func TestFairness(t *testing.T) {
	for name, work := range map[string]func(c Conn) error{
		"long response": func(c Conn) (err error) {
			for body := make([]byte, 64<<20); err == nil; {
				_, err = c.Write(body)
			}
			return err
		},
		"pipeline": func(c Conn) (err error) {
			for answer := make([]byte, 200); err == nil; {
				_, err = c.Write(answer)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := startLoop(t)
			c, peer := l.pair(t)
			go io.Copy(io.Discard, peer)
			l.Post(func() { l.Go(taskFunc(func() { work(c) })) })
			var delays []time.Duration
			l.do(func() {
				for start := time.Now(); time.Since(start) < time.Second; {
					before := time.Now()
					l.running.wake()
					l.running.wait()
					delays = append(delays, time.Since(before))
				}
			})
			c.Close()
			slices.Sort(delays)
			n := len(delays)
			t.Logf("%d delays: median %v, p99 %v, longest %v", n, delays[n/2], delays[n*99/100], delays[n-1])
			if n < 1000 && !raceDetector || delays[n*98/100] > time.Millisecond {
				t.Errorf("%d delays, p98 %v; want less than 1ms", n, delays[n*98/100])
			}
		})
	}
}
