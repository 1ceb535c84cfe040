package front

import (
	"github.com/weirhq/weir/limit/lease"
)

// Engines connect a front door to the servers of other projects that a configuration names.
// This package does not import their clients. The zero value has none: then a configuration
// that names such a server is an error.
type Engines struct {
	// Limits returns the store of shared limits with a URL that the configuration has. It does
	// not wait for the server.
	Limits func(url string) (lease.Store, error)
}
