package proxy

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirhq/weir/internal/http1"
)

// DefaultMaxFields limits the fields of a response if its Upstream sets no
// other limit.
const DefaultMaxFields = http1.DefaultMaxFields

// An Upstream is a service that consists of one server, or of several
// equivalent ones that are used in turn. It is safe for concurrent use. The
// zero value has no server and responds to every request with 502.
type Upstream struct {
	// ConnectRetry limits the time in which an exchange retries to connect if
	// no server accepts a connection. The pauses between the attempts grow.
	// Nothing was sent yet, so this is safe with any method. 0 means no retry.
	// It must be set before the first request.
	ConnectRetry time.Duration

	// MaxFields limits the fields in the head of a response, and those in its
	// trailers. A response with more is malformed. 0 means DefaultMaxFields. It
	// must be set before the first request.
	MaxFields int

	name    string
	servers []*Server
	turn    atomic.Uint64
	waiting atomic.Int64 // exchanges that wait for a connection
}

// NewUpstream returns an upstream of the servers at the given URLs, each
// http://host:port. It does not connect to them before the first request.
func NewUpstream(name string, urls ...string) (*Upstream, error) {
	if len(urls) == 0 {
		return nil, fmt.Errorf("upstream %s has no server", name)
	}
	u := &Upstream{name: name}
	for _, raw := range urls {
		s, err := newServer(raw)
		if err != nil {
			return nil, fmt.Errorf("upstream %s: %w", name, err)
		}
		u.servers = append(u.servers, s)
	}
	return u, nil
}

// Name returns the name given to NewUpstream.
func (u *Upstream) Name() string { return u.name }

// Servers returns the servers in the order given to NewUpstream. The caller
// must not change the slice.
func (u *Upstream) Servers() []*Server { return u.servers }

// Share counts the connections of u in c. It must be called once, before the
// first request.
func (u *Upstream) Share(c *Conns) {
	for _, s := range u.servers {
		s.shared = c
		c.add(&s.pools)
	}
}

// Close closes the unused connections now, and the others after their
// exchanges.
func (u *Upstream) Close() {
	for _, s := range u.servers {
		s.close()
	}
}
