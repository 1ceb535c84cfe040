package log_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/weirhq/weir/log"
)

// TestHandlerPassesSlogtest passes the events to slogtest as the records that it expects.
// The format has no event without a time: a record without one gets the time of
// the call.
func TestHandlerPassesSlogtest(t *testing.T) {
	var w lineWriter
	slogtest.Run(t, func(*testing.T) slog.Handler {
		w.lines = nil
		return log.New(&w, log.Options{}).Handler()
	}, func(t *testing.T) map[string]any {
		var event map[string]any
		if err := json.Unmarshal([]byte(w.lines[0]), &event); err != nil {
			t.Fatal(err)
		}
		record := map[string]any{
			slog.MessageKey: event["event"],
			slog.LevelKey:   event["severity"],
			slog.TimeKey:    event["created_at"],
		}
		if strings.HasSuffix(t.Name(), "zero-time") {
			at, err := time.Parse(time.RFC3339Nano, event["created_at"].(string))
			if since := time.Since(at); err != nil || since < -time.Second || since > time.Minute {
				t.Errorf("created_at of a record without a time is %v (%v)", at, err)
			}
			delete(record, slog.TimeKey)
		}
		if data, ok := event["data"].(map[string]any); ok {
			for key, value := range data {
				record[key] = value
			}
		}
		return record
	})
}

// slogLine returns the line of one call on a logger with a Handler.
func slogLine(t *testing.T, o log.Options, call func(*slog.Logger)) string {
	t.Helper()
	var w lineWriter
	o.OnError = func(err error) { t.Error(err) }
	call(slog.New(log.New(&w, o).Handler()))
	if len(w.lines) != 1 {
		t.Fatalf("%d lines, want 1: %q", len(w.lines), w.lines)
	}
	return w.lines[0]
}

// afterHead returns the part after created_at, namespace and event.
func afterHead(t *testing.T, line, head string) string {
	t.Helper()
	_, rest, ok := strings.Cut(line, head)
	if !ok {
		t.Fatalf("%q is not in %q", head, line)
	}
	return rest
}

func TestHandlerWritesSlogRecords(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		call       func(*slog.Logger)
		json, ltsv string
	}{
		"kinds": {
			func(l *slog.Logger) {
				l.Info("event", "s", "a b", "i", -1, "u", uint64(1<<63), "f", 0.5, "b", true, "d", time.Second, "t",
					instant, "n", nil)
			},
			`,"severity":3,"data":{"s":"a b","i":-1,"u":9223372036854775808,"f":0.5,"b":true,"d":1000000000` +
				`,"t":"2026-11-21T02:06:14.123456Z","n":null}}`,
			"\ts:a b\ti:-1\tu:9223372036854775808\tf:0.5\tb:true\td:1000000000\tt:2026-11-21T02:06:14.123456Z\tn:null",
		},
		"levels": {
			func(l *slog.Logger) { l.Log(ctx, slog.LevelError+4, "event") },
			`,"severity":0}`,
			"",
		},
		"error": {
			func(l *slog.Logger) { l.Error("event", "err", errRefused, "cause", errors.New("x")) },
			`,"severity":1,"data":{"cause":"x"},"errors":[{"message":"` + errRefused.Error() + `"}]}`,
			"\tcause:x\terr:" + errRefused.Error(),
		},
		"error in a group": {
			func(l *slog.Logger) { l.WithGroup("g").Error("event", "err", errRefused) },
			`,"severity":1,"data":{"g":{"err":"` + errRefused.Error() + `"}}}`,
			"\tg.err:" + errRefused.Error(),
		},
		"groups": {
			func(l *slog.Logger) {
				l.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h").Info("event", "c", 3, slog.Group("i", "d", 4))
			},
			`,"severity":3,"data":{"a":1,"g":{"b":2,"h":{"c":3,"i":{"d":4}}}}}`,
			"\ta:1\tg.b:2\tg.h.c:3\tg.h.i.d:4",
		},
		"groups without members": {
			func(l *slog.Logger) {
				l.WithGroup("g").With(slog.Group("e")).Info("event", slog.Group("h", slog.Group("i")), slog.Attr{})
			},
			`,"severity":3}`,
			"",
		},
		"a redacted group": {
			func(l *slog.Logger) {
				l.WithGroup("secret").With("a", "canary").WithGroup("g").Info("event", "b", "canary")
			},
			`,"severity":3,"data":{"secret":"[redacted]"}}`,
			"\tsecret:[redacted]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := log.Options{Namespace: "test", Redact: []string{"secret"}}
			got := afterHead(t, slogLine(t, o, c.call), `,"namespace":"test","event":"event"`)
			if got != c.json+"\n" {
				t.Errorf("JSON:\ngot  %swant %s", got, c.json)
			}
			o.Format = log.FormatLTSV
			got = afterHead(t, slogLine(t, o, c.call), "\tnamespace:test\tevent:event")
			if got != c.ltsv+"\n" {
				t.Errorf("LTSV:\ngot  %qwant %q", got, c.ltsv)
			}
		})
	}
}

