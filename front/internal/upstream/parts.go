package upstream

import (
	"context"

	"github.com/weirhq/weir/internal/proxying"
	"github.com/weirhq/weir/log"
)

// Parts are the parts that the upstreams of all configurations share.
type Parts struct {
	Conns   *proxying.Conns // all connections to upstreams
	Metrics *Metrics
	Logger  func() *log.Logger // of the configuration in use

	// Lists returns a function that follows the list of servers with a URL; see front.Engines. It may be nil.
	Lists func(url string) (func(ctx context.Context, changed func(text []byte, err error)), error)
}
