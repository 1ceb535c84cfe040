package log_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
)

// place returns the place where it was called, in the form of the field
// "caller".
func place() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s/%s:%d", path.Base(filepath.ToSlash(filepath.Dir(file))), path.Base(file), line)
}

// Each call below also logs the expected place, as the field "want".
func TestCallerIsThePlaceOfTheCall(t *testing.T) {
	ctx := context.Background()
	for _, format := range formats[:3] {
		var w lineWriter
		plain := log.New(&w, log.Options{Format: format, Level: log.LevelDebug})
		l := plain.With().Caller().Logger()
		derived := l.With().Str("a", "b").TraceID("t").Logger()
		std := slog.New(l.Handler())
		for name, call := range map[string]func(){
			"Debug":   func() { l.Debug("event").Str("want", place()).Send() },
			"Info":    func() { l.Info("event").Str("want", place()).Send() },
			"Warn":    func() { l.Warn("event").Str("want", place()).Send() },
			"Error":   func() { l.Error("event").Str("want", place()).Send() },
			"Fatal":   func() { l.Fatal("event").Str("want", place()).Send() },
			"Log":     func() { l.Log(log.LevelWarn, "event").Str("want", place()).Send() },
			"derived": func() { derived.Info("event").Str("want", place()).Send() },
			"in an object": func() {
				plain.With().Object("o", func(e log.Event) { e.Caller() }).Logger()
				plain.Info("event").Caller().Str("want", place()).Send()
			},
			"on demand": func() { plain.Info("event").Caller().Str("want", place()).Send() },
			"in between": func() {
				plain.Info("event").HTTP(&aRequest).Caller().Str("want", place()).Err(errRefused).
					Send()
			},
			"inlined":     func() { inlined(plain) },
			"twice":       func() { twiceInlined(l) },
			"deferred":    func() { defer l.Info("event").Str("want", place()).Send() },
			"method":      func() { info := l.Info; info("event").Str("want", place()).Send() },
			"slog":        func() { std.Info("event", "want", place()) },
			"slog attrs":  func() { std.LogAttrs(ctx, slog.LevelError, "event", slog.String("want", place())) },
			"slog with":   func() { std.With("a", "b").Warn("event", "want", place()) },
			"slog errors": func() { std.With("err", errRefused).Warn("event", "want", place()) },
		} {
			t.Run(fmt.Sprint(format, " ", name), func(t *testing.T) {
				w.lines = nil
				call()
				got, want := valuesOf(t, w.lines[0], format, "caller"), valuesOf(t, w.lines[0], format, "want")
				if len(got) != 1 || got[0] != want[0] || !strings.HasPrefix(got[0], "log/caller_test.go:") {
					t.Errorf("caller %q, want %q", got, want)
				}
			})
		}
	}
}

// The compiler may inline these.
func inlined(l *log.Logger)      { l.Info("event").Caller().Str("want", place()).Send() }
func evenThis(l *log.Logger)     { l.Warn("event").Str("want", place()).Send() }
func twiceInlined(l *log.Logger) { evenThis(l) }

// valuesOf returns the values of all fields of a line with the given key.
func valuesOf(t *testing.T, line string, format log.Format, key string) (values []string) {
	t.Helper()
	if format == log.FormatLTSV {
		for _, p := range pairsOf(t, line) {
			if p.label == key {
				values = append(values, p.value)
			}
		}
		return values
	}
	for range strings.Count(line, `"`+key+`":`) {
		values = append(values, dataOf(t, line)[key].(string))
	}
	return values
}

// TestCallerIsAddedOnlyIfRequested checks loggers derived from the same one as a logger
// with callers, and slog records without a place.
func TestCallerIsAddedOnlyIfRequested(t *testing.T) {
	var w bytes.Buffer
	plain := log.New(&w, log.Options{})
	with := plain.With().Caller().Logger()
	plain.Info("event").Send()
	plain.With().Str("a", "b").Logger().Info("event").Send()
	slog.New(plain.Handler()).Info("event")
	if err := with.Handler().Handle(context.Background(),
		slog.NewRecord(instant, slog.LevelInfo, "event", 0)); err != nil {
		t.Error(err)
	}
	with.Debug("event").Caller().Send()
	if strings.Contains(w.String(), "caller") {
		t.Errorf("unexpected caller: %s", w.String())
	}
}

func TestCallerCanBeRedacted(t *testing.T) {
	line := lineWith(t, log.Options{Redact: []string{"Caller"}}, func(e log.Event) log.Event { return e.Caller() })
	if got := dataOf(t, line)["caller"]; got != "[redacted]" {
		t.Errorf("caller %v, want it redacted", got)
	}
}
