package log_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
)

func TestFromIsTheLoggerOfInto(t *testing.T) {
	logger := log.New(nil, log.Options{})
	request := logger.With().TraceID("t").Logger()
	ctx := log.Into(context.Background(), logger)
	inner, cancel := context.WithCancel(log.Into(ctx, request))
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		want *log.Logger
	}{
		"given":       {ctx, logger},
		"given again": {inner, request},
		"earlier ids": {ctx, logger},
		"derived":     {context.WithoutCancel(ctx), logger},
		"without":     {context.Background(), nil},
		"given nil":   {log.Into(ctx, nil), nil},
	} {
		if got := log.From(c.ctx); got != c.want {
			t.Errorf("%s: got %p, want %p", name, got, c.want)
		}
	}
}

func TestFromWithoutALoggerDiscards(t *testing.T) {
	logger := log.From(context.Background())
	logger.Fatal("event").Str("a", "b").Send()
	if logger.Enabled(log.LevelFatal) {
		t.Error("enabled, with nowhere to write to")
	}
}

func TestFromReturnsTheDefault(t *testing.T) {
	defer log.SetDefault(nil)
	var w lineWriter
	logger := log.New(&w, log.Options{})
	log.SetDefault(logger)
	request := logger.With().TraceID("t").Logger()
	for name, c := range map[string]struct {
		ctx  context.Context
		want *log.Logger
	}{
		"without a logger": {context.Background(), logger},
		"with one":         {log.Into(context.Background(), request), request},
		"with nil":         {log.Into(context.Background(), nil), nil},
	} {
		if got := log.From(c.ctx); got != c.want {
			t.Errorf("%s: got %p, want %p", name, got, c.want)
		}
	}
	log.SetDefault(nil)
	if got := log.From(context.Background()); got != nil {
		t.Errorf("after SetDefault(nil): got %p, want nil", got)
	}
}

type tenantKey struct{}

// addTenant is used as Options.Context.
func addTenant(ctx context.Context, e log.Event) {
	if tenant, ok := ctx.Value(tenantKey{}).(string); ok {
		e.TraceID("trace of "+tenant).Str("tenant", tenant)
	}
}

// A broken context panics in Value.
type broken struct{ context.Context }

func (broken) Value(any) any { panic("no values") }

func TestContextAddsIDsToEvents(t *testing.T) {
	plain := log.New(io.Discard, log.Options{Format: log.FormatLTSV})
	request := plain.With().TraceID("trace \t1").SpanID("span 1").Str("not", "taken").Logger()
	inRequest := log.Into(context.Background(), request)
	derived := log.Into(context.Background(), request.With().Str("a", "b").Logger())
	ofTenant := context.WithValue(inRequest, tenantKey{}, "ons")
	const ids, tenantIDs = `,"trace_id":"trace \t1","span_id":"span 1","severity":3`,
		`,"trace_id":"trace of ons","span_id":"span 1","severity":3`
	for name, c := range map[string]struct {
		ctx  context.Context
		want string
	}{
		"without values":      {context.TODO(), `,"severity":3,"data":{"n":1}`},
		"background":          {context.Background(), `,"severity":3,"data":{"n":1}`},
		"nil":                 {nil, `,"severity":3,"data":{"n":1}`},
		"of a request":        {inRequest, ids + `,"data":{"n":1}`},
		"of a derived logger": {derived, ids + `,"data":{"n":1}`},
		"of the hook":         {ofTenant, tenantIDs + `,"data":{"tenant":"ons","n":1}`},
		"of the hook only": {context.WithValue(context.Background(), tenantKey{}, "ons"),
			`,"trace_id":"trace of ons","severity":3,"data":{"tenant":"ons","n":1}`},
		"of a discarding one": {log.Into(context.Background(), nil), `,"severity":3,"data":{"n":1}`},
		"that panics": {broken{context.Background()},
			`,"severity":3,"data":{"context":"!ERROR: panic: no values","n":1}`},
	} {
		var w lineWriter
		logger := log.New(&w, log.Options{Namespace: "test", Context: addTenant})
		logger.Info("event").At(instant).Context(c.ctx).Int("n", 1).Send()
		logger.With().Context(c.ctx).Logger().Info("event").At(instant).Int("n", 1).Send()
		r := slog.NewRecord(instant, slog.LevelInfo, "event", 0)
		r.AddAttrs(slog.Int("n", 1))
		if err := logger.Handler().Handle(c.ctx, r); err != nil {
			t.Error(err)
		}
		for i, by := range []string{"Event.Context", "With", "Handler"} {
			if want := prefix + c.want + "}\n"; w.lines[i] != want {
				t.Errorf("context %s, %s:\ngot  %swant %s", name, by, w.lines[i], want)
			}
		}
	}
}

// TestContextComesLast checks that the ids of a context replace those of the
// logger.
func TestContextComesLast(t *testing.T) {
	var w lineWriter
	job := log.New(&w, log.Options{}).With().TraceID("job").SpanID("step").Logger()
	request := log.New(io.Discard, log.Options{}).With().TraceID("request").Logger()
	slog.New(job.Handler()).With("a", "b").InfoContext(log.Into(context.Background(), request), "event")
	want := `"trace_id":"request","span_id":"step","severity":3,"data":{"a":"b"}`
	if !strings.Contains(w.lines[0], want) {
		t.Errorf("got %s, want %s in it", w.lines[0], want)
	}
}

func TestContextAddsIDsToObjects(t *testing.T) {
	request := log.New(io.Discard, log.Options{}).With().TraceID("t").Logger()
	line := lineOf(t, func(e log.Event) log.Event {
		return e.Object("parent", func(e log.Event) { e.Context(log.Into(context.Background(), request)) })
	})
	if want := prefix + `,"severity":3,"data":{"parent":{"trace_id":"t"}}}` + "\n"; line != want {
		t.Errorf("got  %swant %s", line, want)
	}
}

func TestLoggerReturnsItsTraceID(t *testing.T) {
	logger := log.New(io.Discard, log.Options{MaxEventBytes: 512})
	first := logger.With().TraceID("first").SpanID("s").Logger()
	for name, c := range map[string]struct {
		logger *log.Logger
		want   string
	}{
		"nil":       {nil, ""},
		"without":   {logger, ""},
		"with":      {first, "first"},
		"derived":   {first.With().Str("a", "b").Logger(), "first"},
		"replaced":  {first.With().TraceID("second").Logger(), "second"},
		"escaped":   {logger.With().TraceID("a\"\x1b").Logger(), "a\"\x1b"},
		"too long":  {logger.With().TraceID(strings.Repeat("x", 10000)).Logger(), strings.Repeat("x", 512)},
		"unrelated": {logger.With().Str("a", "b").Logger(), ""},
	} {
		if got := c.logger.TraceID(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
