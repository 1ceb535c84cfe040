// Command door is a front door whose routes have a stage of its own.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/log/sink"
)

// keyed is a stage that admits requests with a key. The upstream does not get the key.
type keyed struct{ key string }

func (k keyed) Apply(x *stage.Exchange) (responded bool) {
	if stage.Only(x.Header, "X-Api-Key") != k.key {
		x.Refuse(401, "the request has no key of the API", stage.Field{Name: "WWW-Authenticate", Value: "ApiKey"})
		return true
	}
	x.SendRemove = stage.JoinNames(x.SendRemove, []string{"X-Api-Key"})
	return false
}

func (k keyed) Explain(x *stage.Exchange) (steps []string, ends bool) {
	return []string{"admits requests with a key of the API"}, stage.Only(x.Header, "X-Api-Key") != k.key
}

func main() {
	if err := run(os.Args[1], os.Getenv("API_KEY")); err != nil {
		fmt.Fprintln(os.Stderr, "door:", err)
		os.Exit(1)
	}
}

// run serves the configuration in a file until SIGTERM or Ctrl-C, and then drains.
func run(file, key string) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	cfg, err := config.Parse(file, src, os.LookupEnv)
	if err != nil {
		return err
	}
	for i := range cfg.Routes {
		cfg.Routes[i].Stages = append(cfg.Routes[i].Stages, keyed{key})
	}
	door, err := front.New(cfg, sink.NewDirect(os.Stdout))
	if err != nil {
		return err
	}
	if err := door.Listen(); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "door: serving", door.URLs()[0])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return door.Serve(ctx)
}
