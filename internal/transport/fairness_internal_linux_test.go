package transport

import (
	"io"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestBusyTaskDelaysOthersOnlyBriefly checks that a task that can always continue, because of a long response to a
// fast client or because of many small responses to a pipeline, delays others on its loop by
// less than a millisecond of the loop's own time. Other processes may delay the thread of the
// loop for longer.
func TestBusyTaskDelaysOthersOnlyBriefly(t *testing.T) {
	f, content := patterned(t, 1<<20)
	for name, work := range map[string]func(c Conn) error{
		"file": func(c Conn) (err error) {
			for err == nil {
				_, err = c.(FileSender).SendFile(nil, int(f.Fd()), 0, len(content))
			}
			return err
		},
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
				for start, end := threadTime(t), time.Duration(0); end < start+time.Second/2; {
					before := threadTime(t)
					l.running.wake()
					l.running.wait()
					end = threadTime(t)
					delays = append(delays, end-before)
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

// threadTime returns the processor time that the thread of the caller has used.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		t.Fatal(err)
	}
	return time.Duration(now.Nano())
}
