package log_test

import (
	"context"
	"os"

	"github.com/weirhq/weir/log"
)

func ExampleInto() {
	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
	ctx := log.Into(context.Background(), logger.With().TraceID("abcdefghijklmnop").Logger())
	loadUser(ctx)
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"loading user","trace_id":"abcdefghijklmnop","severity":3}
}

func loadUser(ctx context.Context) {
	log.From(ctx).Info("loading user").At(noon).Send()
}

// Without a logger in the context, events are discarded until a default is set.
func ExampleSetDefault() {
	log.From(context.Background()).Info("not written").Send()
	log.SetDefault(log.New(os.Stdout, log.Options{Namespace: "front-door"}))
	defer log.SetDefault(nil) // restores the state for the other examples
	log.From(context.Background()).Info("ready").At(noon).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"ready","severity":3}
}
