package sink_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

// A report is an event that a queue wrote itself.
type report struct {
	CreatedAt time.Time `json:"created_at"`
	Namespace string
	Event     string
	Severity  int
	Data      struct {
		Count                              map[string]map[string]uint64
		Since                              time.Time
		Emitted, Written, Dropped, Waiting uint64
	}
	before int // number of lines before it in the log
}

// reports returns the events with that name in a log.
func reports(t *testing.T, output, event string) (list []report) {
	t.Helper()
	before := 0
	for line := range strings.Lines(output) {
		if strings.Contains(line, event) {
			r := report{before: before}
			if err := json.Unmarshal([]byte(line), &r); err != nil || r.Event != event {
				t.Fatalf("%q: %v", line, err)
			}
			list = append(list, r)
		}
		before++
	}
	return list
}

// TestQuietQueueWritesNoEvents drops lines of a queue for lines that are no events.
func TestQuietQueueWritesNoEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		w.stall()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 8000, Quiet: true})
		line := []byte(strings.Repeat("x", 99) + "\n")
		for range 200 {
			q.Write(line)
		}
		w.goOn()
		time.Sleep(time.Minute)
		closeQueue(t, q)
		s := q.Stats()
		if got := strings.Count(w.output(), string(line)); s.Lost() == 0 || got != strings.Count(w.output(), "\n") ||
			uint64(got) != s.Written || s.Emitted != 200 {
			t.Errorf("the counts are %+v, and %d lines are written:\n%s", s, got, w.output())
		}
	})
}

// TestGapIsReportedByOneEvent drops events while the writer blocks for three seconds: one
// event reports them afterwards.
func TestGapIsReportedByOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		w.stall()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 8000})
		log.New(q, log.Options{Namespace: "shop", Level: log.LevelFatal})
		line := []byte(strings.Repeat("x", 99) + "\n")
		fill := func(n int) {
			for range n {
				for _, level := range []log.Level{log.LevelDebug, log.LevelInfo, log.LevelError} {
					q.WriteEvent(level, line)
				}
			}
		}
		fill(10)
		time.Sleep(time.Second)
		since := time.Now()
		fill(100)
		time.Sleep(2 * time.Second)
		lost := q.Stats()
		w.goOn()
		synctest.Wait()
		fill(5) // into a queue with space

		closeQueue(t, q)
		gaps := reports(t, w.output(), "log events dropped")
		if len(gaps) != 1 {
			t.Fatalf("%d events tell of the gap, want 1:\n%s", len(gaps), w.output())
		}
		g := gaps[0]
		if g.Namespace != "shop" || g.Severity != 2 || !g.Data.Since.Equal(since) || !g.CreatedAt.Equal(since.Add(2*time.Second)) {
			t.Errorf("got %+v, want a warning of shop since %v", g, since)
		}
		for _, loss := range lost.Dropped {
			if got := g.Data.Count[loss.Level.String()][string(loss.Reason)]; got != loss.Events {
				t.Errorf("count of %v %v: %d, want %d", loss.Level, loss.Reason, got, loss.Events)
			}
		}
		if s := q.Stats(); s.Emitted != 345+1 {
			t.Errorf("Emitted = %d, want 345 and the queue's own", s.Emitted)
		}
		checkLines(t, w.output(), q.Stats())
	})
}

// A rejecting writer takes all lines, and rejects those that end in "bad".
type rejecting struct{ bytes.Buffer }

func (w *rejecting) Write(p []byte) (int, error) {
	bad := bytes.Count(p, []byte("bad\n"))
	w.Buffer.Write(p)
	if bad > 0 {
		return len(p), &sink.RejectedError{Lines: bad, Err: fmt.Errorf("%d lines are bad", bad)}
	}
	return len(p), nil
}

// TestRejectionIsReportedWithoutAnotherEvent rejects one of three lines. The writer took the
// others, so the report does not wait for the next event.
func TestRejectionIsReportedWithoutAnotherEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w rejecting
		q := sink.NewQueue(&w, sink.QueueOptions{Linger: time.Millisecond})
		for _, line := range []string{"good\n", "good\n", "bad\n"} {
			q.WriteEvent(log.LevelError, []byte(line))
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if gaps := reports(t, w.String(), "log events dropped"); len(gaps) != 1 ||
			gaps[0].Data.Count["error"]["rejected"] != 1 {
			t.Errorf("the log is %q, want one report of one rejected event", w.String())
		}
		closeQueue(t, q)
	})
}

// TestGapsAreSummed writes to a log that is always too slow: it gets one event
// per second, and the sum of these is the number of lost events.
func TestGapsAreSummed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newFaulty()
		q := sink.NewQueue(writerFunc(func(p []byte) (int, error) {
			time.Sleep(10 * time.Millisecond)
			return slow.Write(p)
		}), sink.QueueOptions{Bytes: 4000, WhenFull: sink.Drop})
		line := []byte(strings.Repeat("x", 99) + "\n")
		for range 5000 {
			q.Write(line)
			time.Sleep(100 * time.Microsecond * 10)
			for range 9 {
				q.Write(line)
			}
		}
		closeQueue(t, q)
		gaps := reports(t, slow.output(), "log events dropped")
		if n := len(gaps); n < 5 || n > 7 {
			t.Errorf("%d events in 5 seconds, want one each", n)
		}
		var told uint64
		for _, g := range gaps {
			told += g.Data.Count["info"]["full"]
		}
		if lost := q.Stats().Lost(); told != lost || lost == 0 {
			t.Errorf("%d events were lost, told of %d", lost, told)
		}
		checkLines(t, slow.output(), q.Stats())
	})
}

