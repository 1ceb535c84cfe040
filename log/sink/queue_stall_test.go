//go:build unix

package sink_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

func init() {
	processes["consumer"] = func([]string) error {
		_, err := io.Copy(os.Stdout, struct{ io.Reader }{os.Stdin})
		return err
	}
}

// A consumer is a process that copies a pipe to a file.
type consumer struct {
	pipe *os.File // the write end
	cmd  *exec.Cmd
	file string
}

func startConsumer(t *testing.T) *consumer {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := &consumer{pipe: w, file: filepath.Join(t.TempDir(), "log")}
	out, err := os.Create(c.file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c.cmd = process(t, "consumer")
	c.cmd.Stdin, c.cmd.Stdout = r, out
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *consumer) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// output closes the pipe and returns the data that the consumer read.
func (c *consumer) output(t *testing.T) string {
	t.Helper()
	c.pipe.Close()
	c.cmd.Wait() // it returns an error if the consumer was killed
	text, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A load logs events at a fixed rate, and records the duration of each call.
type load struct {
	out   *sink.Queue
	began time.Time
	sent  int
	calls []time.Duration
}

const eventsPerSecond = 20_000

// forNext logs for that long. If it falls behind, it sends the missed events
// late.
func (l *load) forNext(d time.Duration) {
	if l.began.IsZero() {
		l.began = time.Now()
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	line := make([]byte, 0, 400)
	for last := l.sent + int(d.Seconds()*eventsPerSecond); l.sent < last; <-tick.C {
		due := int(time.Since(l.began).Seconds() * eventsPerSecond)
		for ; l.sent < min(due, last); l.sent++ {
			line = fmt.Appendf(line[:0], "<%d ", l.sent)
			line = append(line, bytes.Repeat([]byte("x"), 397-len(line))...)
			line = append(line, ">\n"...)
			began := time.Now()
			l.out.WriteEvent(log.Level(l.sent%100/33)-1, line) // 1% errors
			l.calls = append(l.calls, time.Since(began))
		}
	}
}

// p99 returns the 99th percentile of the durations since the previous call.
func (l *load) p99() time.Duration {
	slices.Sort(l.calls)
	p := l.calls[len(l.calls)*99/100]
	l.calls = l.calls[:0]
	return p
}

// TestStoppedConsumerDelaysNoCaller stops the process that reads the log, under load: callers
// do not slow down, memory stays within its limit, and when the process
// continues, the log reports the lost events.
func TestStoppedConsumerDelaysNoCaller(t *testing.T) {
	const size = 8 << 20
	stalled := 3 * time.Second
	if os.Getenv("WEIR_SOAK") != "" {
		stalled = time.Minute
	}
	c := startConsumer(t)
	base := heap()
	q := sink.NewQueue(c.pipe, sink.QueueOptions{Bytes: size, Heartbeat: 500 * time.Millisecond})
	l := &load{out: q, calls: make([]time.Duration, 0, int((stalled+2*time.Second).Seconds()*eventsPerSecond))}
	own := int64(cap(l.calls)) * 8

	l.forNext(500 * time.Millisecond)
	before := l.p99()
	c.signal(t, syscall.SIGSTOP)
	stopped := time.Now()
	l.forNext(stalled) // less time, if the load before took longer
	stood := time.Since(stopped)
	during := l.p99()
	grown := heap() - base - own
	s := q.Stats()
	if err := identity(s); err != nil || s.Lost() == 0 {
		t.Errorf("while the consumer stands still: %v, %d lost", err, s.Lost())
	}
	if grown > size+2<<20 {
		t.Errorf("the heap grew by %d KiB, want %d KiB and 2 MiB at most", grown>>10, size>>10)
	}
	if s.LongestWrite < stood*9/10 {
		t.Errorf("LongestWrite = %v, want about %v", s.LongestWrite, stood)
	}
	for _, loss := range s.Dropped {
		if loss.Level == log.LevelError && stalled < 10*time.Second {
			t.Errorf("lost %+v, while the last eighth has room for some seconds of errors", loss)
		}
	}
	c.signal(t, syscall.SIGCONT)
	l.forNext(500 * time.Millisecond)
	closeQueue(t, q)
	runtime.KeepAlive(l)
	t.Logf("p99 of a call: %v before, %v during; heap grew by %d KiB; %d of %d lost", before, during, grown>>10, s.Lost(), l.sent)
	checkWhatIsMissing(t, c.output(t), q.Stats(), l.sent)
}

// checkWhatIsMissing reads a log as its owner does: every line is whole and in
// order, and the events of the queue explain each missing one.
func checkWhatIsMissing(t *testing.T, output string, s sink.Stats, sent int) {
	t.Helper()
	last, lines := -1, 0
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "{") {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(line, "<%d ", &n); err != nil || n <= last || len(line) != 399 || !strings.HasSuffix(line, "x>\n") {
			t.Fatalf("after line %d: %.60q of %d bytes: %v", last, line, len(line), err)
		}
		last = n
		lines++
	}
	var told uint64
	for _, gap := range reports(t, output, "log events dropped") {
		for _, reasons := range gap.Data.Count {
			told += reasons["full"]
		}
	}
	if missing := uint64(sent - lines); told != missing || told != s.Lost() {
		t.Errorf("%d lines are missing, the log tells of %d, Stats of %d", missing, told, s.Lost())
	}
	totals := reports(t, output, "log totals")
	end := totals[len(totals)-1].Data
	if end.Emitted != uint64(strings.Count(output, "\n")-1)+told || end.Dropped != told || end.Waiting != 0 {
		t.Errorf("the last totals say %+v; there are %d lines and %d lost", end, strings.Count(output, "\n"), told)
	}
	checkLines(t, output, s)
}

// TestBlockWaitsForStoppedConsumer stops a consumer for half a second. With
// Block no event is lost.
func TestBlockWaitsForStoppedConsumer(t *testing.T) {
	c := startConsumer(t)
	q := sink.NewQueue(c.pipe, sink.QueueOptions{Bytes: 1 << 20, WhenFull: sink.Block})
	l := &load{out: q}
	c.signal(t, syscall.SIGSTOP)
	timer := time.AfterFunc(500*time.Millisecond, func() { c.cmd.Process.Signal(syscall.SIGCONT) })
	defer timer.Stop()
	l.forNext(500 * time.Millisecond)
	closeQueue(t, q)
	if s := q.Stats(); s.Lost() != 0 || s.Written != uint64(l.sent) || s.HighWaterBytes > 1<<20 {
		t.Errorf("Stats = %+v, want %d written", s, l.sent)
	}
	checkLines(t, c.output(t), q.Stats())
}

// TestEventsForKilledConsumerAreCounted kills the process that reads the log, under load:
// unwritten events are counted, and the queue can be closed.
func TestEventsForKilledConsumerAreCounted(t *testing.T) {
	c := startConsumer(t)
	q := sink.NewQueue(c.pipe, sink.QueueOptions{})
	l := &load{out: q}
	l.forNext(200 * time.Millisecond)
	c.signal(t, syscall.SIGKILL)
	l.forNext(200 * time.Millisecond)
	closeQueue(t, q)
	s := q.Stats()
	if err := identity(s); err != nil || s.Waiting != 0 || s.Emitted != uint64(l.sent) {
		t.Errorf("%v, %d emitted of %d, %d waiting", err, s.Emitted, l.sent, s.Waiting)
	}
	for _, loss := range s.Dropped {
		if loss.Reason != sink.WriteError {
			t.Errorf("lost for another reason than the pipe: %+v", loss)
		}
	}
	if s.Lost() == 0 || !strings.Contains(fmt.Sprint(s.LastError), "broken pipe") {
		t.Errorf("%d lost, the last to %v", s.Lost(), s.LastError)
	}
	// The data in the pipe is lost with its reader, and the data that it had
	// read but not written.
	const mayBeLost = (64<<10 + 32<<10) / 399
	lines := strings.Count(c.output(t), "\n")
	if lines > int(s.Written) || lines < int(s.Written)-mayBeLost {
		t.Errorf("%d lines were read, %d written", lines, s.Written)
	}
}
