package natssink_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/natssink"
	"github.com/weirhq/weir/log/stream"
)

// The stream has to exist: nats stream add LOGS --subjects 'logs.>' --defaults
func Example() {
	to, err := natssink.New("nats://127.0.0.1:4222/logs.shop")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out, err := stream.New(to, stream.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	logger := log.New(out, log.Options{Namespace: "shop"})
	logger.Info("order placed").Int("items", 3).Send()

	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := out.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