var placeInThisFile = regexp.MustCompile(`slog_test\.go:\d+`)

// TestContextAndCallerAreOutsideOfGroups opens groups with an attribute before the record, in it and in neither.
func TestContextAndCallerAreOutsideOfGroups(t *testing.T) {
	ctx := context.WithValue(context.Background(), tenantKey{}, "ons")
	const own, ownLTSV = `"tenant":"ons","caller":"log/here"`, "\ttenant:ons\tcaller:log/here"
	for name, c := range map[string]struct {
		call       func(*slog.Logger)
		json, ltsv string
	}{
		"in the record": {func(l *slog.Logger) { l.WithGroup("g").InfoContext(ctx, "event", "a", 1) },
			own + `,"g":{"a":1}`, ownLTSV + "\tg.a:1"},
		"before": {func(l *slog.Logger) { l.WithGroup("g").With("a", 1).InfoContext(ctx, "event") },
			own + `,"g":{"a":1}`, ownLTSV + "\tg.a:1"},
		"both": {
			func(l *slog.Logger) { l.WithGroup("g").With("a", 1).With("b", 2).InfoContext(ctx, "event", "c", 3) },
			own + `,"g":{"a":1,"b":2,"c":3}`, ownLTSV + "\tg.a:1\tg.b:2\tg.c:3"},
		"one before, one in the record": {
			func(l *slog.Logger) { l.WithGroup("g").With("a", 1).WithGroup("h").InfoContext(ctx, "event", "b", 2) },
			own + `,"g":{"a":1,"h":{"b":2}}`, ownLTSV + "\tg.a:1\tg.h.b:2"},
		"two before, after an attribute": {
			func(l *slog.Logger) {
				l.With("z", 0).WithGroup("g").With("a", 1).WithGroup("h").With("b", 2).InfoContext(ctx, "event", "c", 3)
			},
			`"z":0,` + own + `,"g":{"a":1,"h":{"b":2,"c":3}}`, "\tz:0" + ownLTSV + "\tg.a:1\tg.h.b:2\tg.h.c:3"},
		"neither": {func(l *slog.Logger) { l.WithGroup("g").InfoContext(ctx, "event") }, own, ownLTSV},
		"neither, in another group": {
			func(l *slog.Logger) { l.WithGroup("g").With("a", 1).WithGroup("h").InfoContext(ctx, "event") },
			own + `,"g":{"a":1}`, ownLTSV + "\tg.a:1"},
		"redacted": {
			func(l *slog.Logger) {
				l.WithGroup("g").WithGroup("secret").With("a", "canary").InfoContext(ctx, "event", "b", "canary")
			},
			own + `,"g":{"secret":"[redacted]"}`, ownLTSV + "\tg.secret:[redacted]"},
		"shared by two loggers": {
			func(l *slog.Logger) {
				shared := l.WithGroup("g").With("a", 1)
				shared.With("b", 2)
				shared.InfoContext(ctx, "event", "c", 3)
			},
			own + `,"g":{"a":1,"c":3}`, ownLTSV + "\tg.a:1\tg.c:3"},
	} {
		for format, want := range map[log.Format]string{
			log.FormatJSON: `,"trace_id":"trace of ons","severity":3,"data":{` + c.json + "}}\n",
			log.FormatLTSV: "\ttrace_id:trace of ons" + c.ltsv + "\n",
		} {
			var w lineWriter
			logger := log.New(&w, log.Options{Format: format, Context: addTenant, Redact: []string{"secret"}})
			c.call(slog.New(logger.With().Caller().Logger().Handler()))
			if line := placeInThisFile.ReplaceAllString(w.lines[0], "here"); !strings.HasSuffix(line, want) {
				t.Errorf("%s, %v:\ngot  %qwant %q", name, format, line, want)
			}
		}
	}
}

