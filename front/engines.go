package front

import (
	"context"

	"github.com/weirhq/weir/limit/lease"
	"github.com/weirhq/weir/log/stream"
)

// Engines connect a front door to the servers of other projects that a configuration names.
// This package does not import their clients. The zero value has none: then a configuration
// that names such a server is an error.
type Engines struct {
	// Limits returns the store of shared limits with a URL that the configuration has. It does
	// not wait for the server.
	Limits func(url string) (lease.Store, error)

	// Servers returns a function that follows the list of servers with a URL that the configuration
	// has. Until ctx is done, it calls changed with the text of the list, at the start and after each
	// change, or with the reason why there is none, once for each reason. It does not wait for the
	// server.
	Servers func(url string) (func(ctx context.Context, changed func(text []byte, err error)), error)

	// Traces returns the client for the URL of traces.to, whose lines are spans, as that of otlpsink.NewSpans. It does not
	// wait for the server, and its errors contain no secrets of the URL.
	Traces func(url string) (stream.Destination, error)
}
