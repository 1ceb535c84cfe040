package logtest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/errs"
	"github.com/weirhq/weir/log/logtest"
	"github.com/weirhq/weir/log/record"
)

// A fakeT is a test that records its output and failures.
type fakeT struct {
	testing.TB
	output   bytes.Buffer
	failures []string
	cleanups []func()
	ended    bool
}

func (t *fakeT) Error(args ...any) { t.failures = append(t.failures, fmt.Sprint(args...)) }

func (t *fakeT) Helper()          {}
func (t *fakeT) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Output panics in the same cases as that of a real test.
func (t *fakeT) Output() io.Writer {
	if t.ended {
		panic("output after the test has ended")
	}
	return &t.output
}

func (t *fakeT) Errorf(format string, args ...any) {
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

func (t *fakeT) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(fatal{})
}

type fatal struct{}

func (t *fakeT) end() {
	for _, f := range t.cleanups {
		f()
	}
	t.ended = true
}

func TestEventsAreKept(t *testing.T) {
	logger, events := logtest.New(t)
	logger.Debug("first").Str("a", "b\n").Int("n", 1).Float64("f", 0.5).Bool("yes", true).Strs("list", []string{"x"}).
		Object("o", func(e log.Event) { e.Int("n", 2) }).Any("none", nil).Send()
	logger.Info("second").TraceID("abc").HTTP(&log.HTTP{Method: "GET", StatusCode: 200}).Send()
	logger.Error("first").Err(errs.New("broken").Int("part", 3)).Send()

	all := events.All()
	var names []string
	for _, e := range all {
		names = append(names, e.Event)
	}
	if got, want := strings.Join(names, " "), "first second first"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	for key, want := range map[string]any{
		"a": "b\n", "n": int64(1), "f": 0.5, "yes": true, "list": []any{"x"},
		"o": map[string]any{"n": int64(2)}, "none": nil, "missing": nil,
	} {
		if got := all[0].Value(key); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", key, got, want)
		}
	}
	if e := events.One("second"); e.TraceID != "abc" || e.HTTP == nil || e.HTTP.StatusCode != 200 ||
		e.Severity != record.SeverityInfo {
		t.Errorf("got %+v", e)
	}
	named := events.Named("first")
	if len(named) != 2 || len(named[1].Errors) != 1 {
		t.Fatalf("got %+v, want two events, one with an error", named)
	}
	if e := named[1].Errors[0]; e.Message != "broken" || len(e.Stack) == 0 || e.Data[0].Value != "3" {
		t.Errorf("got %+v", e)
	}
	if got := events.Named("third"); len(got) != 0 {
		t.Errorf("got %+v, want none", got)
	}
}

func TestEventsAreShown(t *testing.T) {
	fake := new(fakeT)
	logger, _ := logtest.New(fake)
	logger.Warn("disk nearly full").Str("disk", "/dev/a b").Err(errors.New("why")).Send()
	got := fake.output.String()
	if want := "WARN  disk nearly full disk=\"/dev/a b\"\n    error: why\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q at its end", got, want)
	}
}

func TestLongEventsAreWhole(t *testing.T) {
	logger, events := logtest.New(new(fakeT))
	long := strings.Repeat("x", 100<<10)
	logger.Info("long").Str("text", long).Send()
	if e := events.One("long"); e.Value("text") != long || len(e.Truncated) > 0 {
		t.Errorf("cut: %v", e.Truncated)
	}
}

func TestEventsAreReadInEachFormat(t *testing.T) {
	for _, format := range []log.Format{log.FormatJSON, log.FormatJSONv1, log.FormatLTSV} {
		fake := new(fakeT)
		events := logtest.NewEvents(fake)
		logger := log.New(events, log.Options{Format: format, Redact: []string{"password"}})
		logger.Info("login").Str("user", "ada").Str("password", "hunter2").Send()
		e := events.One("login")
		if e.Value("user") != "ada" || e.Value("password") != "[redacted]" || len(fake.failures) > 0 {
			t.Errorf("%v: got %+v, failures %q", format, e.Data, fake.failures)
		}
	}
}

func TestOneFailsWithoutExactlyOneEvent(t *testing.T) {
	for name, want := range map[string]string{
		"none": `0 events "none", want one; there were: two, two, other`,
		"two":  `2 events "two", want one; there were: two, two, other`,
	} {
		fake := new(fakeT)
		logger, events := logtest.New(fake)
		logger.Info("two").Send()
		logger.Info("two").Send()
		logger.Info("other").Send()
		func() {
			defer func() {
				if recover() != (fatal{}) {
					t.Errorf("%s: One did not end the test", name)
				}
			}()
			events.One(name)
		}()
		if got := strings.Join(fake.failures, "\n"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestOtherLinesFail(t *testing.T) {
	fake := new(fakeT)
	events := logtest.NewEvents(fake)
	io.WriteString(events, "no event\n")
	if len(fake.failures) != 1 || !strings.Contains(fake.failures[0], `"no event\n"`) {
		t.Errorf("failures %q, want one that shows the line", fake.failures)
	}
}

// TestEventsAfterTheEndAreIgnored logs from goroutines while the test ends and afterwards.
func TestEventsAfterTheEndAreIgnored(t *testing.T) {
	fake := new(fakeT)
	logger, events := logtest.New(fake)
	var all sync.WaitGroup
	stop := make(chan bool)
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					logger.Info("late").Send()
				}
			}
		})
	}
	fake.end()
	kept := len(events.All())
	logger.Info("too late").Send()
	close(stop)
	all.Wait()
	if got := len(events.All()); got != kept || len(fake.failures) > 0 {
		t.Errorf("%d events, %d when the test ended, failures %q", got, kept, fake.failures)
	}
}

// TestEventsAfterSubtestAreIgnored is TestEventsAfterTheEndAreIgnored with a real test, which would panic.
func TestEventsAfterSubtestAreIgnored(t *testing.T) {
	var logger *log.Logger
	var events *logtest.Events
	t.Run("sub", func(t *testing.T) {
		logger, events = logtest.New(t)
		t.Cleanup(func() { logger.Info("in cleanup").Send() })
	})
	logger.Info("late").Send()
	if all := events.All(); len(all) != 1 || all[0].Event != "in cleanup" {
		t.Errorf("got %+v, want only the event of the cleanup", all)
	}
}

func TestEventsMayBeReadWhileOthersLog(t *testing.T) {
	logger, events := logtest.New(new(fakeT))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				logger.Info("event").Send()
				events.Named("event")
			}
		})
	}
	all.Wait()
	if got := len(events.All()); got != 200 {
		t.Errorf("%d events, want 200", got)
	}
}