// TestLostReportIsAddedToTheNext loses the event that reports a loss: the next one
// reports both.
func TestLostReportIsAddedToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		q := sink.NewQueue(w, sink.QueueOptions{})
		write := func(line string) {
			q.Write([]byte(line + "\n"))
			synctest.Wait()
		}
		w.fail(step{0, syscall.EPIPE})
		write("lost")
		since := time.Now()
		time.Sleep(time.Minute)
		w.fail(step{1000, nil})
		w.fail(step{10, syscall.EPIPE}) // the event that reports it
		write("written")
		time.Sleep(time.Minute)
		write("written, too")
		closeQueue(t, q)

		if n := strings.Count(w.output(), "\n"); n != 4 {
			t.Errorf("%d lines, want two, a torn one and one that tells of it:\n%s", n, w.output())
		}
		lines := strings.SplitAfter(w.output(), "\n")
		gaps := reports(t, lines[len(lines)-2], "log events dropped")
		if len(gaps) != 1 {
			t.Fatalf("got\n%s", w.output())
		}
		d := gaps[0].Data
		if d.Count["info"]["write_error"] != 1 || d.Count["warn"]["write_error"] != 1 || !d.Since.Equal(since) {
			t.Errorf("got %+v, want an info and a warn since %v", d, since)
		}
		if err := identity(q.Stats()); err != nil || q.Stats().Emitted != 5 {
			t.Errorf("%v: %+v", err, q.Stats())
		}
	})
}

// TestHeartbeatProvesLogIsComplete checks that the log proves that it is complete.
func TestHeartbeatProvesLogIsComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		opened := time.Now()
		q := sink.NewQueue(w, sink.QueueOptions{Bytes: 4000, WhenFull: sink.Drop, Heartbeat: 10 * time.Second})
		for i := range 100 { // for 100 s, followed by an hour without events
			q.Write(fmt.Appendf(nil, "line %d\n", i))
			time.Sleep(time.Second)
			if i == 50 {
				w.stall()
				q.Write([]byte("the writer has this\n"))
				synctest.Wait()
				for range 500 {
					q.Write([]byte("and the queue is full of that\n"))
				}
				w.goOn()
			}
		}
		time.Sleep(time.Hour)
		q.Write([]byte("the last\n"))
		closeQueue(t, q)

		totals := reports(t, w.output(), "log totals")
		if n := len(totals); n < 10 || n > 12 {
			t.Errorf("%d totals, want one for each of 10 busy spans of 10 s, and one at the end", n)
		}
		for _, r := range totals {
			d := r.Data
			if d.Written != uint64(r.before) || d.Emitted != d.Written+d.Dropped+d.Waiting || !d.Since.Equal(opened) || r.Severity != 3 {
				t.Errorf("after %d lines: %+v", r.before, r)
			}
		}
		last := totals[len(totals)-1]
		s := q.Stats()
		if d := last.Data; d.Written != s.Written-1 || d.Dropped != s.Lost() || d.Waiting != 0 || s.Lost() == 0 {
			t.Errorf("the last of them: %+v; Stats = %+v", d, s)
		}
		checkLines(t, w.output(), s)
	})
}

// TestReportsHaveTheFormat checks that a queue's own events have the format of
// the other events.
func TestReportsHaveTheFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFaulty()
		w.fail(step{0, syscall.EPIPE})
		q := sink.NewQueue(w, sink.QueueOptions{Heartbeat: time.Second})
		q.UseOptions(log.Options{Namespace: "shop", Format: log.FormatLTSV})
		q.Write([]byte("lost\n"))
		synctest.Wait()
		q.Write([]byte("written\n"))
		closeQueue(t, q)
		for _, want := range []string{
			"event:log events dropped", "count.info.write_error:1", "since:2000-01-01T00:00:00",
			"namespace:shop", "event:log totals", "emitted:3", "written:2", "dropped:1", "waiting:0",
		} {
			labels := strings.FieldsFunc(w.output(), func(r rune) bool { return r == '\t' || r == '\n' })
			if !slices.ContainsFunc(labels, func(label string) bool { return strings.HasPrefix(label, want) }) {
				t.Errorf("no label %q in\n%s", want, w.output())
			}
		}
	})
}

// TestReportsHaveTheLoggersNamespace checks the totals of a queue below other
// writers. The queue must get the namespace from the logger.
func TestReportsHaveTheLoggersNamespace(t *testing.T) {
	filter := func(q *sink.Queue) log.EventWriter { return sink.NewFilter(q, log.LevelInfo) }
	for name, c := range map[string]struct {
		w    func(*sink.Queue) io.Writer
		want string
	}{
		"queue":  {func(q *sink.Queue) io.Writer { return q }, "shop"},
		"filter": {func(q *sink.Queue) io.Writer { return filter(q) }, "shop"},
		"tee":    {func(q *sink.Queue) io.Writer { return sink.NewTee(sink.NewDirect(io.Discard), filter(q)) }, "shop"},
		"none":   {func(*sink.Queue) io.Writer { return io.Discard }, "second"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			q := sink.NewQueue(&out, sink.QueueOptions{Heartbeat: time.Hour})
			log.New(c.w(q), log.Options{Namespace: "shop", Format: log.FormatAuto, Level: log.LevelFatal})
			log.New(q, log.Options{Namespace: "second"})
			q.Write([]byte("{}\n"))
			closeQueue(t, q)
			totals := reports(t, out.String(), "log totals")
			if len(totals) != 1 || totals[0].Namespace != c.want {
				t.Errorf("totals %+v, want one of the namespace %q", totals, c.want)
			}
		})
	}
}
