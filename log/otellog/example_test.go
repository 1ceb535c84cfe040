package otellog_test

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/otellog"
)

func Example() {
	logger := log.New(os.Stdout, log.Options{Namespace: "shop", Context: otellog.Context})
	ctx := inSpan(context.Background(), serverSpan)

	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	logger.Info("order placed").At(noon).Context(ctx).Send()

	r := slog.NewRecord(noon, slog.LevelInfo, "by slog", 0) // slog.InfoContext takes the time of the call
	_ = logger.Handler().Handle(ctx, r)
	// Output:
	// {"created_at":"2026-11-22T12:00:00Z","namespace":"shop","event":"order placed","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","severity":3}
	// {"created_at":"2026-11-22T12:00:00Z","namespace":"shop","event":"by slog","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","severity":3}
}
