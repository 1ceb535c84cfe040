package log_test

import (
	"context"
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
		"given":            {ctx, logger},
		"given again":      {inner, request},
		"what came before": {ctx, logger},
		"derived":          {context.WithoutCancel(ctx), logger},
		"without":          {context.Background(), nil},
		"given nil":        {log.Into(ctx, nil), nil},
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
