package log_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/log"
)

func TestLevelDecidesWhichEventsAreWritten(t *testing.T) {
	for _, floor := range []log.Level{log.LevelDebug, log.LevelInfo, log.LevelError, log.LevelFatal} {
		var w lineWriter
		logger := log.New(&w, log.Options{Level: floor})
		want := 0
		for level := log.LevelDebug; level <= log.LevelFatal; level++ {
			logger.Log(level, "event").Send()
			logger.With().Logger().Log(level, "event").Send()
			if level >= floor {
				want += 2
			}
			if got := logger.Enabled(level); got != (level >= floor) {
				t.Errorf("Enabled(%v) at %v = %v", level, floor, got)
			}
		}
		if len(w.lines) != want {
			t.Errorf("at %v: %d lines, want %d", floor, len(w.lines), want)
		}
	}
}

func TestLoggersWithoutWriterDiscard(t *testing.T) {
	for name, logger := range map[string]*log.Logger{"nil": nil, "zero": {}, "no writer": log.New(nil, log.Options{})} {
		if logger.Enabled(log.LevelFatal) {
			t.Errorf("%s: enabled", name)
		}
		everyScalar(logger.Fatal("event"), instant).HTTP(&aRequest).Auth("a", log.IdentityUser).Err(errRefused).
			Any("a", 1).Stringer("s", instant).Object("o", nil).Array("a", nil).Strs("s", nil).
			Bytes("b", nil).Hex("h", nil).TraceID("t").SpanID("s").At(instant).Send()
		logger.With().Str("a", "b").Logger().Error("event").Send()
	}
}

func TestWithAddsFieldsToEachEvent(t *testing.T) {
	var w lineWriter
	root := log.New(&w, log.Options{Namespace: "test"})
	request := root.With().Str("tenant", "t").TraceID("trace").Err(errRefused).At(instant).Logger()
	child := request.With().SpanID("span").Int("n", 1).HTTP(&log.HTTP{StatusCode: 200}).TraceID("other").Logger()

	child.Error("event").At(instant).Str("a", "b").HTTP(&log.HTTP{StatusCode: 404}).Send()
	request.Info("event").At(instant).Int("n", 2).Err(errRefused).Send()
	root.Info("event").At(instant).Send()

	refused := `{"message":"` + errRefused.Error() + `"}`
	for i, want := range []string{
		`,"trace_id":"other","span_id":"span","severity":1,"http":{"status_code":404},"data":{"tenant":"t","n":1` +
			`,"a":"b"},"errors":[` + refused + "]}\n",
		`,"trace_id":"trace","severity":3,"data":{"tenant":"t","n":2},"errors":[` + refused + "," + refused + "]}\n",
		`,"severity":3}` + "\n",
	} {
		if w.lines[i] != prefix+want {
			t.Errorf("line %d:\ngot  %swant %s", i, w.lines[i], prefix+want)
		}
	}
}

func TestCallsAfterTheEndAreIgnored(t *testing.T) {
	var w lineWriter
	logger := log.New(&w, log.Options{})
	with := logger.With().Str("a", "b")
	with.Send() // an event of With cannot be sent
	e := logger.Info("event")
	e.Send()
	e.Send()
	if len(w.lines) != 1 {
		t.Errorf("%d lines, want 1: %q", len(w.lines), w.lines)
	}
	if e.Logger() != nil {
		t.Error("an event that was sent gave a logger")
	}
}

// An eventWriter is an EventWriter whose Write must not be called.
type eventWriter struct {
	levels []log.Level
	io.Writer
}

func (w *eventWriter) WriteEvent(level log.Level, line []byte) (int, error) {
	w.levels = append(w.levels, level)
	return len(line), nil
}

func TestEventWriterIsPreferred(t *testing.T) {
	w := &eventWriter{}
	logger := log.New(w, log.Options{OnError: func(err error) { t.Error(err) }})
	logger.Warn("event").Send()
	logger.Fatal("event").Send()
	if len(w.levels) != 2 || w.levels[0] != log.LevelWarn || w.levels[1] != log.LevelFatal {
		t.Errorf("levels %v, want warn and fatal", w.levels)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriteErrorsReachOnError(t *testing.T) {
	for name, c := range map[string]struct {
		write writerFunc
		want  string
	}{
		"error": {func([]byte) (int, error) { return 0, os.ErrClosed }, os.ErrClosed.Error()},
		"short": {func(p []byte) (int, error) { return len(p) - 1, nil }, io.ErrShortWrite.Error()},
		"panic": {func([]byte) (int, error) { panic("why") }, "writer panicked: why"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []error
			logger := log.New(c.write, log.Options{OnError: func(err error) { got = append(got, err) }})
			logger.Info("event").Send()
			logger.Info("event").Send() // the lock was released
			if len(got) != 2 || got[0].Error() != c.want {
				t.Errorf("got %v, want %q twice", got, c.want)
			}
			log.New(c.write, log.Options{}).Info("event").Send()
		})
	}
}

// TestGoroutinesMayShareLoggers shares a logger, and loggers derived from it, among
// goroutines. The writer is not safe for concurrent use.
func TestGoroutinesMayShareLoggers(t *testing.T) {
	const goroutines, each = 8, 300
	var w lineWriter
	logger := log.New(&w, log.Options{Namespace: "test"})
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			own := logger.With().Int("goroutine", g).TraceID(strings.Repeat("t", g+1)).Logger()
			for i := range each {
				own.Info("event").Int("i", i).Str("text", strings.Repeat("x", i)).Err(errors.New("e")).
					HTTP(&aRequest).Send()
			}
		})
	}
	wg.Wait()

	seen := map[[2]int]bool{}
	for _, line := range w.lines {
		var event struct {
			TraceID string `json:"trace_id"`
			Data    struct {
				Goroutine, I int
				Text         string
			}
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil || strings.Count(line, "\n") != 1 {
			t.Fatalf("not one whole line: %v in %q", err, line)
		}
		d := event.Data
		if len(d.Text) != d.I || len(event.TraceID) != d.Goroutine+1 {
			t.Fatalf("mixed up with another event: %s", line)
		}
		seen[[2]int{d.Goroutine, d.I}] = true
	}
	if len(seen) != goroutines*each || len(w.lines) != len(seen) {
		t.Errorf("%d lines, %d different, want %d", len(w.lines), len(seen), goroutines*each)
	}
}
