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

// Without a logger in the context, events go nowhere.
func ExampleFrom() {
	log.From(context.Background()).Info("not written").Send()
	// Output:
}