// An unsteady value is empty each second time.
type unsteady struct{ looks *int }

func (u unsteady) LogValue() slog.Value {
	*u.looks++
	if *u.looks%2 == 0 {
		return slog.GroupValue()
	}
	return slog.GroupValue(slog.Int("a", 1))
}

func TestUnsteadyLogValuerLeavesLineValid(t *testing.T) {
	for range 2 {
		looks := 0
		line := slogLine(t, log.Options{}, func(l *slog.Logger) {
			u := unsteady{&looks}
			l.WithGroup("g").With("u", u).WithGroup("h").Info("event", "u", u, slog.Group("i", "u", u))
		})
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

// An endlessGroup is a group that contains itself.
type endlessGroup struct{}

func (g endlessGroup) LogValue() slog.Value { return slog.GroupValue(slog.Any("g", g)) }

func TestEndlessGroupEnds(t *testing.T) {
	for _, o := range []log.Options{{}, {Format: log.FormatLTSV}} {
		line := slogLine(t, o, func(l *slog.Logger) { l.With("a", endlessGroup{}).Info("event", "b", endlessGroup{}) })
		if !strings.Contains(line, "!ERROR: nested too deeply") {
			t.Errorf("no error text for the depth: %s", line)
		}
	}
}

func TestDisabledLoggersHandleNothing(t *testing.T) {
	var nobody *log.Logger
	slog.New(nobody.Handler()).With("a", 1).WithGroup("g").Error("event", "b", 2)
	var w lineWriter
	level := new(log.LevelVar)
	level.Set(log.LevelError)
	logger := slog.New(log.New(&w, log.Options{Level: level}).Handler())
	logger.Warn("event")
	level.Set(log.LevelDebug)
	logger.Debug("event")
	if len(w.lines) != 1 {
		t.Errorf("%d lines, want 1", len(w.lines))
	}
}

func BenchmarkSlog(b *testing.B) {
	ctx := context.Background()
	for name, h := range map[string]slog.Handler{
		"weir":        log.New(io.Discard, log.Options{}).Handler(),
		"JSONHandler": slog.NewJSONHandler(io.Discard, nil),
	} {
		logger := slog.New(h)
		with := logger.With("a", 1, "b", "two", "c", 3.5, "d", true, "e", time.Second)
		b.Run("five/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				logger.LogAttrs(ctx, slog.LevelInfo, "event", slog.Int("a", 1), slog.String("b", "two"),
					slog.Float64("c", 3.5), slog.Bool("d", true), slog.Duration("e", time.Second))
			}
		})
		b.Run("carried/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				with.LogAttrs(ctx, slog.LevelInfo, "event", slog.Int("f", 1))
			}
		})
	}
}

// A forest is a group that contains itself twice.
type forest struct{}

func (f forest) LogValue() slog.Value { return slog.GroupValue(slog.Any("a", f), slog.Any("b", f)) }

func TestForestOfGroupsEnds(t *testing.T) {
	for name, call := range map[string]func(*slog.Logger){
		"attribute":      func(l *slog.Logger) { l.Info("x", "f", forest{}) },
		"behind a group": func(l *slog.Logger) { l.WithGroup("g").Info("x", "f", forest{}) },
		"of the logger":  func(l *slog.Logger) { l.With("f", forest{}).Info("x") },
	} {
		t.Run(name, func(t *testing.T) {
			if line := slogLine(t, log.Options{}, call); !strings.Contains(line, "!ERROR: nested too deeply") {
				t.Errorf("got %.400s", line)
			}
		})
	}
}
