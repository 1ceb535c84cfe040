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
