package logr_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"

	gologr "github.com/go-logr/logr"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/logr"
	"github.com/weirhq/weir/log/logtest"
)

// pod is a value as in Kubernetes: its MarshalLog returns another type.
type pod struct{ name, token string }

func (p pod) MarshalLog() any {
	return struct {
		Name string `json:"name"`
	}{p.name}
}

type panics struct{}

func (panics) MarshalLog() any { panic("no such pod") }

// line returns the line of one call, from severity on.
func line(t *testing.T, o log.Options, call func(gologr.Logger)) string {
	t.Helper()
	var b bytes.Buffer
	call(logr.New(log.New(&b, o)))
	_, rest, ok := strings.Cut(b.String(), `,"severity":`)
	if !ok {
		return b.String()
	}
	return strings.TrimSuffix(rest, "}\n")
}

func TestCallsBecomeEvents(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(gologr.Logger)
		want string
	}{
		{"no values", func(l gologr.Logger) { l.Info("x") }, `3`},
		{"values", func(l gologr.Logger) { l.Info("x", "n", 1, "s", "a\x1b", "b", true) },
			`3,"data":{"n":1,"s":"a\u001b","b":true}`},
		{"more than fit a record", func(l gologr.Logger) {
			l.Info("x", "a", 1, "b", 2, "c", 3, "d", 4, "e", 5, "f", 6, "g", 7, "h", 8, "i", 9)
		},
			`3,"data":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9}`},
		{"V(0)", func(l gologr.Logger) { l.V(0).Info("x") }, `3`},
		{"V(1)", func(l gologr.Logger) { l.V(1).Info("x") }, `4`},
		{"V(9)", func(l gologr.Logger) { l.V(4).V(5).Info("x") }, `4`},
		{"error", func(l gologr.Logger) { l.V(7).Error(errors.New("gone"), "x", "n", 1) },
			`1,"data":{"n":1},"errors":[{"message":"gone"}]`},
		{"nil error", func(l gologr.Logger) { l.Error(nil, "x", "n", 1) }, `1,"data":{"n":1}`},
		{"error as a value", func(l gologr.Logger) { l.Info("x", "cause", errors.New("gone")) },
			`3,"data":{"cause":"gone"}`},
		{"values carried", func(l gologr.Logger) { l.WithValues("a", 1).WithValues("b", 2).Info("x", "c", 3) },
			`3,"data":{"a":1,"b":2,"c":3}`},
		{"no values carried", func(l gologr.Logger) { l.WithValues().Info("x") }, `3`},
		{"name", func(l gologr.Logger) { l.WithName("controller").Info("x", "n", 1) },
			`3,"data":{"logger":"controller","n":1}`},
		{"names", func(l gologr.Logger) { l.WithName("a").WithName("b").WithName("c").Info("x") },
			`3,"data":{"logger":"a/b/c"}`},
		{"names and values", func(l gologr.Logger) {
			l.WithValues("v", 1).WithName("a").WithValues("w", 2).WithName("b").Info("x", "n", 3)
		}, `3,"data":{"v":1,"w":2,"logger":"a/b","n":3}`},
		{"odd", func(l gologr.Logger) { l.Info("x", "a", 1, "b") }, `3,"data":{"a":1,"b":"<no-value>"}`},
		{"odd, carried", func(l gologr.Logger) { l.WithValues("a").Info("x", "b") },
			`3,"data":{"a":"<no-value>","b":"<no-value>"}`},
		{"keys that are none", func(l gologr.Logger) { l.Info("x", 7, 1, nil, 2, strings.NewReplacer, 3) }, ""},
		{"key that is none and long", func(l gologr.Logger) { l.Info("x", []string{"0123456789abcdefghi"}, 1) },
			`3,"data":{"<non-string-key: [0123456789abcde>":1}`},
		{"Marshaler", func(l gologr.Logger) { l.Info("x", "pod", pod{"web", "secret"}) },
			`3,"data":{"pod":{"name":"web"}}`},
		{"Marshaler, carried", func(l gologr.Logger) { l.WithValues("pod", pod{"web", "secret"}).Info("x") },
			`3,"data":{"pod":{"name":"web"}}`},
		{"Marshaler that panics", func(l gologr.Logger) { l.Info("x", "pod", panics{}, "n", 1) },
			`3,"data":{"pod":"!ERROR: panic: no such pod","n":1}`},
		{"nil Marshaler", func(l gologr.Logger) { l.Info("x", "pod", (*pod)(nil)) }, ""},
		{"redacted", func(l gologr.Logger) { l.WithValues("Token", pod{"a", "b"}).Info("x", "token", "c", "token") },
			`3,"data":{"Token":"[redacted]","token":"[redacted]","token":"[redacted]"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := line(t, log.Options{Level: log.LevelDebug, Redact: []string{"token"}}, c.call)
			if c.want == "" { // the content is free, but there must be one event
				if !json.Valid([]byte(`{"severity":` + got + "}")) {
					t.Errorf("got %s", got)
				}
			} else if got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestLevelOfLoggerEnablesCalls(t *testing.T) {
	for _, c := range []struct {
		level               log.Level
		debug, info, errors bool
	}{
		{log.LevelDebug, true, true, true},
		{log.LevelInfo, false, true, true},
		{log.LevelWarn, false, false, true},
		{log.LevelError, false, false, true},
		{log.LevelFatal, false, false, false},
	} {
		writes := func(call func(gologr.Logger)) bool { return line(t, log.Options{Level: c.level}, call) != "" }
		debug := writes(func(l gologr.Logger) { l.V(1).Info("x") })
		info := writes(func(l gologr.Logger) { l.Info("x") })
		errs := writes(func(l gologr.Logger) { l.V(9).Error(nil, "x") })
		if debug != c.debug || info != c.info || errs != c.errors {
			t.Errorf("%v: debug %v, info %v, errors %v", c.level, debug, info, errs)
		}
	}
}

func TestNilLoggerDiscards(t *testing.T) {
	l := logr.New(nil).WithName("a").WithValues("b", 1)
	l.Info("x")
	l.Error(errors.New("gone"), "x")
	if l.Enabled() {
		t.Error("enabled")
	}
}

func TestCallerIsThePlaceOfTheCall(t *testing.T) {
	events := logtest.NewEvents(t)
	l := logr.New(log.New(events, log.Options{Level: log.LevelDebug}).With().Caller().Logger())
	helper := func() { l.WithCallDepth(1).Info("of a helper") }
	marked := func() {
		mark, l := l.WithCallStackHelper()
		mark()
		l.Info("of a marked helper")
	}
	_, file, here, _ := runtime.Caller(0)
	l.Info("direct")
	l.V(1).WithName("a").WithValues("b", 1).Info("derived")
	l.Error(nil, "of Error")
	helper()
	marked()
	slog.New(gologr.ToSlogHandler(l)).Info("of slog")
	for i, name := range []string{"direct", "derived", "of Error", "of a helper", "of a marked helper", "of slog"} {
		want := fmt.Sprintf("%s/%s:%d", filepath.Base(filepath.Dir(file)), filepath.Base(file), here+1+i)
		if got := events.One(name).Value("caller"); got != want {
			t.Errorf("%s: caller %v, want %s", name, got, want)
		}
	}
}

// TestSinkPassesSlogtest runs the tests that logr runs on its own sinks.
func TestSinkPassesSlogtest(t *testing.T) {
	var b bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b.Reset()
		return gologr.ToSlogHandler(logr.New(log.New(&b, log.Options{})))
	}, func(t *testing.T) map[string]any {
		var event map[string]any
		if err := json.Unmarshal(b.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		record := map[string]any{slog.MessageKey: event["event"], slog.LevelKey: event["severity"]}
		if !strings.HasSuffix(t.Name(), "zero-time") { // every event has a time
			record[slog.TimeKey] = event["created_at"]
		}
		if data, ok := event["data"].(map[string]any); ok {
			for key, value := range data {
				record[key] = value
			}
		}
		return record
	})
}

func TestGoroutinesMayShareLogger(t *testing.T) {
	logger, events := logtest.New(t)
	shared := logr.New(logger).WithName("shared").WithValues("carried", "all")
	const goroutines, each = 8, 100
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			mine := shared.WithName("own").WithValues("goroutine", g)
			for i := range each {
				mine.Info("x", "i", i)
				shared.V(1).Info("y")
			}
		})
	}
	wg.Wait()
	next := map[any]int64{}
	for _, e := range events.Named("x") {
		g := e.Value("goroutine")
		if e.Value("logger") != "shared/own" || e.Value("carried") != "all" || e.Value("i") != next[g] {
			t.Fatalf("after %d of goroutine %v: %v", next[g], g, e.Data)
		}
		next[g]++
	}
	if x, y := len(events.Named("x")), len(events.Named("y")); x != goroutines*each || y != x {
		t.Errorf("%d and %d events, want %d", x, y, goroutines*each)
	}
}
