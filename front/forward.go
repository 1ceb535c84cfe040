package front

import (
	"fmt"
	"time"
)

// forwarding forwards the requests of a route to an upstream.
type forwarding struct {
	timeout time.Duration
	upgrade []string
}

func (f *forwarding) forward(x *exchange, to *upstream) {
	x.Timeout, x.Upgrade = f.timeout, f.upgrade
	x.to = to
	to.proxy.Serve(&x.Exchange)
}

func upstreamOf(upstreams map[string]*upstream, name string) (*upstream, error) {
	if up := upstreams[name]; up != nil {
		return up, nil
	}
	return nil, fmt.Errorf("there is no upstream %q", name)
}
