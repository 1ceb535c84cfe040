package log_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/errs"
)

// stacksOf returns the innermost function of each error's stack, "" for an
// error without a stack.
func stacksOf(t *testing.T, line string) (innermost []string) {
	t.Helper()
	var event struct {
		Errors []struct {
			StackTrace []struct{ Function string } `json:"stack_trace"`
		}
	}
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	for _, e := range event.Errors {
		function := ""
		if len(e.StackTrace) > 0 {
			function = path.Base(e.StackTrace[0].Function)
		}
		innermost = append(innermost, function)
	}
	return innermost
}

//go:noinline
func failsWithStack() error { return errs.New("with a stack") }

//go:noinline
func logs(e log.Event, errors ...error) {
	for _, err := range errors {
		e.Err(err)
	}
	e.Send()
}

func TestStackIsForErrorsWithoutOne(t *testing.T) {
	plain := errors.New("plain")
	for name, c := range map[string]struct {
		start func(*log.Logger) log.Event
		errs  []error
		want  []string
	}{
		"without Stack": {func(l *log.Logger) log.Event { return l.Info("event") },
			[]error{plain, failsWithStack()}, []string{"", "log_test.failsWithStack"}},
		"asked": {func(l *log.Logger) log.Event { return l.Info("event").Stack() },
			[]error{plain, failsWithStack(), fmt.Errorf("a: %w", failsWithStack())},
			[]string{"log_test.logs", "log_test.failsWithStack", "log_test.failsWithStack"}},
		"a logger asked": {func(l *log.Logger) log.Event { return l.With().Stack().Logger().Info("event") },
			[]error{plain, failsWithStack()}, []string{"log_test.logs", "log_test.failsWithStack"}},
		"a logger's logger asked": {func(l *log.Logger) log.Event {
			return l.With().Stack().Logger().With().Str("a", "b").Logger().Info("event")
		},
			[]error{plain}, []string{"log_test.logs"}},
		"joined": {func(l *log.Logger) log.Event { return l.Info("event").Stack() },
			[]error{errors.Join(plain, failsWithStack())}, []string{"log_test.logs", "log_test.failsWithStack"}},
		"asked too late": {func(l *log.Logger) log.Event { return l.Info("event").Err(plain).Stack() },
			[]error{plain}, []string{"", "log_test.logs"}},
		"asked inside of an object": {func(l *log.Logger) log.Event {
			return l.Info("event").Object("o", func(e log.Event) { e.Stack() })
		}, []error{plain}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			var w lineWriter
			logs(c.start(log.New(&w, log.Options{})), c.errs...)
			if got := stacksOf(t, w.lines[0]); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("innermost functions %q, want %q", got, c.want)
			}
		})
	}
}

// TestStackEndsWithItsEvent checks that the next event, which may reuse the
// state of the first, adds no stack.
func TestStackEndsWithItsEvent(t *testing.T) {
	var w lineWriter
	logger := log.New(&w, log.Options{})
	for range 20 {
		logs(logger.Info("event").Stack(), errRefused)
		logs(logger.Info("event"), errRefused)
	}
	for i, line := range w.lines {
		want := []string{"log_test.logs", ""}[i%2]
		if got := stacksOf(t, line); len(got) != 1 || got[0] != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
}

//go:noinline
func logsBySlog(l *slog.Logger) { l.Error("event", "err", errRefused) }

func TestStackThroughSlogBeginsAtTheCall(t *testing.T) {
	var w lineWriter
	logsBySlog(slog.New(log.New(&w, log.Options{}).With().Stack().Logger().Handler()))
	if got := stacksOf(t, w.lines[0]); len(got) != 1 || got[0] != "log_test.logsBySlog" {
		t.Errorf("innermost function %q, want the caller of slog", got)
	}
}
