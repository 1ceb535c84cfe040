package proxy

import (
	"fmt"
	"time"

	"github.com/weirhq/weir/internal/proxying"
)

// An Upstream is a service that consists of one server, or of several equivalent ones. NewUpstream
// makes it. It is safe for concurrent use.
type Upstream struct {
	inner               *proxying.Upstream
	timeout, tryTimeout time.Duration
}

// NewUpstream returns an upstream. The name identifies it in errors and in the cookies of Sticky.
// It does not connect to its servers before the first request. An error names the option that is
// wrong.
func NewUpstream(name string, options Options) (*Upstream, error) {
	o, err := options.inner()
	if err != nil {
		return nil, fmt.Errorf("upstream %s: %w", name, err)
	}
	up, err := proxying.NewUpstream(name, o)
	if err != nil {
		return nil, err
	}
	return &Upstream{up, options.Timeout, options.Retry.TryTimeout}, nil
}

// SetServers replaces the servers. A server with the same URL and Addr as before keeps its
// connections and its state. Requests that use one of the others continue. After an error,
// nothing has changed.
func (u *Upstream) SetServers(servers []Server) error { return u.inner.SetServers(endpoints(servers)) }

// Close closes the unused connections now, and the others after their requests.
func (u *Upstream) Close() { u.inner.Close() }
